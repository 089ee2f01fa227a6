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

	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"

	"berth/internal/store"
	"berth/internal/store/rollup"
)

// retainCmd deletes old records once. On Postgres it is for a role that may, beside servers whose
// role may not.
type retainCmd struct {
	DataDir       string `default:"./data" placeholder:"DIR" help:"Directory of the embedded store, while no server has it open."`
	DatabaseURL   string `env:"BERTH_DATABASE_URL,DATABASE_URL" placeholder:"URL" help:"Postgres instead of the embedded store."`
	KeepDecisions age    `placeholder:"AGE" help:"Delete decisions older than this, such as 90d or 2160h; without it all are kept."`
	KeepRevisions age    `placeholder:"AGE" help:"Delete superseded revisions older than this that no decision references; at least 1h; without it all are kept."`
}

// Run deletes what is too old.
func (r *retainCmd) Run(ctx context.Context, s streams) (err error) {
	if err := checkKeepRevisions(r.KeepRevisions); err != nil {
		return err
	}
	log := newLogger(s.err, "auto", "info")
	st, err := (backend{dir: r.DataDir, url: r.DatabaseURL}).open(ctx, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	keep := &settings{DatabaseURL: r.DatabaseURL, KeepDecisions: r.KeepDecisions, KeepRevisions: r.KeepRevisions}
	keeper, err := newKeeper(st, keep, noop.NewMeterProvider().Meter("berth"), log)
	if err != nil {
		return err
	}
	if !keeper.drop(ctx) {
		return errors.New("some records could not be deleted: see the lines above")
	}
	return nil
}

// checkKeepRevisions returns why revisions cannot be deleted at that age; 0 keeps all.
func checkKeepRevisions(a age) error {
	if a != 0 && time.Duration(a) < time.Hour {
		return errors.New("--keep-revisions must be at least 1h: decisions on their way to the store refer to revisions")
	}
	return nil
}

// rollupCmd looks after the sums of the log.
type rollupCmd struct {
	DataDir     string `default:"./data" placeholder:"DIR" help:"Directory of the embedded store, while no server has it open."`
	DatabaseURL string `env:"BERTH_DATABASE_URL,DATABASE_URL" placeholder:"URL" help:"Postgres instead of the embedded store."`

	Rebuild rollupRebuildCmd `cmd:"" help:"Make the roll-ups again of the decisions that are stored. Hours whose decisions were deleted for their age stay as they are. One that was cut off goes on, here or in a server."`
}

type rollupRebuildCmd struct {
	Cluster string `placeholder:"NAME" help:"Only this cluster's."`
}

// Run makes the roll-ups again.
func (r *rollupRebuildCmd) Run(ctx context.Context, c *cli, s streams) (err error) {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	st, err := backend{dir: c.Rollup.DataDir, url: c.Rollup.DatabaseURL}.open(ctx, newLogger(s.err, "auto", "info"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	unlock, err := alone(ctx, st, rollup.Lock)
	if err != nil {
		return err
	}
	defer unlock()
	states, err := st.RollupStates(ctx)
	if err != nil {
		return err
	}
	some := false
	for i := range states {
		if r.Cluster != "" && states[i].Cluster != r.Cluster {
			continue
		}
		some = true
		if err := rebuild(ctx, st, states[i].Cluster, s); err != nil {
			return fmt.Errorf("cluster %s: %w", states[i].Cluster, err)
		}
	}
	if r.Cluster != "" && !some {
		return fmt.Errorf("--cluster %s: no decision of it is recorded", r.Cluster)
	}
	return nil
}

// alone waits until no other process does the work of a name, which then waits itself.
func alone(ctx context.Context, st store.Sharing, name string) (unlock func(), err error) {
	for {
		unlock, ok, err := st.TryLock(ctx, name)
		if err != nil || ok {
			return unlock, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// rebuild makes the roll-ups of a cluster again.
func rebuild(ctx context.Context, st store.Rollups, cluster string, s streams) error {
	if err := st.RebuildRollups(ctx, cluster); err != nil {
		return err
	}
	began := time.Now()
	done, err := rollUp(ctx, st, cluster, s.err)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(s.out, "%s: roll-ups made of %d places of the log in %.1f s\n", cluster, done, time.Since(began).Seconds())
	return err
}

// rollUp adds what the roll-ups of a cluster lack, with a line of progress now and then.
func rollUp(ctx context.Context, st store.Rollups, cluster string, w io.Writer) (done int64, err error) {
	said := time.Now()
	for {
		step, err := st.RollUp(ctx, cluster)
		if err != nil && !errors.Is(err, store.ErrConflict) {
			return done, err
		}
		if done += step.Records; !step.More && err == nil {
			return done, nil
		}
		if time.Since(said) >= lineEvery {
			said = time.Now()
			fmt.Fprintf(w, "%s: roll-ups: %d places of the log so far\n", cluster, done)
		}
	}
}

// watchRollups registers the metrics of a worker's roll-ups.
func watchRollups(meter metric.Meter, w *rollup.Worker) error {
	_, err1 := meter.Int64ObservableGauge("berth.rollups.behind", metric.WithDescription("Decisions of the log that its roll-ups do not have yet."),
		metric.WithInt64Callback(func(_ context.Context, o metric.Int64Observer) error {
			o.Observe(w.Behind())
			return nil
		}))
	_, err2 := meter.Int64ObservableCounter("berth.rollups.failures", metric.WithDescription("Attempts of this server to keep roll-ups up that failed."),
		metric.WithInt64Callback(func(_ context.Context, o metric.Int64Observer) error {
			o.Observe(w.Failures())
			return nil
		}))
	return errors.Join(err1, err2)
}
