package record

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	schedulingv1 "k8s.io/api/scheduling/v1"

	"berth/internal/decision"
	"berth/internal/engine/state"
	"berth/internal/kube/object"
	"berth/internal/memory"
	"berth/internal/revision"
	"berth/internal/steps"
	"berth/internal/store"
)

// namesAtOnce is how many pods one query of the store has.
const namesAtOnce = 1000

// Queue is the pods of a view that wait, with the attempts that the log has of
// them.
type Queue struct {
	// Active are all that are not gated, in the order in which they are tried.
	Active []state.Waiting
	Gated  []state.Queued
	// Nominated are those that hold a node, in the order of their priority.
	Nominated []state.Queued
}

// Woken is what woke a pod since its last failed attempt.
type Woken struct {
	// Snapshot is the revision that brought it.
	Snapshot string `json:"snapshot" example:"prod@1042"`
	// Hint is the plugin that rejected the pod, and whose queueing hint takes the event for one
	// that may help.
	Hint string `json:"hint" example:"NodeResourcesFit"`
	// Event is named as in kube-scheduler's metrics.
	Event string `json:"event" example:"NodeAdd"`
	// Object is the one that came, went or changed; absent where the caller may not see it.
	Object *object.Key `json:"object,omitempty"`
} // @name Woken

// String describes it in a few words; "" for none.
func (w *Woken) String() string {
	if w == nil {
		return ""
	}
	what := w.Event
	if w.Object != nil {
		what += " of " + w.Object.String()
	}
	return fmt.Sprintf("%s in %s (%s)", what, w.Snapshot, w.Hint)
}

// WokenBy shows a wake of a pod in a view; nil for none. hides reports whether the caller may not
// see the objects of a namespace; it may be nil.
func WokenBy(v *revision.View, w *state.Wake, hides func(namespace string) bool) *Woken {
	if w == nil {
		return nil
	}
	out := &Woken{Snapshot: revision.FormatID(v.Cluster, w.Revision), Hint: w.Plugin, Event: w.Event}
	if o := w.Object; o.Namespace == "" || hides == nil || !hides(o.Namespace) {
		out.Object = &o
	}
	return out
}

// In counts the pods in a part of the queue.
func (q *Queue) In(part state.SubQueue) (n int) {
	for i := range q.Active {
		if q.Active[i].In == part {
			n++
		}
	}
	return n
}

// queuedBytes is what a pod that waits takes in a queue: its entries in both lists, its name in a
// query, and its attempts.
const queuedBytes = 768

// QueueBytes bounds what the queue of a view takes, in bytes.
func QueueBytes(v *revision.View, runs state.Runs) int64 {
	active, gated, nominated := v.State.Waiting(runs)
	return queuedBytes * int64(active+gated+nominated)
}

// queueSteps is what finding a pod's place takes, in steps of a Counter.
const queueSteps = 10

// When is the time that a queue is shown at.
type When struct {
	At time.Time
	// Named reports whether the question named the time. Attempts that named one count up to then,
	// too; otherwise they are no part of what the clock has seen.
	Named bool
}

// Queue returns the queue of a view at a time, from the attempts up to then on
// revisions up to the view's.
func (l *Log) Queue(ctx context.Context, v *revision.View, runs state.Runs, class func(name string) *schedulingv1.PriorityClass, when When) (*Queue, error) {
	if err := memory.Take(ctx, QueueBytes(v, runs)); err != nil {
		return nil, err
	}
	count := steps.Of(ctx)
	var ended error
	q := v.State.Queue(func(scheduler string) (ours, gates bool) {
		if ended == nil {
			ended = count.Take(queueSteps)
		}
		if ended != nil {
			return false, false // the rest is passed over
		}
		return runs(scheduler)
	}, class)
	if ended != nil {
		return nil, ended
	}
	tried, err := l.tried(ctx, v, q.Active, when)
	if err != nil {
		return nil, err
	}
	return queueOf(q, tried, when.At, l.o.Backoff), nil
}

// Untried is the queue of a view that no log belongs to.
func Untried(v *revision.View, runs state.Runs, class func(name string) *schedulingv1.PriorityClass, now time.Time) *Queue {
	return queueOf(v.State.Queue(runs, class), nil, now, state.DefaultBackoff())
}

func queueOf(q state.Queue, tried map[decision.PodRef]state.Tried, now time.Time, b state.Backoff) *Queue {
	of := func(p *state.Pod) state.Tried {
		return tried[decision.PodRef{Namespace: p.Namespace, Name: p.Name, UID: p.UID}]
	}
	return &Queue{Active: state.Requeue(q.Active, of, now, b), Gated: q.Gated, Nominated: q.Nominated}
}

// tried sums up the failed attempts at pods.
func (l *Log) tried(ctx context.Context, v *revision.View, pods []state.Queued, when When) (map[decision.PodRef]state.Tried, error) {
	if len(pods) == 0 {
		return nil, nil
	}
	out := map[decision.PodRef]state.Tried{}
	for part := range slices.Chunk(pods, namesAtOnce) {
		f := store.AttemptFilter{Cluster: v.Cluster, Until: when.At, Named: when.Named, Revision: v.Revision}
		for i := range part {
			f.Pods = append(f.Pods, part[i].Name)
		}
		list, err := l.st.FailedAttempts(ctx, f)
		if err != nil {
			return nil, fmt.Errorf("attempts in %s: %w", v.ID(), err)
		}
		for _, a := range list {
			t := state.Tried{Count: a.Count, Last: a.Last, Restless: a.RejectedBy == ""}
			if !t.Restless {
				woken, known := v.Woken(a.Namespace, a.Pod, a.Revision, strings.Split(a.RejectedBy, ","))
				t.Woken, t.Restless = woken, !known
			}
			out[decision.PodRef{Namespace: a.Namespace, Name: a.Pod, UID: a.UID}] = t

		}
	}
	return out, nil
}
