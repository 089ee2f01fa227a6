package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	"berth/internal/config"
	"berth/internal/decision"
	"berth/internal/decision/bind"
	"berth/internal/decision/record"
	"berth/internal/handlers/admit"
	"berth/internal/handlers/limits"
	"berth/internal/jobs"
	"berth/internal/jobs/replays"
	"berth/internal/jobs/simulations"
	"berth/internal/kube/follow"
	"berth/internal/memory"
	"berth/internal/priorityclass"
	"berth/internal/revision"
	"berth/internal/store"
	"berth/internal/store/groupcommit"
	"berth/internal/store/postgres"
	"berth/internal/store/spool"
)

// dependencies are what the API is built on, open and connected.
type dependencies struct {
	store    store.Store   // the spool where there is one, around the database
	spool    *spool.Writer // nil over the embedded store
	group    *groupcommit.Group
	clusters *revision.Manager
	classes  *priorityclass.Registry
	log      *record.Log
	binder   *bind.Binder
	replays  *replays.Jobs
	kube     map[string]*followed // by cluster
	holder   *follow.Holder
	budget   *memory.Budget
	epochs   *epochWatch
	// configured is how questions are decided that bring no configuration.
	configured *decision.Configuration
}

// queueCapacity is how many records may wait for the disk.
const queueCapacity = 4096

// openDependencies opens the store, the clusters and the log. A process that does not serve records
// nothing: it opens no spool, since a spool belongs to one server.
func openDependencies(ctx context.Context, s *settings, conf *config.Config, observe func(int, time.Duration, error), serves bool, log *slog.Logger) (*dependencies, error) {
	b, watch := s.backend(), &epochWatch{log: log}
	if b.serves = serves; serves { // its answers may be lost
		err := checkRelaxed(s.DataDir)
		if err != nil {
			return nil, err
		}
		if b.epochs, err = watch.options(); err != nil {
			return nil, err
		}
	}
	opened, err := b.open(ctx, log)
	if err != nil {
		return nil, err
	}
	st := opened
	configured, err := s.configured(conf)
	if err != nil {
		return nil, errors.Join(err, named("close store", st.Close()))
	}
	d := &dependencies{store: st, configured: configured, epochs: watch, budget: memory.New(int64(s.Limits.MemoryBudget))}
	if s.DatabaseURL != "" && serves {
		if d.spool, err = openSpool(st, s, log); err != nil {
			return nil, errors.Join(err, named("close store", st.Close()))
		}
		d.store = d.spool
	}
	d.store = store.Traced(d.store)
	st = d.store
	d.group = groupcommit.NewGroup(st, groupcommit.Options{CallersWrite: s.DatabaseURL == "", Queue: queueCapacity, ObserveFunc: observe})
	d.clusters, err = revision.Open(ctx, st, d.group, revision.Options{CheckpointEvery: s.Limits.CheckpointEvery, KeepObjects: keepObjects(debug.SetMemoryLimit(-1)), Budget: d.budget, Poll: s.poll(), ProfileOf: configured.Named, Log: log})
	if err != nil {
		return nil, errors.Join(err, d.close(ctx))
	}
	watch.opened(opened)
	watch.then(d.clusters.Replaced)
	d.budget.OnPressure(d.clusters.Relieve)
	if d.classes, err = priorityclass.Open(ctx, st, priorityclass.Options{Log: log}); err != nil {
		return nil, errors.Join(err, d.close(ctx))
	}
	checked, err := s.Kube.checked(configured)
	if err != nil {
		return nil, errors.Join(err, d.close(ctx))
	}
	d.kube = map[string]*followed{}
	d.holder = &follow.Holder{Newer: d.clusters.Newer, Follower: d.follower, Atmost: s.Kube.HoldRejections}
	guarded := func(cluster string) bool { return !s.Kube.BindUnrecorded && d.followed(cluster) }
	d.log = record.New(d.clusters, st, d.configured, record.Options{
		MaxSteps: int64(s.Limits.MaxSteps), Classes: d.classes, Stale: d.stale, Guarded: guarded,
		TolerationSeconds: s.TolerationSeconds, PoolLabel: s.PoolLabel,
		Backoff: conf.Backoff,
	})
	watch.then(func(*store.EpochChange) {
		d.log.Replaced()
		d.classes.Replaced()
	})
	d.binder = bind.New(d.clusters, d.log, bind.Options{APIServer: d.apiserver, Guarded: guarded, Checked: checked, Hold: d.hold})
	d.newReplays(s, nil, log)
	return d, nil
}

// newReplays sets d.replays; observe is called with the progress of the batch replays.
func (d *dependencies) newReplays(s *settings, observe func(identical, different, errors int64), log *slog.Logger) {
	d.replays = replays.New(d.store, d.log, jobs.Options{
		ParseProfiles: config.Parse, Unfinished: s.Limits.ReplayJobs, Budget: d.budget, Observe: observe, Log: log,
	})
}

// newSimulations makes the jobs of questions about what comes next.
func (d *dependencies) newSimulations(l *limits.Limits, log *slog.Logger) *simulations.Jobs {
	return simulations.New(d.store, jobs.Options{
		Unfinished: l.ScenarioJobs, PerCluster: l.ScenarioClusterJobs, MaxResult: int(l.ScenarioMaxResult), Deadline: l.ScenarioJobDeadline, Budget: d.budget, Log: log,
	})
}

var _ spool.Database = (*postgres.Store)(nil)

func openSpool(st store.Store, s *settings, log *slog.Logger) (*spool.Writer, error) {
	db, ok := st.(spool.Database)
	if !ok {
		return nil, fmt.Errorf("%T is not a store that can have a spool", st)
	}
	dir, err := spool.Directory(s.spoolDir())
	if err != nil {
		return nil, fmt.Errorf("--spool-dir %s: %w", s.spoolDir(), err)
	}
	w, err := spool.Open(db, dir, spool.Options{Limits: spool.Limits{Total: int64(s.SpoolLimit)}, Log: log})
	if err != nil {
		return nil, fmt.Errorf("--spool-dir %s: %w", s.spoolDir(), err)
	}
	return w, nil
}

// ready returns nil if decisions can be recorded. With a spool a server stays ready while its
// database is unavailable, but not on a schema that is not this program's, which lasts.
func (d *dependencies) ready(ctx context.Context) error {
	if d.spool == nil {
		return d.store.Ping(ctx)
	}
	if away := d.spool.Away(); errors.Is(away, postgres.ErrChanged) {
		return away
	}
	_, err := d.spool.Ready()
	return err
}

// notes returns the remarks that /readyz makes on a server that is ready.
func (d *dependencies) notes() []admit.Note {
	var notes []admit.Note
	if d.spool != nil {
		notes = append(notes, admit.Note{Name: "spool", Text: func() string {
			note, _ := d.spool.Ready()
			return note
		}})
	}
	return append(notes, d.epochs.notes()...)
}

// close closes the dependencies in the reverse order of their use, so that nothing accepted is
// lost.
func (d *dependencies) close(ctx context.Context) error {
	var errs []error
	if d.classes != nil {
		errs = append(errs, named("stop following priority classes", d.classes.Close()))
	}
	if d.clusters != nil {
		errs = append(errs, named("end writes", d.clusters.Close()))
	}
	errs = append(errs, named("flush records", d.group.Close(ctx)), named("close store", d.store.Close()))
	return errors.Join(errs...)
}

// checkRelaxed refuses the data directory of a server of v0.3.0 that was killed with
// --audit=relaxed: its log lacks the gap that names what was answered and not recorded.
func checkRelaxed(dir string) error {
	path := filepath.Join(dir, "relaxed")
	if _, err := os.Stat(path); err != nil {
		return nil // none there; a directory that cannot be read is refused where it is opened
	}
	return fmt.Errorf("%s: a server with --audit=relaxed was killed, and its log does not have the gap yet: start and stop v0.3.0 here once, which writes it, or remove the file", path)
}

// instance names this process, in gaps and as the one that follows a cluster.
func instance() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return fmt.Sprintf("%s:%d", host, os.Getpid())
}

func named(what string, err error) error {
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

// keepObjects returns how many objects the states in memory may hold under a memory limit in bytes:
// an eighth of it at 2 KiB an object, older revisions have as much. The state that was used last
// stays in any case. 0 stands for the default, which is the largest number.
func keepObjects(limit int64) int {
	if n := limit / 8 / 2048; n > 0 && n < 1_000_000 {
		return int(n)
	}
	return 0
}

// cursorKey returns what the cursors of lists are sealed with, which replicas share.
func (d *dependencies) cursorKey(ctx context.Context) ([]byte, error) {
	fresh := make([]byte, 32)
	_, _ = rand.Read(fresh) // it never fails
	return d.store.Key(ctx, "cursors", fresh)
}
