package scenario

import (
	"cmp"
	"context"
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

// Waiting is a pod that has no node at the end of a run.
type Waiting struct {
	Pod *corev1.Pod
	// Last is the outcome of its last attempt; empty where it had none.
	Last engine.Outcome
}

// Outcome is what a run did.
type Outcome struct {
	// Placed counts the arrivals that are on a node at the end, or left it when their time was
	// over. Evicted counts those that another one's preemption took off it.
	Placed, Evicted int
	// Preemptions counts attempts that evicted pods, Victims the pods that they evicted.
	Preemptions, Victims int
	// Attempts counts all attempts. Waves counts the passes over the queue.
	Attempts, Waves int
	// Waiting are the arrivals without a node, in the order in which they would be tried; Gated are
	// those that wait for their gates.
	Waiting, Gated []Waiting
	// Stopped reports that the run ended by its limit on attempts before it was idle.
	Stopped bool
}

// Run has pods arrive and be tried until the fork is idle: no pod waits that a change since its
// last attempt could help.
//
// The queue is kube-scheduler's in ordinal time: higher priority first, then who came, or failed
// last, earlier (plugins/queuesort Less). Who fails waits until all others have had their turn and
// something has changed, as a pod in back-off does, which is popped once nothing else is active
// (backend/queue/active_queue.go unlockedPop, feature PopFromBackoffQ). Every change may help:
// hints of plugins are not consulted, so that there may be more attempts in vain than in a cluster.
//
// Each is called after each attempt and may be nil. Its argument is valid for the call.
func (f *Fork) Run(ctx context.Context, arrivals []Arrival, l Limits, each func(*Attempt) error) (*Outcome, error) {
	r := &run{f: f, ctx: ctx, l: l, each: each, steps: steps.Of(ctx), known: map[podName]*entry{}, vain: map[string]vain{}, out: &Outcome{}}
	if err := r.enter(arrivals); err != nil {
		return nil, err
	}
	for !r.out.Stopped {
		if more, err := r.next(); err != nil {
			return nil, err
		} else if !more {
			break
		}
		if err := r.drain(); err != nil {
			return nil, err
		}
	}
	return r.end(), nil
}

// entry is a pod of a run.
type entry struct {
	Arrival
	priority int32
	order    int    // among those of its priority: of its arrival or its last attempt
	failed   bool   // its last attempt
	seen     uint64 // the fork's changes that this attempt knew
	tries    int
	last     engine.Outcome
	shape    string
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

type run struct {
	f     *Fork
	ctx   context.Context
	l     Limits
	each  func(*Attempt) error
	steps *steps.Counter
	out   *Outcome

	coming  []*entry // by time, then as listed
	waiting []*entry
	leaving events
	known   map[podName]*entry
	vain    map[string]vain // by shape
	orders  int
	now     time.Duration
}

// vain is an attempt that found no node: the fork's changes that it knew, and its message.
type vain struct {
	changes uint64
	message string
}

// enter reads the arrivals.
func (r *run) enter(arrivals []Arrival) error {
	st := r.f.State()
	for i := range arrivals {
		if err := r.steps.Take(1); err != nil {
			return err
		}
		e := &entry{Arrival: arrivals[i]}
		if r.known[nameOf(e.Pod)] != nil {
			return decision.Errorf(decision.Invalid, "arrivals", "pod %s arrives twice", nameOf(e.Pod))
		}
		if held := st.Pod(e.Pod.Namespace, e.Pod.Name); held != nil && (held.NodeName != "" || held.UID != string(e.Pod.UID)) {
			return decision.Errorf(decision.Invalid, "arrivals", "pod %s is in %s already", nameOf(e.Pod), r.f.base.ID())
		}
		r.known[nameOf(e.Pod)] = e
		if pod, _, err := decision.ResolvePriority(st, e.Pod, r.f.o.Class); err == nil {
			e.priority = *pod.Spec.Priority
		}
		r.coming = append(r.coming, e)
	}
	slices.SortStableFunc(r.coming, func(a, b *entry) int { return cmp.Compare(a.At, b.At) })
	return nil
}

// next goes to the next instant at which pods leave or arrive; false where there is none. Pods that
// leave when no other arrives and none waits are of no account: the end is the state after the last
// attempt.
func (r *run) next() (bool, error) {
	ends, leaves := r.leaving.next()
	switch {
	case len(r.coming) > 0 && (!leaves || int64(r.coming[0].At) <= ends):
		r.now = r.coming[0].At
	case leaves && (len(r.coming) > 0 || slices.ContainsFunc(r.waiting, r.mayTry)):
		r.now = time.Duration(ends)
	default:
		return false, nil
	}
	for leaves && ends == int64(r.now) {
		if err := r.leaving.pop().do(); err != nil {
			return false, err
		}
		ends, leaves = r.leaving.next()
	}
	n := 0
	for n < len(r.coming) && r.coming[n].At == r.now {
		r.coming[n].place, r.coming[n].order, r.coming[n].came = waits, r.orders, r.out.Attempts
		r.orders++
		n++
	}
	r.waiting = append(r.waiting, r.coming[:n]...)
	r.coming = r.coming[n:]
	return true, nil
}

// drain passes over the queue until nothing in it is due.
func (r *run) drain() error {
	for {
		var due []*entry
		for _, e := range r.waiting {
			if r.mayTry(e) && !(e.failed && e.seen == r.f.changes) {
				due = append(due, e)
			}
		}
		if len(due) == 0 {
			return nil
		}
		if err := steps.Sort(r.steps, due, before); err != nil {
			return err
		}
		r.out.Waves++
		for _, e := range due {
			if r.l.Attempts > 0 && r.out.Attempts >= r.l.Attempts {
				r.out.Stopped = true
				return nil
			}
			if err := r.try(e); err != nil {
				return err
			}
		}
		r.waiting = slices.DeleteFunc(r.waiting, func(e *entry) bool { return e.place != waits })
	}
}

// mayTry reports whether a pod waits that may have another attempt.
func (r *run) mayTry(e *entry) bool {
	return e.place == waits && (r.l.Tries == 0 || e.tries < r.l.Tries) && !r.gated(e.Pod)
}

// before is the order of the queue (plugins/queuesort/priority_sort.go Less).
func before(a, b *entry) int {
	return cmp.Or(cmp.Compare(b.priority, a.priority), cmp.Compare(a.order, b.order))
}

// gated reports whether a pod waits for its gates.
func (r *run) gated(pod *corev1.Pod) bool {
	if len(pod.Spec.SchedulingGates) == 0 {
		return false
	}
	profile, err := r.f.o.profile(pod)
	return err == nil && profile.Gates
}

// try makes one attempt.
func (r *run) try(e *entry) error {
	if err := r.steps.Take(1); err != nil {
		return err
	}
	// A preemption may have taken its nomination.
	if pod := r.f.put[nameOf(e.Pod)]; pod != nil {
		e.Pod = pod
	}
	before := r.f.changes
	at, err := r.attempt(e)
	if err != nil {
		return err
	}
	at.Waited = r.out.Attempts - e.came
	e.Pod, e.last, e.failed, e.seen = at.Pod, at.Outcome, true, r.f.changes
	e.tries++
	e.order = r.orders
	r.orders++
	r.out.Attempts++
	switch at.Outcome {
	case engine.Scheduled:
		e.place = bound
		if e.Duration > 0 {
			r.leaving.schedule(int64(r.now+e.Duration), func() error { return r.leave(e) })
		}
	case engine.Preempting:
		e.seen = before // its victims' end is a change that may help it
		r.out.Preemptions++
		r.out.Victims += len(at.Victims)
		for _, v := range at.Victims {
			if of := r.known[podName{v.Namespace, v.Name}]; of != nil && of.place == bound {
				of.place = evicted
				r.out.Evicted++
			}
		}
	}
	if r.each == nil {
		return nil
	}
	return r.each(at)
}

// leave takes a pod off its node, unless it was evicted.
func (r *run) leave(e *entry) error {
	if e.place != bound {
		return nil
	}
	e.place = left
	return r.f.Delete(e.Pod.Namespace, e.Pod.Name)
}

// attempt makes an attempt, unless an equal pod was tried in vain and nothing has changed since.
func (r *run) attempt(e *entry) (*Attempt, error) {
	// The digest of a decision is of this pod alone.
	plain := !r.f.o.Digests && e.Pod.Status.NominatedNodeName == ""
	if plain && len(r.vain) > 0 {
		if e.shape == "" {
			e.shape = shapeOf(e.Pod)
		}
		if v, ok := r.vain[e.shape]; ok && v.changes == r.f.changes {
			return &Attempt{Pod: e.Pod, Outcome: engine.UnschedulableOK, Message: v.message}, nil
		}
	}
	if e.tries == 0 && r.f.State().Pod(e.Pod.Namespace, e.Pod.Name) == nil {
		var err error
		if e.Pod, err = r.f.createClaims(e.Pod); err != nil {
			return nil, err
		}
	}
	at, err := r.f.Attempt(r.ctx, e.Pod)
	if err == nil && plain && at.Outcome == engine.UnschedulableOK {
		if e.shape == "" {
			e.shape = shapeOf(e.Pod)
		}
		r.vain[e.shape] = vain{r.f.changes, at.Message}
	}
	return at, err
}

// end sums the run up.
func (r *run) end() *Outcome {
	for _, e := range r.known {
		if e.place == bound || e.place == left {
			r.out.Placed++
		}
	}
	rest := slices.DeleteFunc(append(r.waiting, r.coming...), func(e *entry) bool { return e.place == bound || e.place == evicted || e.place == left })
	slices.SortFunc(rest, before)
	for _, e := range rest {
		w := Waiting{e.Pod, e.last}
		if r.gated(e.Pod) {
			r.out.Gated = append(r.out.Gated, w)
		} else {
			r.out.Waiting = append(r.out.Waiting, w)
		}
	}
	return r.out
}
