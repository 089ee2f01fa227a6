package handlers

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

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
	// Now is the time that the queue is shown at.
	Now time.Time `json:"now"`
	// Active are all that are not gated, in the order in which they are tried if nothing changes. First those whose turn it
	// is: higher priority first, then who was created, or failed last, earlier. Then those in back-off, by its end. Then
	// those that wait for a change.
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
	// Active counts the whole list; backoff and unschedulable are parts of it.
	Active        int `json:"active"`
	Backoff       int `json:"backoff"`
	Unschedulable int `json:"unschedulable"`
	Gated         int `json:"gated"`
	Nominated     int `json:"nominated"`
} // @name QueueCounts

// QueuedPod is a pod that waits.
type QueuedPod struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Priority  int32  `json:"priority"`
	// Since is when the pod was created; absent where the snapshot does not say.
	Since *time.Time `json:"since,omitempty"`
	// Queue is the part of kube-scheduler's queue that the pod is in. A pod that no attempt failed for is active. One that
	// was tried in vain is unschedulable until the cluster changes, or for 5 minutes, and then in back-off for 1, 2, 4, 8
	// and then 10 seconds from its last attempt.
	Queue string `json:"queue" enums:"active,backoff,unschedulable"`
	// Attempts counts the recorded attempts that failed: of verb decide or filter, with outcome Unschedulable or Preempting.
	Attempts int `json:"attempts"`
	// LastAttempt is when the newest of them was recorded.
	LastAttempt *time.Time `json:"lastAttempt,omitempty"`
	// NextTry is when the pod is tried again if nothing changes until then; absent where it is its turn.
	NextTry *time.Time `json:"nextTry,omitempty"`
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
//	@Description	For the schedulers of the server's configuration, with the attempts that the decision log has. Without limit, 5000 of each list come at once; the cursor continues them on the same revision, at the same time.
//	@Tags			clusters
//	@Produce		json
//	@Param			cluster	path		string	true	"the cluster"
//	@Param			limit	query		int		false	"entries of each list, 5000 if absent"
//	@Param			cursor	query		string	false	"cursor of the page before; without snapshot and now"
//	@Param			snapshot	query	string	false	"a revision of the cluster, such as prod@3; the newest if absent"
//	@Param			now		query		string	false	"the time to show it at (RFC 3339); if absent the server's, for an older revision the time when that was made"
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
	from := 0
	var at asOf
	if cursor := r.URL.Query().Get("cursor"); cursor == "" {
		at, err = a.asOf(r, name)
	} else {
		at, from, err = a.parseQueueCursor(r, name, cursor)
	}
	if err != nil {
		return err
	}
	v := at.view
	q, err := a.decisions.Queue(r.Context(), v, a.schedules, a.storedClasses(name), at.now)
	if err != nil {
		return err
	}
	out := Queue{Snapshot: v.ID(), Now: at.now, Counts: QueueCounts{
		Active: len(q.Active), Backoff: q.In(engine.BackoffQueue), Unschedulable: q.In(engine.UnschedulablePods), Gated: len(q.Gated), Nominated: len(q.Nominated),
	}}
	out.Active = pageOf(q.Active, from, limit, func(p engine.Waiting) QueuedPod {
		return QueuedPod{p.Namespace, p.Name, p.Priority, created(p.Queued), string(p.In), p.Tried.Count, orAbsent(p.Tried.Last), orAbsent(p.Next)}
	})
	out.Gated = pageOf(q.Gated, from, limit, func(p engine.Queued) GatedPod {
		return GatedPod{p.Namespace, p.Name, p.Priority, created(p), p.Gates}
	})
	out.Nominated = pageOf(q.Nominated, from, limit, func(p engine.Queued) NominatedPod {
		return NominatedPod{p.Namespace, p.Name, p.Priority, p.Pod.Nominated, nominatedSince(v, p)}
	})
	if next := from + limit; next < max(len(q.Active), len(q.Gated), len(q.Nominated)) {
		out.Cursor = base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "%d/%d/%d", v.Revision, next, at.now.UnixMicro()))
	}
	return writeJSON(w, http.StatusOK, out)
}

// storedClasses gives the stored priority classes of a cluster.
func (a *API) storedClasses(cluster string) func(name string) *schedulingv1.PriorityClass {
	return func(class string) *schedulingv1.PriorityClass { return a.priorityClasses.Class(cluster, class) }
}

func orAbsent(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}

// pageOf gives a list's entries from a place on.
func pageOf[P, T any](list []P, from, limit int, show func(P) T) []T {
	from = min(from, len(list))
	list = list[from:min(len(list), from+limit)]
	out := make([]T, len(list))
	for i, p := range list {
		out[i] = show(p)
	}
	return out
}

// parseQueueCursor gives what a page goes on from: the revision and time of the first one, and the place in the lists.
func (a *API) parseQueueCursor(r *http.Request, name, cursor string) (at asOf, from int, err error) {
	for _, other := range []string{"snapshot", "now"} {
		if r.URL.Query().Has(other) {
			return at, 0, badField(http.StatusBadRequest, other, "not together with cursor, which has it from the first page")
		}
	}
	var revision, micros int64
	text, err := base64.RawURLEncoding.DecodeString(cursor)
	if err == nil {
		var n int
		n, err = fmt.Sscanf(string(text), "%d/%d/%d", &revision, &from, &micros)
		if canonical := fmt.Sprintf("%d/%d/%d", revision, from, micros); n != 3 || canonical != string(text) {
			err = errors.New("not a cursor")
		}
	}
	if err != nil || revision < 1 || from < 0 || from > 1<<30 || micros < 0 {
		return at, 0, badField(http.StatusBadRequest, "cursor", "it is not one of this list")
	}
	at.now = time.UnixMicro(micros).UTC()
	at.view, err = a.clusters.View(r.Context(), name, revision)
	return at, from, err
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
