package main

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"berth/internal/store"
)

const (
	// keepEvery is the interval at which old records are dropped and partitions are made ahead.
	keepEvery = 6 * time.Hour
	// The embedded store reads its whole file to know its sizes.
	measureEvery, measureEveryShared = time.Hour, 5 * time.Minute
	// keepReplays and keepSimulations are how long jobs are kept that have ended. Those of
	// questions about what comes next hold their revision and their whole answer.
	keepReplays, keepSimulations = 30 * 24 * time.Hour, 7 * 24 * time.Hour
)

// retained is what a keeper needs of a store.
type retained interface {
	store.Keeper
	PruneJobs(ctx context.Context, kind store.JobKind, before time.Time) (int64, error)
	PruneCalls(ctx context.Context, before time.Time) (int64, error)
}

// keeper applies retention: it drops old decisions, revisions and replays, and measures the store.
type keeper struct {
	st                   retained
	decisions, revisions time.Duration // ages from which on they are dropped; 0: never
	look                 time.Duration
	log                  *slog.Logger

	deleted, failed metric.Int64Counter

	mu   sync.Mutex
	ran  time.Time
	size store.Usage
}

func newKeeper(st retained, s *settings, meter metric.Meter, log *slog.Logger) (*keeper, error) {
	k := &keeper{st: st, decisions: time.Duration(s.KeepDecisions), revisions: time.Duration(s.KeepRevisions), look: measureEvery, log: log}
	if s.DatabaseURL != "" {
		k.look = measureEveryShared
	}
	var errs [8]error
	k.deleted, errs[0] = meter.Int64Counter("berth.retention.deleted", metric.WithDescription("Records that this server dropped for their age."))
	k.failed, errs[1] = meter.Int64Counter("berth.retention.failures", metric.WithDescription("Attempts to drop old records that failed."))
	ran, err := meter.Int64ObservableGauge("berth.retention.last.timestamp", metric.WithUnit("s"), metric.WithDescription("When this server last looked for old records without an error, Unix time."))
	errs[2] = err
	bytes, err := meter.Int64ObservableGauge("berth.store.bytes", metric.WithDescription("Bytes on disk of a table, its indexes included."))
	errs[3] = err
	partitions, err := meter.Int64ObservableGauge("berth.store.partitions", metric.WithDescription("Partitions of the decision log."))
	errs[4] = err
	oldest, err := meter.Int64ObservableGauge("berth.store.oldest_decision.timestamp", metric.WithUnit("s"), metric.WithDescription("When the oldest decision that is kept was made, Unix time."))
	errs[5] = err
	_, errs[6] = meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		k.mu.Lock()
		defer k.mu.Unlock()
		if !k.ran.IsZero() {
			o.ObserveInt64(ran, k.ran.Unix())
		}
		for table, n := range k.size.Bytes {
			o.ObserveInt64(bytes, n, metric.WithAttributes(attribute.String("table", table)))
		}
		if k.size.Partitions > 0 {
			o.ObserveInt64(partitions, int64(k.size.Partitions))
		}
		if !k.size.Oldest.IsZero() {
			o.ObserveInt64(oldest, k.size.Oldest.Unix())
		}
		return nil
	}, ran, bytes, partitions, oldest)
	return k, errors.Join(errs[:]...)
}

// run applies retention until ctx ends.
func (k *keeper) run(ctx context.Context) {
	drop, look := time.NewTicker(keepEvery), time.NewTicker(k.look)
	defer drop.Stop()
	defer look.Stop()
	k.drop(ctx)
	k.count(ctx)
	for {
		select {
		case <-ctx.Done():
			return
		case <-drop.C:
			k.drop(ctx)
			k.count(ctx)
		case <-look.C:
			k.count(ctx)
		}
	}
}

// drop deletes what is too old. Decisions and simulations go first, since they hold revisions.
func (k *keeper) drop(ctx context.Context) (fine bool) {
	now := time.Now()
	before := func(age time.Duration) time.Time {
		if age <= 0 {
			return time.Time{}
		}
		return now.Add(-age)
	}
	keeping := func(flag string, age time.Duration) context.Context { // removals name it
		return store.WithSetting(ctx, "--"+flag+"="+age.String())
	}
	fine = k.one(keeping("keep-decisions", k.decisions), "decisions", before(k.decisions), k.st.Retain)
	fine = k.one(ctx, "simulations", before(keepSimulations), k.prune(store.Simulations)) && fine
	fine = k.one(keeping("keep-revisions", k.revisions), "revisions", before(k.revisions), k.st.Prune) && fine
	fine = k.one(ctx, "replays", before(keepReplays), k.prune(store.Replays)) && fine
	fine = k.one(ctx, "keyed calls", before(store.KeyStays), k.st.PruneCalls) && fine
	if fine {
		k.mu.Lock()
		k.ran = now
		k.mu.Unlock()
	}
	return fine
}

// prune returns the function that drops jobs of a kind.
func (k *keeper) prune(kind store.JobKind) func(context.Context, time.Time) (int64, error) {
	return func(ctx context.Context, before time.Time) (int64, error) { return k.st.PruneJobs(ctx, kind, before) }
}

func (k *keeper) one(ctx context.Context, what string, before time.Time, f func(context.Context, time.Time) (int64, error)) bool {
	n, err := f(ctx, before)
	kind := metric.WithAttributes(attribute.String("kind", what))
	if n > 0 {
		k.deleted.Add(ctx, n, kind)
		k.log.LogAttrs(ctx, slog.LevelInfo, "old records were dropped", slog.String("kind", what), slog.Int64("records", n), slog.Time("before", before))
	}
	if err != nil && ctx.Err() == nil {
		k.failed.Add(ctx, 1, kind)
		k.log.LogAttrs(ctx, slog.LevelError, "old records could not be dropped", slog.String("kind", what), slog.String("error", err.Error()))
	}
	return err == nil
}

// count measures the store.
func (k *keeper) count(ctx context.Context) {
	size, err := k.st.Usage(ctx)
	if err != nil {
		if ctx.Err() == nil {
			k.log.LogAttrs(ctx, slog.LevelWarn, "the store's size could not be read", slog.String("error", err.Error()))
		}
		return
	}
	k.mu.Lock()
	k.size = size
	k.mu.Unlock()
}
