package decisionlog

import (
	"context"
	"fmt"
	"slices"
	"time"

	schedulingv1 "k8s.io/api/scheduling/v1"

	"berth/internal/cluster"
	"berth/internal/decision"
	"berth/internal/engine/state"
	"berth/internal/memory"
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
func QueueBytes(v *cluster.View, runs state.Runs) int64 {
	active, gated, nominated := v.State.Waiting(runs)
	return queuedBytes * int64(active+gated+nominated)
}

// queueSteps is what finding a pod's place takes, in steps of a Counter.
const queueSteps = 10

// Queue returns the queue of a view at a time, from the attempts up to then on
// revisions up to the view's. A pod that was tried waits for a change of the
// cluster: a revision that no failed attempt made. In kube-scheduler the
// plugins that rejected the pod decide whether a change may help
// (backend/queue/scheduling_queue.go isPodWorthRequeuing); here every change does.
func (l *Log) Queue(ctx context.Context, v *cluster.View, runs state.Runs, class func(name string) *schedulingv1.PriorityClass, now time.Time) (*Queue, error) {
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
	tried, err := l.tried(ctx, v, q.Active, now)
	if err != nil {
		return nil, err
	}
	return queueOf(q, tried, now, l.o.Backoff), nil
}

// Untried is the queue of a view that no log belongs to.
func Untried(v *cluster.View, runs state.Runs, class func(name string) *schedulingv1.PriorityClass, now time.Time) *Queue {
	return queueOf(v.State.Queue(runs, class), nil, now, state.DefaultBackoff())
}

func queueOf(q state.Queue, tried map[decision.PodRef]state.Tried, now time.Time, b state.Backoff) *Queue {
	of := func(p *state.Pod) state.Tried {
		return tried[decision.PodRef{Namespace: p.Namespace, Name: p.Name, UID: p.UID}]
	}
	return &Queue{Active: state.Requeue(q.Active, of, now, b), Gated: q.Gated, Nominated: q.Nominated}
}

// tried sums up the failed attempts at pods.
func (l *Log) tried(ctx context.Context, v *cluster.View, pods []state.Queued, now time.Time) (map[decision.PodRef]state.Tried, error) {
	if len(pods) == 0 {
		return nil, nil
	}
	changed, err := l.st.LastChange(ctx, v.Cluster, v.Revision)
	if err != nil {
		return nil, fmt.Errorf("attempts in %s: %w", v.ID(), err)
	}
	out := map[decision.PodRef]state.Tried{}
	for part := range slices.Chunk(pods, namesAtOnce) {
		f := store.AttemptFilter{Cluster: v.Cluster, Until: now, Revision: v.Revision}
		for i := range part {
			f.Pods = append(f.Pods, part[i].Name)
		}
		list, err := l.st.FailedAttempts(ctx, f)
		if err != nil {
			return nil, fmt.Errorf("attempts in %s: %w", v.ID(), err)
		}
		for _, a := range list {
			out[decision.PodRef{Namespace: a.Namespace, Name: a.Pod, UID: a.UID}] = state.Tried{Count: a.Count, Last: a.Last, Changed: changed > a.Revision}
		}
	}
	return out, nil
}
