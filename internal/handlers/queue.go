package handlers

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"

	"berth/internal/cluster"
	"berth/internal/engine"
)

// queuePage is how many entries of each list come at once, unless fewer are asked for.
const queuePage = 5000

// Queue is the pods of a cluster that wait for a node.
type Queue struct {
	// Snapshot is the revision that the queue is of.
	Snapshot string `json:"snapshot" example:"prod@1042"`
	// Active is in the order of scheduling: higher priority first, then the older.
	Active []QueuedPod `json:"active"`
	// Gated pods wait for their gates and are not tried.
	Gated []GatedPod `json:"gated"`
	// Nominated pods wait for a preemption's victims to go from a node. They are active, too.
	Nominated []NominatedPod `json:"nominated"`
	// Counts are of the whole lists.
	Counts QueueCounts `json:"counts"`
	// Cursor continues all lists; absent on the last page.
	Cursor string `json:"cursor,omitempty"`
} // @name Queue

// QueueCounts tells how many pods wait.
type QueueCounts struct {
	Active    int `json:"active"`
	Gated     int `json:"gated"`
	Nominated int `json:"nominated"`
} // @name QueueCounts

// QueuedPod is a pod that waits.
type QueuedPod struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Priority  int32  `json:"priority"`
	// Since is when the pod was created; absent where the snapshot does not say.
	Since *time.Time `json:"since,omitempty"`
} // @name QueuedPod

// GatedPod is a pod with gates.
type GatedPod struct {
	Namespace string     `json:"namespace"`
	Name      string     `json:"name"`
	Priority  int32      `json:"priority"`
	Since     *time.Time `json:"since,omitempty"`
	// Gates are those that remain.
	Gates []string `json:"gates"`
} // @name GatedPod

// NominatedPod is a pod that a preemption gave a node.
type NominatedPod struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Priority  int32  `json:"priority"`
	Node      string `json:"node"`
	// Since is when its condition PodScheduled last changed, else when it was created.
	Since *time.Time `json:"since,omitempty"`
} // @name NominatedPod

// getQueue shows who waits.
//
//	@Summary		The pods that wait for a node, in the order of scheduling
//	@Description	Of the newest revision, for the schedulers of the server's configuration. Without limit, 5000 of each list come at once; the cursor continues them on the same revision.
//	@Tags			clusters
//	@Produce		json
//	@Param			cluster	path		string	true	"the cluster"
//	@Param			limit	query		int		false	"entries of each list, 5000 if absent"
//	@Param			cursor	query		string	false	"cursor of the page before"
//	@Success		200		{object}	Queue
//	@Failure		400,404,429,500,503	{object}	Problem
//	@Router			/v1/clusters/{cluster}/queue [get]
func (a *API) getQueue(w http.ResponseWriter, r *http.Request) error {
	name, err := pathParam(r, "cluster")
	if err != nil {
		return err
	}
	if err := cluster.CheckName(name); err != nil {
		return badField(http.StatusBadRequest, "cluster", reason(err))
	}
	limit := queuePage
	if text := r.URL.Query().Get("limit"); text != "" {
		if limit, err = strconv.Atoi(text); err != nil || limit < 1 || limit > queuePage {
			return badField(http.StatusBadRequest, "limit", fmt.Sprintf("want a number from 1 to %d", queuePage))
		}
	}
	revision, from, err := parseQueueCursor(r.URL.Query().Get("cursor"))
	if err != nil {
		return err
	}
	v, err := a.clusters.View(r.Context(), name, revision)
	if err != nil {
		return err
	}
	q := v.State.Queue(a.schedules, func(class string) *schedulingv1.PriorityClass { return a.priorityClasses.Class(name, class) })
	out := Queue{Snapshot: v.ID(), Counts: QueueCounts{len(q.Active), len(q.Gated), len(q.Nominated)}}
	out.Active = pageOf(q.Active, from, limit, func(p engine.Queued) QueuedPod {
		return QueuedPod{p.Namespace, p.Name, p.Priority, created(p)}
	})
	out.Gated = pageOf(q.Gated, from, limit, func(p engine.Queued) GatedPod {
		return GatedPod{p.Namespace, p.Name, p.Priority, created(p), p.Gates}
	})
	out.Nominated = pageOf(q.Nominated, from, limit, func(p engine.Queued) NominatedPod {
		return NominatedPod{p.Namespace, p.Name, p.Priority, p.Pod.Nominated, nominatedSince(v, p)}
	})
	if next := from + limit; next < max(len(q.Active), len(q.Gated), len(q.Nominated)) {
		out.Cursor = base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "%d/%d", v.Revision, next))
	}
	return writeJSON(w, http.StatusOK, out)
}

// pageOf gives a list's entries from a place on.
func pageOf[T any](list []engine.Queued, from, limit int, show func(engine.Queued) T) []T {
	from = min(from, len(list))
	list = list[from:min(len(list), from+limit)]
	out := make([]T, len(list))
	for i, p := range list {
		out[i] = show(p)
	}
	return out
}

func parseQueueCursor(s string) (revision int64, from int, err error) {
	if s == "" {
		return 0, 0, nil
	}
	text, err := base64.RawURLEncoding.DecodeString(s)
	at, place, ok := strings.Cut(string(text), "/")
	revision, err1 := strconv.ParseInt(at, 10, 64)
	from, err2 := strconv.Atoi(place)
	if err != nil || !ok || err1 != nil || err2 != nil || revision < 1 || from < 0 || from > 1<<30 {
		return 0, 0, badField(http.StatusBadRequest, "cursor", "it is not one of this list")
	}
	return revision, from, nil
}

func created(p engine.Queued) *time.Time {
	if p.Created == 0 {
		return nil
	}
	t := time.Unix(p.Created, 0).UTC()
	return &t
}

// nominatedSince is when the scheduler wrote that the pod has to wait, which it does together with the nomination.
func nominatedSince(v *cluster.View, p engine.Queued) *time.Time {
	pod, err := v.Pod(p.Namespace, p.Name)
	if err != nil {
		return created(p)
	}
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled && !c.LastTransitionTime.IsZero() {
			t := c.LastTransitionTime.UTC()
			return &t
		}
	}
	return created(p)
}

// schedules says whether a pod of this scheduler is for us to place, and whether it waits for its gates.
func (a *API) schedules(scheduler string) (ours, gates bool) {
	return slices.Contains(a.schedulers, scheduler), !slices.Contains(a.ungated, scheduler)
}

// waitCounts remembers how many pods wait, so that a scrape counts only states that are new.
type waitCounts struct {
	mu    sync.Mutex
	known map[string]counted // by cluster
}

type counted struct {
	view          *cluster.View
	active, gated int
}

// watchQueue shows how many pods wait, of the clusters that are in memory. The name is kube-scheduler's own, and so are
// the labels of a queue; berth tries a pod when it is asked to and so has no other queues.
func (a *API) watchQueue(meter metric.Meter) error {
	if meter == nil {
		meter = noop.NewMeterProvider().Meter("")
	}
	pending, err := meter.Int64ObservableGauge("scheduler.pending_pods", metric.WithDescription("Pods of a cluster's newest state that wait for a node, by queue: active, or gated."))
	if err == nil {
		_, err = meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
			for _, c := range a.countWaiting() {
				of := attribute.String("cluster", c.view.Cluster)
				o.ObserveInt64(pending, int64(c.active), metric.WithAttributes(of, attribute.String("queue", "active")))
				o.ObserveInt64(pending, int64(c.gated), metric.WithAttributes(of, attribute.String("queue", "gated")))
			}
			return nil
		}, pending)
	}
	return err
}

func (a *API) countWaiting() []counted {
	if a.clusters == nil {
		return nil
	}
	views := a.clusters.Held()
	w := &a.waits
	w.mu.Lock()
	defer w.mu.Unlock()
	fresh := make(map[string]counted, len(views))
	out := make([]counted, 0, len(views))
	for _, v := range views {
		c, ok := w.known[v.Cluster]
		if !ok || c.view != v {
			c = counted{view: v}
			c.active, c.gated, _ = v.State.Waiting(a.schedules)
		}
		fresh[v.Cluster] = c
		out = append(out, c)
	}
	w.known = fresh
	return out
}
