package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"go.opentelemetry.io/otel/metric"

	"berth/internal/revision"
)

// poll returns the interval at which to read what other servers wrote: 0 for the embedded store,
// which has one writer.
func (s *settings) poll() time.Duration {
	if s.DatabaseURL == "" {
		return 0
	}
	return cmp.Or(s.PollInterval, 500*time.Millisecond)
}

// warm loads the newest states ahead of the first request.
func warm(ctx context.Context, m *revision.Manager, log *slog.Logger) {
	if err := m.Warm(ctx); err != nil && ctx.Err() == nil {
		log.LogAttrs(ctx, slog.LevelWarn, "the newest states were not read ahead", slog.Any("error", err))
	}
}

// undamaged returns a check that names the clusters whose newest revision cannot be loaded. The
// server is ready for all others.
func undamaged(m *revision.Manager) func(context.Context) error {
	return func(context.Context) error {
		damaged := m.Following().Damaged
		var errs []error
		for _, name := range slices.Sorted(maps.Keys(damaged)) {
			errs = append(errs, fmt.Errorf("cluster %s: %w", name, damaged[name]))
		}
		return errors.Join(errs...)
	}
}

// watchFollowing registers the metrics of how far this server is behind what others wrote.
func watchFollowing(meter metric.Meter, m *revision.Manager, shared bool) error {
	damaged, err1 := meter.Int64ObservableGauge("berth.clusters.damaged", metric.WithDescription("Clusters whose newest revision cannot be loaded; /readyz names them."))
	behind, err2 := meter.Int64ObservableGauge("berth.revisions.behind", metric.WithDescription("Revisions that this server has yet to see of the cluster that is furthest behind, when it last asked."))
	age, err3 := meter.Float64ObservableGauge("berth.poll.age", metric.WithUnit("s"), metric.WithDescription("Time since the store last told what other servers wrote."))
	_, err4 := meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		f := m.Following()
		o.ObserveInt64(damaged, int64(len(f.Damaged)))
		if shared {
			o.ObserveInt64(behind, f.Behind)
			o.ObserveFloat64(age, time.Since(f.Asked).Seconds())
		}
		return nil
	}, damaged, behind, age)
	return errors.Join(err1, err2, err3, err4)
}
