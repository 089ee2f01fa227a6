package world

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/decision"
	"berth/internal/engine"
	"berth/internal/kube/object"
	"berth/internal/steps"
)

// Arrival is a pod that comes to the queue.
type Arrival struct {
	Pod *corev1.Pod
	// At is when it comes, after the start. Duration is how long it stays on its node, 0 for good.
	// Both only order what happens: departures before arrivals, and arrivals of one instant by
	// priority, then as they are listed.
	At, Duration time.Duration
}

// Limits end a run.
type Limits struct {
	// Attempts is after how many the run stops with what it has; 0: when it is idle.
	Attempts int
	// Tries is how many attempts each pod has; 0: until nothing changes any more.
	Tries int
}

// Waiting is a pod that has no node.
type Waiting struct {
	Pod *corev1.Pod
	// Last is the outcome of its last attempt; empty where it had none.
	Last engine.Outcome
}

// queue is kube-scheduler's queue with the one worker that takes pods from it: higher priority
// first, then who came, or failed last, earlier (plugins/queuesort Less). Who fails waits until all
// others have had their turn and something has changed, as a pod in back-off does, which is popped
// once nothing else is active (backend/queue/active_queue.go unlockedPop, feature
// PopFromBackoffQ). An attempt takes no time, so that no back-off ever ends by itself.
//
// Every event but a bind may help: hints of plugins are not consulted for others, so that there may
// be more attempts in vain than in a cluster.
type queue struct {
	f     *Fork
	ctx   context.Context
	steps *steps.Counter
	l     Limits
	// each is called after each attempt; its argument is valid for the call.
	each func(*entry, *Attempt) error
	// lingers reports that a preemption's victims are not gone at once: each carries them out.
	lingers bool

	waiting []*entry
	vain    map[string]vain // by shape
	woken   map[string]*woken
	// quiet is the last event at which no pod was to be tried, arrived whether a pod came since,
	// and asleep are the shapes of the pods that waited then; nil where a bind wakes them all.
	quiet           uint64
	arrived         bool
	asleep          []*woken
	orders          int
	attempts, waves int
	stopped         bool
}

// entry is a pod of the queue.
type entry struct {
	Arrival
	priority int32
	honors   bool   // it has a spread that leaves tainted nodes out
	order    int    // among those of its priority: of its arrival or its last attempt
	failed   bool   // its last attempt
	seen     uint64 // the fork's events that this attempt knew
	tries    int
	last     engine.Outcome
	shape    string
	woken    *woken // of the shape; nil: not looked up yet
	place    place
	came     int // the attempts before its arrival
}

type place uint8

const (
	comes place = iota
	waits
	bound
	evicted
	left
)

// vain is an attempt that found no node: the fork's changes that it knew, and its message.
type vain struct {
	changes uint64
	message string
}

func newQueue(ctx context.Context, f *Fork) *queue {
	return &queue{f: f, ctx: ctx, steps: steps.Of(ctx), vain: map[string]vain{}, woken: map[string]*woken{}}
}

// entry reads a pod that will come.
func (q *queue) entry(a Arrival) *entry {
	e := &entry{Arrival: a, honors: honorsTaints(a.Pod)}
	if pod, _, err := decision.ResolvePriority(q.f.State(), e.Pod, q.f.o.Class); err == nil {
		e.priority = *pod.Spec.Priority
	}
	return e
}

// add has a pod come.
func (q *queue) add(e *entry) {
	e.place, e.order, e.came = waits, q.orders, q.attempts
	q.orders++
	q.waiting, q.arrived = append(q.waiting, e), true
}

// remove takes a pod out that is deleted.
func (q *queue) remove(n PodName) {
	q.waiting = slices.DeleteFunc(q.waiting, func(e *entry) bool {
		if NameOf(e.Pod) == n {
			e.place = left // a pass that is on its way tries it no more
		}
		return e.place != waits
	})
}

// tryAll passes over the queue until no attempt could have another outcome.
func (q *queue) tryAll() error {
	for !q.stopped && (q.arrived || q.stirred()) {
		var due []*entry
		for _, e := range q.waiting {
			if q.mayTry(e) && (!e.failed || q.hears(e)) {
				due = append(due, e)
			}
		}
		if len(due) == 0 {
			q.sleep()
			return nil
		}
		if err := steps.Sort(q.steps, due, before); err != nil {
			return err
		}
		q.waves++
		for _, e := range due {
			if q.l.Attempts > 0 && q.attempts >= q.l.Attempts {
				q.stopped = true
				return nil
			}
			if e.place != waits {
				continue // deleted meanwhile
			}
			if err := q.try(e); err != nil {
				return err
			}
		}
		q.waiting = slices.DeleteFunc(q.waiting, func(e *entry) bool { return e.place != waits })
	}
	return nil
}

// sleep notes that no pod is to be tried before something happens.
func (q *queue) sleep() {
	q.quiet, q.arrived, q.asleep = q.f.events, false, []*woken{}
	if !q.lingers {
		q.asleep = nil
		return
	}
	for _, e := range q.waiting {
		switch {
		case e.last == Failed:
			q.asleep = nil
			return
		case e.place != waits || q.gated(e.Pod):
			continue
		}
		if w := q.wokenOf(e); w.asleep != q.quiet+1 {
			w.asleep = q.quiet + 1
			q.asleep = append(q.asleep, w)
		}
	}
}

// stirred reports whether a pod may be to be tried since it was quiet. Where binds alone happened,
// those that wait are asked by their shapes: there are many binds, and many pods of one shape.
func (q *queue) stirred() bool {
	f := q.f
	if f.events == q.quiet {
		return false
	}
	if q.asleep == nil || f.everyone > q.quiet || f.tainted > q.quiet || f.heard(math.MinInt32, q.quiet) {
		return true
	}
	for _, w := range q.asleep {
		if q.wakes(w) > q.quiet {
			return true
		}
	}
	q.quiet = f.events
	return false
}

// woken is up to which bind the pods of a shape have heard of them, and the last event that may
// help them.
type woken struct {
	pod    *corev1.Pod // one of them
	binds  int
	last   uint64
	asleep uint64 // when it was put to those that sleep
}

// wokenOf returns that of a pod's shape.
func (q *queue) wokenOf(e *entry) *woken {
	if e.woken != nil {
		return e.woken
	}
	if e.shape == "" {
		e.shape = ShapeOf(e.Pod)
	}
	w := q.woken[e.shape]
	if w == nil {
		w = &woken{pod: e.Pod}
		q.woken[e.shape] = w
	}
	e.woken = w
	return w
}

// wakes returns the last bind that a plugin's hint lets the pods of a shape hear of.
func (q *queue) wakes(w *woken) uint64 {
	f := q.f
	if w.binds == len(f.binds) {
		return w.last
	}
	profile, err := f.o.Profile(w.pod)
	for ; w.binds < len(f.binds); w.binds++ {
		b := f.binds[w.binds]
		event := engine.Event{Key: object.Key{Kind: "Pod", Namespace: b.pod.Namespace, Name: b.pod.Name}, Action: engine.Add, New: b.pod}
		waiter := engine.Waiter{State: f.State(), Pod: w.pod}
		if err != nil || slices.ContainsFunc(profile.Rules, func(p *engine.Plugin) bool { return p.Queues(&waiter, &event) }) {
			w.last = b.at
		}
	}
	return w.last
}

// hears reports whether something has happened since a pod's last attempt that may help it. Where
// time goes on, a bind helps those pods alone that a plugin's hint lets hear of it, whichever
// plugin rejected them.
func (q *queue) hears(e *entry) bool {
	f := q.f
	switch n := len(f.binds); {
	case f.heard(e.priority, e.seen), f.tainted > e.seen && (!q.lingers || e.honors):
		return true
	case n == 0 || f.binds[n-1].at <= e.seen:
		return false
	case !q.lingers || e.last == Failed:
		return true
	}
	return q.wakes(q.wokenOf(e)) > e.seen
}

// honorsTaints reports whether a pod has a hard spread constraint that leaves tainted nodes out:
// the emptiest domain may be one fewer then. No other pod is helped by a taint.
func honorsTaints(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Spec.TopologySpreadConstraints, func(c corev1.TopologySpreadConstraint) bool {
		return c.WhenUnsatisfiable == corev1.DoNotSchedule && c.NodeTaintsPolicy != nil && *c.NodeTaintsPolicy == corev1.NodeInclusionPolicyHonor
	})
}

// mayTry reports whether a pod waits that may have another attempt.
func (q *queue) mayTry(e *entry) bool {
	return e.place == waits && (q.l.Tries == 0 || e.tries < q.l.Tries) && !q.gated(e.Pod)
}

// tries reports whether a pod waits that may have another attempt.
func (q *queue) tries() bool { return slices.ContainsFunc(q.waiting, q.mayTry) }

// before is the order of the queue (plugins/queuesort/priority_sort.go Less).
func before(a, b *entry) int {
	return cmp.Or(cmp.Compare(b.priority, a.priority), cmp.Compare(a.order, b.order))
}

// gated reports whether a pod waits for its gates.
func (q *queue) gated(pod *corev1.Pod) bool {
	if len(pod.Spec.SchedulingGates) == 0 {
		return false
	}
	profile, err := q.f.o.Profile(pod)
	return err == nil && profile.Gates
}

// try makes one attempt.
func (q *queue) try(e *entry) error {
	if err := q.steps.Take(1); err != nil {
		return err
	}
	// A preemption may have taken its nomination.
	if pod := q.f.put[NameOf(e.Pod)]; pod != nil {
		e.Pod = pod
	}
	before := q.f.events
	at, err := q.attempt(e)
	if err != nil {
		return err
	}
	at.Waited = q.attempts - e.came
	e.Pod, e.last, e.failed, e.seen = at.Pod, at.Outcome, true, q.f.events
	e.tries++
	e.order = q.orders
	q.orders++
	q.attempts++
	switch at.Outcome {
	case engine.Scheduled:
		e.place = bound
	case engine.Preempting:
		if !q.lingers {
			e.seen = before // its victims' end is an event that may help it
		}
	}
	if q.each == nil {
		return nil
	}
	return q.each(e, at)
}

// attempt makes an attempt, unless an equal pod was tried in vain and nothing has changed since.
func (q *queue) attempt(e *entry) (*Attempt, error) {
	// The digest of a decision is of this pod alone.
	plain := !q.f.o.Digests && e.Pod.Status.NominatedNodeName == ""
	if plain && len(q.vain) > 0 {
		if e.shape == "" {
			e.shape = ShapeOf(e.Pod)
		}
		if v, ok := q.vain[e.shape]; ok && v.changes == q.f.changes {
			return &Attempt{Pod: e.Pod, Outcome: engine.UnschedulableOK, Message: v.message}, nil
		}
	}
	if e.tries == 0 && q.f.State().Pod(e.Pod.Namespace, e.Pod.Name) == nil {
		var err error
		if e.Pod, err = q.f.CreateClaims(e.Pod); err != nil {
			return nil, err
		}
	}
	at, err := q.f.attempt(q.ctx, e.Pod, q.lingers)
	if err == nil && plain && at.Outcome == engine.UnschedulableOK {
		if e.shape == "" {
			e.shape = ShapeOf(e.Pod)
		}
		q.vain[e.shape] = vain{q.f.changes, at.Message}
	}
	return at, err
}
