//go:build linux

// Command torture runs real servers over a real Postgres, breaks both in every
// way it knows while clients ask, and then does the books: what clients were
// told, which they keep themselves, against what is stored. See
// test/README.md.
package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/alecthomas/kong"
)

type options struct {
	Seed      uint64        `help:"Where calls and faults come from; 0 picks one. It is printed."`
	Seeds     int           `default:"1" help:"How many seeds to run, each the one before plus one."`
	Scenario  string        `default:"random" enum:"random,rolling,upgrade,outages,disk,calm,books" help:"random: every fault, shuffled; rolling: restarts in turn; upgrade: the next program, which has one more migration, takes the place of this one server after server, and back, with faults between; outages: 5, 30 and 60 s without Postgres in three ways; disk: the spool's disk full and frozen; calm: none; books: a few, in 20 s."`
	Turns     int           `default:"20" help:"Restarts of the scenarios rolling and upgrade."`
	For       time.Duration `placeholder:"TIME" help:"Begin no fault after this time, and do the books."`
	Clients   int           `default:"8" help:"Callers, each one call at a time."`
	Platforms int           `default:"4" help:"Callers that place, hold and send again under a key, beside the others."`
	Replicas  int           `default:"2" help:"Servers on the one Postgres."`
	Rate      float64       `default:"250" help:"Calls a second that all clients together try; 0: as fast as they can."`
	Minute    time.Duration `default:"60s" help:"The long time without Postgres of the scenario random."`
	Recovery  time.Duration `default:"60s" help:"How long a fault may be felt after it was lifted."`
	Serving   float64       `default:"0.9" help:"Share of plain decisions and extender calls that must be answered while only Postgres is away; 0 asks for none."`
	next      string        // the program of the scenario upgrade
	Server    string        `placeholder:"PATH" help:"A server to run instead of building one."`
	Race      bool          `help:"Build the server with the race detector."`
	Overlay   string        `placeholder:"FILE" help:"Build overlay of the server, such as test/faults -overlay writes."`
	Dir       string        `placeholder:"DIR" help:"Where to work; a temporary directory, removed when all went well, unless told."`
}

func main() {
	var o options
	kong.Parse(&o, kong.Name("torture"), kong.Description("Break servers and Postgres while clients ask, then do the books."))
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "torture:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options) (err error) {
	if o.Seed == 0 {
		o.Seed = rand.Uint64N(1_000_000) + 1
	}
	kept := o.Dir != ""
	if !kept {
		if o.Dir, err = os.MkdirTemp("", "torture"); err != nil {
			return err
		}
	}
	if o.Dir, err = filepath.Abs(o.Dir); err != nil {
		return err
	}
	if o.Server == "" {
		if o.Server, err = build(ctx, o, "server"); err != nil {
			return err
		}
	}
	if o.Scenario == "upgrade" {
		if o.next, err = buildNext(ctx, o); err != nil {
			return err
		}
	}
	var failed []uint64
	for i := range o.Seeds {
		seed := o.Seed + uint64(i)
		dir := filepath.Join(o.Dir, fmt.Sprintf("seed-%d", seed))
		fmt.Printf("== seed %d, scenario %s; again with: go run ./test/torture --scenario %s --seed %d\n", seed, o.Scenario, o.Scenario, seed)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		r, err := torture(ctx, o, seed, dir)
		if err != nil {
			return fmt.Errorf("seed %d: %w (see %s)", seed, err, dir)
		}
		r.print(os.Stdout)
		if len(r.violations) > 0 {
			failed = append(failed, seed)
		}
	}
	if len(failed) > 0 {
		return fmt.Errorf("seeds %v found faults; logs are in %s", failed, o.Dir)
	}
	if !kept {
		return os.RemoveAll(o.Dir)
	}
	return nil
}

// build makes a server that is put to the torture.
func build(ctx context.Context, o options, name string) (string, error) {
	program := filepath.Join(o.Dir, name)
	args := []string{"build", "-o", program}
	if o.Race {
		args = append(args, "-race")
	}
	if o.Overlay != "" {
		args = append(args, "-overlay", o.Overlay)
	}
	if out, err := exec.CommandContext(ctx, "go", append(args, "berth/cmd/server")...).CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the server: %w\n%s", err, out)
	}
	return program, nil
}

// torture is one run: a place, clients, faults, and the books.
func torture(ctx context.Context, o options, seed uint64, dir string) (_ *report, err error) {
	p, err := newPlace(ctx, o, dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.close()) }()
	w := newWorld(p)
	if err := w.upload(ctx); err != nil {
		return nil, err
	}
	r := &report{seed: seed, began: time.Now()}
	clients, readers := startClients(ctx, w, o, seed), startFollowers(ctx, w, seed)
	for _, f := range plan(seed, o) {
		if ctx.Err() != nil || o.For > 0 && time.Since(r.began) > o.For || o.Scenario == "books" && len(r.violations) > 0 {
			break
		}
		r.inject(ctx, w, f, o)
	}
	pause(ctx, 3*time.Second)
	books := clients.stop()
	r.outwait(ctx, p)
	books.followers = readers.stop()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	r.tortured = time.Since(r.began)
	r.close(ctx, p, w, books, o)
	return r, nil
}

// pause waits unless ctx ends.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
