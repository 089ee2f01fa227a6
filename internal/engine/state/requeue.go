package state

import (
	"cmp"
	"slices"
	"time"

	"berth/internal/kube/object"
)

// UnschedulableFor is how long a rejected pod waits for a change before it is tried again without
// one (pkg/scheduler/backend/queue/scheduling_queue.go podMaxInUnschedulablePodsDuration).
const UnschedulableFor = 5 * time.Minute

// Backoff is the configuration of the waits after rejections: podInitialBackoffSeconds
// and podMaxBackoffSeconds.
type Backoff struct{ Initial, Max time.Duration }

// DefaultBackoff is upstream's (apis/config/v1/defaults.go
// SetDefaults_KubeSchedulerConfiguration).
func DefaultBackoff() Backoff { return Backoff{Initial: time.Second, Max: 10 * time.Second} }

// Wake is an event that may have helped a pod which waits: a plugin that rejected it has a hint for
// such events, and the hint's answer was Queue.
type Wake struct {
	Revision int64  // the one that brought it
	Plugin   string // whose hint it was
	Event    string // as upstream labels it, such as Node/Add
	Object   object.Key
}

// Tried sums up the failed attempts at a pod.
type Tried struct {
	Count int
	Last  time.Time
	// Woken is what woke the pod since the last one; nil: nothing has. Restless reports that the
	// pod waits for no event: no plugin rejected it, or it is not known what has happened since.
	Woken    *Wake
	Restless bool
}

// After is the wait after a number of rejections, by default 1, 2, 4, 8 and then 10
// seconds (backend/queue/backoff_queue.go calculateBackoffDuration).
func (b Backoff) After(rejections int) time.Duration {
	shift := rejections - 1
	switch {
	case rejections <= 0:
		return 0
	case b.Initial > b.Max>>shift:
		return b.Max
	}
	return b.Initial << shift
}

// SubQueue is one of the parts of kube-scheduler's queue, named as in its metric pending_pods.
type SubQueue string

// The parts that a pod which is not gated can be in.
const (
	ActiveQueue       SubQueue = "active"        // it is tried in its order
	BackoffQueue      SubQueue = "backoff"       // it waits for its back-off to end
	UnschedulablePods SubQueue = "unschedulable" // it waits for a change
)

// At returns the part of the queue that a pod is in at a time, and when it moves to the active one
// if nothing changes; zero for a pod that is active. Back-off ends with the second that it is
// counted to, so a wait of b lasts between b and b+1 (isPodBackingoff, alignToWindow).
func (t Tried) At(now time.Time, b Backoff) (SubQueue, time.Time) {
	if t.Count == 0 {
		return ActiveQueue, time.Time{}
	}
	flush := t.Last.Add(UnschedulableFor)
	if t.Woken == nil && !t.Restless && !now.After(flush) {
		return UnschedulablePods, flush
	}
	if over := t.backoffOver(b); now.Before(over) {
		return BackoffQueue, over
	}
	return ActiveQueue, time.Time{}
}

// backoffOver is when the pod's back-off has ended.
func (t Tried) backoffOver(b Backoff) time.Time {
	return t.Last.Add(b.After(t.Count)).Truncate(time.Second).Add(time.Second)
}

// Waiting is a pod of the queue with its place.
type Waiting struct {
	Queued
	Tried Tried
	In    SubQueue
	// Next is when the pod is tried again at the latest; zero for an active pod.
	Next time.Time
}

// Requeue sorts pods that are not gated in the order in which they are tried if
// nothing changes: the active ones by priority and by their last failed attempt,
// else by their creation; then those in back-off by its end, then the unschedulable
// ones (plugins/queuesort Less, backoff_queue.go lessBackoffCompletedWithPriority).
func Requeue(pods []Queued, tried func(*Pod) Tried, now time.Time, b Backoff) []Waiting {
	out := make([]Waiting, len(pods))
	for i, p := range pods {
		t := tried(p.Pod)
		in, next := t.At(now, b)
		out[i] = Waiting{p, t, in, next}
	}
	rank := map[SubQueue]int{ActiveQueue: 0, BackoffQueue: 1, UnschedulablePods: 2}
	slices.SortStableFunc(out, func(a, b Waiting) int {
		return cmp.Or(cmp.Compare(rank[a.In], rank[b.In]), a.Next.Compare(b.Next), a.before(&b))
	})
	return out
}

// before is the order of pods by priority and time. Pods that were created in one
// second keep their order, as do those without a time, which come last.
func (w *Waiting) before(o *Waiting) int {
	if c := cmp.Compare(o.Priority, w.Priority); c != 0 {
		return c
	}
	at, other := w.entered(), o.entered()
	if at.IsZero() != other.IsZero() {
		if at.IsZero() {
			return 1
		}
		return -1
	}
	return at.Compare(other)
}

// entered is the time that orders a pod among those of its priority.
func (w *Waiting) entered() time.Time {
	switch {
	case w.Tried.Count > 0:
		return w.Tried.Last
	case w.Created != 0:
		return time.Unix(w.Created, 0)
	}
	return time.Time{}
}
