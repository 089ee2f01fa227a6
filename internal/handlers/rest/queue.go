package rest

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"time"
	"weak"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"
	schedulingv1 "k8s.io/api/scheduling/v1"

	"berth/internal/decision/record"
	"berth/internal/engine/state"
	"berth/internal/handlers/admit"
	"berth/internal/handlers/exchange"
	"berth/internal/report"
	"berth/internal/revision"
)

// queuePage is how many entries of each list come at once, unless fewer are asked for.
const queuePage = 5000

// getQueue shows who waits.
//
//	@Summary		The pods that wait for a node, in the order of scheduling
//	@Description	The queue of the schedulers in the server's configuration, with the attempts in the decision log. Without limit a page has 5000 items of each list. The cursor continues the lists on the same revision, at the same time.
//	@Tags			clusters
//	@Produce		json
//	@Param			cluster	path		string	true	"the cluster"
//	@Param			limit	query		int		false	"entries of each list, 5000 if absent"
//	@Param			cursor	query		string	false	"cursor of the page before; without snapshot and now"
//	@Param			snapshot	query	string	false	"a revision of the cluster, such as prod@3; the newest if absent"
//	@Param			now		query		string	false	"the time to show it at (RFC 3339), with the attempts of questions that named a time up to then; if absent the server's, for an older revision the time when that was made, without those attempts"
//	@Success		200		{object}	report.Queue
//	@Failure		400,401,403,404,409,422,429,500,503	{object}	exchange.Problem
//	@Router			/v1/clusters/{cluster}/queue [get]
func (a *API) getQueue(w http.ResponseWriter, r *http.Request) error {
	name, err := exchange.ClusterParam(r)
	if err != nil {
		return err
	}
	limit := queuePage
	if text := r.URL.Query().Get("limit"); text != "" {
		if limit, err = strconv.Atoi(text); err != nil || limit < 1 || limit > queuePage {
			return exchange.BadField(http.StatusBadRequest, "limit", fmt.Sprintf("want a number from 1 to %d", queuePage))
		}
	}
	at, from, err := a.queuePlace(r, name)
	if err != nil {
		return err
	}
	v := at.view
	q, err := a.decisions.Queue(r.Context(), v, a.schedules, a.storedClasses(name), record.When{At: at.now, Named: at.named})
	if err != nil {
		return err
	}
	out := report.QueueOf(v, q, from, limit, at.now, func(namespace string) bool { return !admit.Sees(r.Context(), name, namespace) })
	if next := from + limit; next < max(len(q.Active), len(q.Gated), len(q.Nominated)) {
		out.Cursor = a.sealCursor(r, fmt.Sprintf("%d/%d/%d/%t", v.Revision, next, at.now.UnixMicro(), at.named))
	}
	return exchange.WriteJSON(w, http.StatusOK, out)
}

// storedClasses returns the stored priority classes of a cluster; nil where none are stored.
func (a *API) storedClasses(cluster string) func(name string) *schedulingv1.PriorityClass {
	if a.priorityClasses == nil {
		return nil
	}
	return func(class string) *schedulingv1.PriorityClass { return a.priorityClasses.Class(cluster, class) }
}

// queuePlace returns what a page goes on from: the revision and time of the first one, and the
// place in the lists.
func (a *API) queuePlace(r *http.Request, name string) (at asOf, from int, err error) {
	cursor, err := a.openCursor(r)
	if err != nil {
		return at, 0, err
	}
	if cursor == "" {
		at, err = a.recordedAsOf(r, name)
		return at, 0, err
	}
	for _, other := range []string{"snapshot", "now"} {
		if r.URL.Query().Has(other) {
			return at, 0, exchange.BadField(http.StatusBadRequest, other, "not together with cursor, which has it from the first page")
		}
	}
	var revision, micros int64
	if _, err := fmt.Sscanf(cursor, "%d/%d/%d/%t", &revision, &from, &micros, &at.named); err != nil {
		return at, 0, badCursor()
	}
	at.now = time.UnixMicro(micros).UTC()
	at.view, err = a.view(r.Context(), name, revision)
	return at, from, err
}

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
