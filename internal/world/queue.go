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
// Where time goes on, hints of the plugins that rejected a pod say which events it hears of, and it
// is tried again after five minutes without one. Else every event may help.
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
	kinds   map[string]*kind // by shape
	// quiet is the last event at which no pod was to be tried, arrived whether a pod came since,
	// and asleep are those that waited then. restless reports that some hear of every event.
	quiet    uint64
	arrived  bool
	asleep   []*rejected
	sleeps   int
	restless bool
	// unseen is the least of the events that those which wait knew at their last attempts, and
	// flush the first instant at which one is tried again by time alone.
	unseen          uint64
	flush           time.Duration
	orders          int
	vain            bool        // an attempt was in vain
	booked          []*rejected // the pods of the next pass whose attempts will not be made
	passing         passing
	attempts, waves int
	stopped         bool
}

// entry is a pod of the queue.
type entry struct {
	Arrival
	priority int32
	turn     turn
	failed   bool   // its last attempt
	seen     uint64 // the fork's events that this attempt knew
	tries    int
	last     engine.Outcome
	kind     *kind     // nil: not looked up yet
	by       *rejected // what rejected it; nil: nothing that has hints
	place    place
	wave     int // the last pass in which it was to be tried
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

func newQueue(ctx context.Context, f *Fork) *queue {
	return &queue{f: f, ctx: ctx, steps: steps.Of(ctx), kinds: map[string]*kind{}}
}

// entry reads a pod that will come.
func (q *queue) entry(a Arrival) *entry {
	e := &entry{Arrival: a}
	if pod, _, err := decision.ResolvePriority(q.f.State(), e.Pod, q.f.o.Class); err == nil {
		e.priority = *pod.Spec.Priority
	}
	return e
}

// add has a pod come.
func (q *queue) add(e *entry) {
	q.orders++
	e.place, e.came, e.turn = waits, q.attempts, turn{at: q.f.now, order: q.orders}
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
		due, err := q.due()
		if err != nil {
			return err
		}
		if len(due) == 0 {
			q.sleep()
			return nil
		}
		for i := 0; i < len(due); i++ {
			e := due[i]
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
			if due, err = q.join(due, i); err != nil {
				return err
			}
		}
		q.waiting = slices.DeleteFunc(q.waiting, func(e *entry) bool { return e.place != waits })
	}
	return nil
}

// due lists the pods of the next pass, in their order.
func (q *queue) due() (due []*entry, err error) {
	flushes := q.flushes()
	q.passing.order = 0
	for _, e := range q.waiting {
		if !q.mayTry(e) {
			continue
		}
		q.locate(e)
		if !e.failed || q.hears(e) || flushes && e.flush(q.f.now-1) == q.f.now {
			due, e.wave = append(due, e), q.waves+1
		}
	}
	if len(due) > 0 {
		q.waves++
	}
	err = steps.Sort(q.steps, due, q.before)
	q.book()
	return due, err
}

// sleep notes that no pod is to be tried before something happens.
func (q *queue) sleep() {
	q.quiet, q.arrived, q.restless, q.asleep = q.f.events, false, !q.lingers, q.asleep[:0]
	if !q.lingers {
		return
	}
	q.sleeps++
	q.plan(q.f.now)
	for _, e := range q.waiting {
		if !e.failed || e.place != waits || q.gated(e.Pod) {
			continue
		}
		switch r := e.by; {
		case r == nil:
			q.restless = true
		case r.asleep != q.sleeps:
			r.asleep, r.oldest = q.sleeps, e.seen
			q.asleep = append(q.asleep, r)
		default:
			r.oldest = min(r.oldest, e.seen)
		}
	}
	q.forget()
}

// forget drops the events that the hints of all that wait have judged.
func (q *queue) forget() {
	clear(q.f.log)
	q.f.log = q.f.log[:0]
}

// stirred reports whether a pod may be to be tried since it was quiet. Those that wait are asked by
// what rejected them: there are many events, and many pods of one shape.
func (q *queue) stirred() bool {
	f := q.f
	switch {
	case q.flushes():
		return true
	case f.events == q.quiet:
		return false
	case q.restless && f.heard(math.MinInt32, q.quiet):
		return true
	}
	for _, r := range q.asleep {
		if q.wakes(r) > q.quiet || r.gained > q.quiet && r.ended > r.oldest {
			return true
		}
	}
	q.quiet = f.events
	q.book()
	q.forget()
	return false
}

// flushes reports whether a pod is tried again now by time alone, as something has happened since.
func (q *queue) flushes() bool {
	at, is := q.nextFlush()
	return is && at == q.f.now
}

// hears reports whether something has happened since a pod's last attempt that may help it. Where
// time goes on, hints of the plugins that rejected it say so.
func (q *queue) hears(e *entry) bool {
	if !q.lingers || e.by == nil {
		return q.f.heard(e.priority, e.seen)
	}
	r := e.by
	return q.wakes(r) > e.seen || min(r.gained, r.ended) > e.seen
}

// mayTry reports whether a pod waits that may have another attempt.
func (q *queue) mayTry(e *entry) bool {
	return e.place == waits && (q.l.Tries == 0 || e.tries < q.l.Tries) && !q.gated(e.Pod)
}

// tries reports whether a pod waits that may have another attempt.
func (q *queue) tries() bool { return slices.ContainsFunc(q.waiting, q.mayTry) }

// before is the order of the queue (plugins/queuesort/priority_sort.go Less).
func (q *queue) before(a, b *entry) int {
	return cmp.Or(cmp.Compare(b.priority, a.priority), q.stood(a).compare(q.stood(b)))
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
	q.orders++
	q.attempts++
	e.turn, e.by = q.turn(e), nil
	if q.lingers && at.Outcome != engine.Scheduled {
		e.by = q.rejectedBy(e, at.RejectedBy)
	}
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
	// Before its kind is looked up: pods whose claims bear their names are of no common shape.
	if e.tries == 0 && q.f.State().Pod(e.Pod.Namespace, e.Pod.Name) == nil {
		var err error
		if e.Pod, err = q.f.CreateClaims(e.Pod); err != nil {
			return nil, err
		}
	}
	// The digest of a decision is of this pod alone.
	plain := !q.f.o.Digests && e.Pod.Status.NominatedNodeName == ""
	if plain && q.vain {
		if v := &q.kindOf(e).vain; v.message != "" && v.changes == q.f.changes {
			return &Attempt{Pod: e.Pod, Outcome: engine.UnschedulableOK, Message: v.message, RejectedBy: v.by}, nil
		}
	}
	at, err := q.f.attempt(q.ctx, e.Pod, q.lingers)
	if err == nil && plain && at.Outcome == engine.UnschedulableOK {
		q.kindOf(e).vain, q.vain = vain{q.f.changes, at.Message, at.RejectedBy}, true
	}
	return at, err
}
