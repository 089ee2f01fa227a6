package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"berth/internal/decision/record"
	"berth/internal/revision"
	"berth/internal/store"
	"berth/internal/store/rollup"
)

// backfillCmd fills in what earlier releases did not record.
type backfillCmd struct {
	Cluster     string `placeholder:"NAME" help:"Only this cluster's."`
	DataDir     string `default:"./data" placeholder:"DIR" help:"Directory of the embedded store, while no server has it open."`
	DatabaseURL string `env:"BERTH_DATABASE_URL,DATABASE_URL" placeholder:"URL" help:"Postgres instead of the embedded store, beside its servers, as a role that may change decisions."`
}

// Run fills in, a cluster after the other.
func (c *backfillCmd) Run(ctx context.Context, s streams) (err error) {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	set := &settings{DataDir: c.DataDir, DatabaseURL: c.DatabaseURL}
	conf, err := set.profiles()
	if err != nil {
		return err
	}
	deps, err := openDependencies(ctx, set, conf, nil, false, newLogger(s.err, "auto", "warn"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, deps.close(context.WithoutCancel(ctx))) }()
	unlock, err := alone(ctx, deps.store, "backfill")
	if err != nil {
		return err
	}
	defer unlock()
	heads, err := deps.store.SealHeads(ctx, c.Cluster)
	if err != nil {
		return err
	}
	if c.Cluster != "" && len(heads) == 0 {
		return fmt.Errorf("--cluster %s: nothing is stored of it", c.Cluster)
	}
	for i := range heads {
		if err := backfill(ctx, deps, heads[i].Cluster, s); err != nil {
			if ctx.Err() != nil {
				fmt.Fprintln(s.err, "interrupted: what is filled in stays; run it again to go on")
				return exitError(1)
			}
			return fmt.Errorf("cluster %s: %w", heads[i].Cluster, err)
		}
	}
	return nil
}

// backfill fills in what a cluster lacks, and tells how much it was.
func backfill(ctx context.Context, deps *dependencies, cluster string, s streams) error {
	f, err := deps.store.Fillable(ctx, cluster)
	if err != nil {
		return err
	}
	last := time.Now()
	told := func(what string) func(int64) {
		return func(n int64) {
			if time.Since(last) >= lineEvery {
				last = time.Now()
				fmt.Fprintf(s.err, "%s: %s %d\n", cluster, what, n)
			}
		}
	}
	var filled record.Filled
	records := deps.log.NewBackfill(f, &filled, told("purposes and attempts: records looked at:"))
	if err := records.Attribute(ctx); err != nil {
		return err
	}
	reached := told("what revisions changed: up to revision")
	objects, err := revision.Backfill(ctx, deps.store, f, reached)
	if err != nil {
		return err
	}
	records = deps.log.NewBackfill(f, &filled, told("facts of pods: records looked at:"))
	if err := records.Facts(ctx); err != nil {
		return err
	}
	if err := tellFilled(s.out, cluster, &filled, &objects); err != nil {
		return err
	}
	return rollUpAgain(ctx, deps.store, cluster, s)
}

// tellFilled writes what was filled in, and what cannot be told and why.
func tellFilled(w io.Writer, cluster string, f *record.Filled, o *revision.Filled) error {
	_, err := fmt.Fprintf(w, "%s: filled in: purposes %d, attempts %d, objects of revisions %d, "+
		"facts of pods %d\n", cluster, f.Purposes, f.Attempts, o.Revisions, f.Facts)
	for _, untold := range []struct {
		n   int64
		why string
	}{
		{f.NoPurpose, "purposes: the record does not say whether the decision was to bind"},
		{f.NoAttempt, "attempts: the call that began it may have been deleted for its age"},
		{f.Sealed, "purposes or attempts: the hash chain covers that the record has none"},
		{o.Removed, "objects of revisions: they were deleted for their age"},
		{o.Rootless, "objects of revisions: the revision before is gone, or one is damaged"},
		{f.NoFacts, "facts of pods: the record or its state cannot be read"},
	} {
		if untold.n > 0 && err == nil {
			_, err = fmt.Fprintf(w, "%s: not known: %d %s\n", cluster, untold.n, untold.why)
		}
	}
	return err
}

// rollUpAgain makes the roll-ups again, of which a part may have been made of what was before.
func rollUpAgain(ctx context.Context, st store.Store, cluster string, s streams) error {
	unlock, err := alone(ctx, st, rollup.Lock)
	if err != nil {
		return err
	}
	defer unlock()
	states, err := st.RollupStates(ctx)
	if err != nil {
		return err
	}
	for i := range states {
		if states[i].Cluster != cluster {
			continue
		}
		if states[i].Rebuilding > 0 { // which would only go on
			if _, err := rollUp(ctx, st, cluster, s.err); err != nil {
				return err
			}
		}
		return rebuild(ctx, st, cluster, s)
	}
	return nil // no decision is recorded
}
