package report

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/decision/record"
	"berth/internal/engine/state"
	"berth/internal/revision"
)

// Queue is the pods of a cluster that wait for a node.
type Queue struct {
	// Snapshot is the revision that the queue is of.
	Snapshot string `json:"snapshot" example:"prod@1042"`
	// Now is the time that the queue is shown at.
	Now time.Time `json:"now"`
	// Active are all that are not gated, in the order in which they are tried if nothing changes.
	// First those whose turn it is: higher priority first, then who was created, or failed last,
	// earlier. Then those in back-off, by its end. Then those that wait for a change.
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
	// Queue is the part of kube-scheduler's queue that the pod is in. A pod that no attempt failed
	// for is active. One that was tried in vain is unschedulable until an event that a plugin which
	// rejected it takes for one that may help, or for 5 minutes, and then in back-off from its last
	// attempt on, by default for 1, 2, 4, 8 and then 10 seconds.
	Queue string `json:"queue" enums:"active,backoff,unschedulable"`
	// Attempts counts the recorded attempts that failed: of verb decide or filter, with outcome
	// Unschedulable or Preempting.
	Attempts int `json:"attempts"`
	// LastAttempt is the time that the newest of them is of: the one that its question named, else
	// when it was recorded.
	LastAttempt *time.Time `json:"lastAttempt,omitempty"`
	// NextTry is when the pod is tried again if nothing changes until then; absent where it is its
	// turn.
	NextTry *time.Time `json:"nextTry,omitempty"`
	// Woken is the newest event that may have helped the pod since its last attempt.
	Woken *record.Woken `json:"woken,omitempty"`
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

// QueueOf shows a queue: limit entries of each list from a place on. hides is that of
// record.WokenBy.
func QueueOf(v *revision.View, q *record.Queue, from, limit int, now time.Time, hides func(namespace string) bool) Queue {
	out := Queue{Snapshot: v.ID(), Now: now, Counts: QueueCounts{
		Active: len(q.Active), Backoff: q.In(state.BackoffQueue), Unschedulable: q.In(state.UnschedulablePods), Gated: len(q.Gated), Nominated: len(q.Nominated),
	}}
	out.Active = pageOf(q.Active, from, limit, func(p state.Waiting) QueuedPod {
		return QueuedPod{p.Namespace, p.Name, p.Priority, created(p.Queued), string(p.In), p.Tried.Count, orAbsent(p.Tried.Last), orAbsent(p.Next), record.WokenBy(v, p.Tried.Woken, hides)}
	})
	out.Gated = pageOf(q.Gated, from, limit, func(p state.Queued) GatedPod {
		return GatedPod{p.Namespace, p.Name, p.Priority, created(p), p.Gates}
	})
	out.Nominated = pageOf(q.Nominated, from, limit, func(p state.Queued) NominatedPod {
		return NominatedPod{p.Namespace, p.Name, p.Priority, p.Pod.Nominated, nominatedSince(v, p)}
	})
	return out
}

func orAbsent(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}

// pageOf returns a list's entries from a place on.
func pageOf[P, T any](list []P, from, limit int, show func(P) T) []T {
	from = min(from, len(list))
	list = list[from:min(len(list), from+limit)]
	out := make([]T, len(list))
	for i, p := range list {
		out[i] = show(p)
	}
	return out
}

func created(p state.Queued) *time.Time {
	if p.Created == 0 {
		return nil
	}
	t := time.Unix(p.Created, 0).UTC()
	return &t
}

// nominatedSince is when the scheduler wrote that the pod has to wait, which it does together with
// the nomination.
func nominatedSince(v *revision.View, p state.Queued) *time.Time {
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
