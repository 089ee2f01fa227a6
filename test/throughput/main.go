//go:build unix

// Command throughput sets durable, audited decisions against what the store
// itself takes in batches, in one run on one machine: the share is what counts,
// the figures are the machine's.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/alecthomas/kong"

	"berth/internal/memory"
	"berth/internal/store"
	"berth/internal/store/postgres"
	"berth/internal/store/spool"
	"berth/internal/store/sqlite"
	"berth/test/pgtest"
)

type options struct {
	Callers int           `default:"64" help:"Callers at once, and rows in a bare batch."`
	For     time.Duration `default:"3s" help:"How long each measurement takes."`
	Rounds  int           `default:"3" help:"Rounds, the candidates taking turns; the median counts."`
	Nodes   int           `default:"1523" help:"Nodes of the real cluster; openb has as many as the default."`
	Pods    int           `default:"6000" help:"Bound pods of the real cluster."`
	Binds   int64         `default:"10000" help:"Binds to replay where nothing else is measured."`
	Profile string        `placeholder:"FILE" help:"Write CPU profiles to files whose names begin so."`
	Only    string        `enum:"all,process,wire,bind,replay" default:"all" help:"process: the log without HTTP; wire: HTTP; bind: of it, binds over one connection; replay: batch replays of binds."`
	Store   string        `default:"both" enum:"both,sqlite,postgres" help:"sqlite, postgres or both."`
}

func main() {
	memory.RaiseGCPercent() // as a server does
	var o options
	kong.Parse(&o, kong.Name("throughput"), kong.Description("Durable audited decisions against the bare store, in one run."))
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "throughput:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options) error {
	dir, err := os.MkdirTemp("", "throughput")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if o.Store != "postgres" {
		if err := measure(ctx, o, &sqliteBench{dir: dir}); err != nil {
			return fmt.Errorf("sqlite: %w", err)
		}
	}
	if o.Store == "sqlite" {
		return nil
	}
	s, err := pgtest.Start(pgtest.Options{})
	if err != nil {
		return err
	}
	err = measure(ctx, o, &postgresBench{url: s.URL(), dir: filepath.Join(dir, "spool")})
	if stopErr := s.Stop(); err == nil {
		err = stopErr
	}
	if err != nil {
		return fmt.Errorf("postgres: %w", err)
	}
	return nil
}

// bench is a store to measure.
type bench interface {
	name() string
	// open opens berth's store over a migrated schema.
	open(ctx context.Context) (store.Store, error)
	// bare returns a function that writes so many copies of a record in one transaction, by the
	// driver alone, and one that closes what it writes to.
	bare(ctx context.Context) (write func(rows int) error, finish func() error, err error)
}

// measure prints a store's figures.
func measure(ctx context.Context, o options, b bench) error {
	st, err := b.open(ctx)
	if err != nil {
		return err
	}
	h, err := openSystem(ctx, o, st)
	if err != nil {
		return err
	}
	if o.Only == "all" || o.Only == "process" {
		if err := h.measure(ctx, o, b); err != nil {
			return err
		}
	}
	if o.Only != "process" {
		if err := h.wire(ctx, o, b); err != nil {
			return err
		}
	}
	return h.close(ctx)
}

// measure lets the candidates take turns.
func (h *system) measure(ctx context.Context, o options, b bench) error {
	var bare, wide, light, real, dry series
	for range o.Rounds {
		for _, c := range []struct {
			into *series
			get  func() (float64, error)
		}{
			{&light, func() (float64, error) { return h.durable(ctx, o, lightCluster) }},
			{&bare, func() (float64, error) { return bareRate(ctx, b, o.Callers, o.For) }},
			{&real, func() (float64, error) { return h.durable(ctx, o, realCluster) }},
			{&wide, func() (float64, error) { return bareRate(ctx, b, 256, o.For) }},
			{&dry, func() (float64, error) { return h.unrecorded(ctx, o, realCluster) }},
		} {
			if err := c.into.add(c.get); err != nil {
				return err
			}
		}
	}
	size, err := h.recordBytes(ctx)
	if err != nil {
		return err
	}
	fmt.Printf("\n%s, records of about %d bytes, median of %d rounds of %s; CPU is this process's alone\n", b.name(), size, o.Rounds, o.For)
	show := func(name string, s series) {
		fmt.Printf("  %-34s %8.0f/s  %3.0f %% of the bare rate  %4.0f us CPU each\n", name, s.rate(), 100*s.rate()/bare.rate(), s.cpu())
	}
	show(fmt.Sprintf("bare batches of %d", o.Callers), bare)
	show("bare batches of 256", wide)
	show(fmt.Sprintf("%d callers, 4 nodes", o.Callers), light)
	show(fmt.Sprintf("%d callers, %d nodes", o.Callers, o.Nodes), real)
	show("the latter without a record", dry)
	fmt.Printf("  %.1f records a batch\n", float64(h.records.Load())/float64(max(h.batches.Load(), 1)))
	return h.latencies(ctx, o)
}

type sqliteBench struct{ dir string }

func (*sqliteBench) name() string { return "SQLite" }

func (b *sqliteBench) open(ctx context.Context) (store.Store, error) {
	return sqlite.Open(ctx, filepath.Join(b.dir, "berth"), sqlite.Options{})
}

type postgresBench struct{ url, dir string }

func (*postgresBench) name() string { return "Postgres" }

func (b *postgresBench) open(ctx context.Context) (store.Store, error) {
	if err := postgres.MigrateUp(ctx, b.url, postgres.MigrateOptions{}); err != nil {
		return nil, err
	}
	st, err := postgres.Open(ctx, b.url, postgres.Options{})
	if err != nil {
		return nil, err
	}
	// As a server has it: the spool stands between, for the time without Postgres.
	dir, err := spool.Directory(b.dir)
	if err != nil {
		return nil, errors.Join(err, st.Close())
	}
	return spool.Open(st, dir, spool.Options{})
}
