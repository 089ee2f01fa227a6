package rest

import (
	"context"
	"sync"
	"time"
	"weak"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"

	"berth/internal/decision/record"
	"berth/internal/engine/state"
	"berth/internal/handlers/exchange"
	"berth/internal/revision"
)

// countEvery is for how long a state's counts are shown again: they change with time and with
// attempts, too.
const countEvery = 5 * time.Second

// waitCounts remembers how many pods wait, so that scrapes in a row count only states that are new.
type waitCounts struct {
	mu    sync.Mutex
	known map[string]counted // by cluster
}

type counted struct {
	// view is weak: a state must not stay in memory for its counts, which may never be scraped
	// again.
	view                                  weak.Pointer[revision.View]
	cluster                               string
	at                                    time.Time
	active, backoff, unschedulable, gated int
}

// watchQueue shows how many pods wait, of the clusters that are in memory. The name is
// kube-scheduler's own, and so are the labels of a queue.
func (a *API) watchQueue(meter metric.Meter) error {
	if meter == nil {
		meter = noop.NewMeterProvider().Meter("")
	}
	pending, err := meter.Int64ObservableGauge("scheduler.pending_pods",
		metric.WithDescription("Pods of a cluster's newest state that wait for a node, by queue: active, backoff, unschedulable, or gated."))
	if err == nil {
		_, err = meter.RegisterCallback(func(ctx context.Context, o metric.Observer) error {
			for _, c := range a.countWaiting(ctx) {
				of := attribute.String("cluster", c.cluster)
				for _, q := range []struct {
					name string
					pods int
				}{{"active", c.active}, {"backoff", c.backoff}, {"unschedulable", c.unschedulable}, {"gated", c.gated}} {
					o.ObserveInt64(pending, int64(q.pods), metric.WithAttributes(of, attribute.String("queue", q.name)))
				}
			}
			return nil
		}, pending)
	}
	return err
}

// countWaiting counts. A cluster whose log cannot be read now is left out.
func (a *API) countWaiting(ctx context.Context) []counted {
	if a.clusters == nil || a.decisions == nil {
		return nil
	}
	views, now := a.clusters.Held(), time.Now()
	ctx = exchange.AsServer(ctx)
	w := &a.waits
	w.mu.Lock()
	defer w.mu.Unlock()
	fresh := make(map[string]counted, len(views))
	out := make([]counted, 0, len(views))
	for _, v := range views {
		c, ok := w.known[v.Cluster]
		if !ok || c.view.Value() != v || now.Sub(c.at) > countEvery {
			q, err := a.decisions.Queue(ctx, v, a.schedules, a.storedClasses(v.Cluster), record.When{At: now})
			if err != nil {
				continue
			}
			c = counted{weak.Make(v), v.Cluster, now, q.In(state.ActiveQueue), q.In(state.BackoffQueue), q.In(state.UnschedulablePods), len(q.Gated)}
		}
		fresh[v.Cluster] = c
		out = append(out, c)
	}
	w.known = fresh
	return out
}
