package main

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"go.opentelemetry.io/otel/metric"

	"berth/internal/handlers"
	"berth/internal/store/postgres"
)

// The bounds of the random pause between two attempts to reach a database at the start.
const (
	leastAwait = 100 * time.Millisecond
	mostAwait  = 2 * time.Second
)

// await has the listeners answer that the store is not there, and opens what the API needs as soon
// as it is. opened is nil where ctx ended before.
func (c *serveCmd) await(ctx context.Context, up *serving, tel *telemetry, cause error, open func() (*dependencies, error), log *slog.Logger) (opened *dependencies, err error) {
	var mu sync.Mutex
	reason := func() error {
		mu.Lock()
		defer mu.Unlock()
		return cause
	}
	up.answer(handlers.Waiting(reason, tel.handler))
	gauge, err := tel.meter.Int64ObservableGauge("berth.database.up", metric.WithDescription("1 while the database answers, 0 while it is away."))
	if err != nil {
		return nil, err
	}
	down, err := tel.meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		o.ObserveInt64(gauge, 0)
		return nil
	}, gauge)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, down.Unregister()) }()
	began, pause := time.Now(), leastAwait
	log.Error("the database is away: this server waits for it, and answers nothing before", slog.Any("error", cause))
	for {
		select {
		case <-ctx.Done():
			return nil, nil
		case err := <-up.failed:
			return nil, err
		case <-time.After(rand.N(pause) + time.Millisecond): // many replicas must not come back at once
		}
		pause = min(2*pause, mostAwait)
		deps, err := open()
		if err == nil {
			log.Warn("the database is there", slog.Duration("waited", time.Since(began)))
			return deps, nil
		}
		if !postgres.Away(err) {
			return nil, err
		}
		mu.Lock()
		cause = err
		mu.Unlock()
	}
}
