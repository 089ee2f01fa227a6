package world

import (
	"context"
	"errors"
	"math"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/decision"
	"berth/internal/engine"
	"berth/internal/engine/explain"
	"berth/internal/engine/preempt"
	"berth/internal/kube/object"
	"berth/internal/store"
)

// noted is an event with its number.
type noted struct {
	engine.Event
	n uint64
	// gains reports that a node got a taint and changed in nothing else, ends that a pod is about
	// to end: spreads count it no more, and no plugin has a hint for that.
	gains, ends bool
}

// note counts an event that kube-scheduler's queue hears of, and keeps it for hints.
func (f *Fork) note(e engine.Event) { f.noteNode(e, false) }

func (f *Fork) noteNode(e engine.Event, gains bool) {
	f.events++
	if e.UpTo == nil {
		f.everyone = f.events
	} else {
		if f.upTo == nil {
			f.upTo = map[int32]uint64{}
		}
		f.upTo[*e.UpTo] = f.events
	}
	if f.logs {
		f.log = append(f.log, noted{Event: e, n: f.events, gains: gains})
	}
}

// hear has pods that wait hear of a change of an object of any kind but Pod; nil where it was or is
// not there. Without hints every change is an event.
func (f *Fork) hear(k object.Key, before, after any) { f.hearNode(k, before, after, false) }

func (f *Fork) hearNode(k object.Key, before, after any, gains bool) {
	if !f.logs {
		f.note(engine.Event{Key: k})
		return
	}
	for _, e := range engine.Events(k, before, after) {
		f.noteNode(e, gains)
	}
}

func podKey(n PodName) object.Key {
	return object.Key{Kind: "Pod", Namespace: n.Namespace, Name: n.Name}
}

// hearPod has pods that wait hear of one that comes to a node, leaves it or is over; after is nil
// where it goes. Of one without a node they hear where it was nominated
// (pkg/scheduler/eventhandlers.go addPod, updatePod, deletePod).
func (f *Fork) hearPod(n PodName, after *corev1.Pod) error {
	e := engine.Event{Key: podKey(n)}
	if !f.logs {
		f.note(e)
		return nil
	}
	before, err := f.Pod(n.Namespace, n.Name)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	was, is := before != nil && !hasEnded(before), after != nil && !hasEnded(after)
	switch on := was && before.Spec.NodeName != ""; {
	case !on && is && after.Spec.NodeName != "":
		e.Action, e.New = engine.Add, after
		f.note(e)
	case on && !is:
		e.Action, e.Old = engine.Delete, before
		f.note(e)
	case was && !is && before.Status.NominatedNodeName != "":
		return f.lostNomination(before)
	}
	return nil
}

// hearEnds notes that a pod of a node is about to end.
func (f *Fork) hearEnds(pod *corev1.Pod) {
	if f.logs && pod.Spec.NodeName != "" {
		f.events++
		e := engine.Event{Key: podKey(NameOf(pod)), Action: engine.Delete, Old: pod}
		f.log = append(f.log, noted{Event: e, n: f.events, ends: true})
	}
}

// lostNomination has the pods of no higher priority hear of the room that a pod without a node
// leaves on the one that it was nominated to (eventhandlers.go updatePodInSchedulingQueue).
func (f *Fork) lostNomination(pod *corev1.Pod) error {
	resolved, _, err := decision.ResolvePriority(f.walk.State(), pod, f.o.Class)
	if err == nil {
		f.note(engine.Event{Key: podKey(NameOf(pod)), Action: engine.Delete, Old: pod, UpTo: resolved.Spec.Priority})
	}
	return err
}

// heard reports whether a pod of a priority hears of an event since a number of them.
func (f *Fork) heard(priority int32, since uint64) bool {
	if f.everyone > since {
		return true
	}
	for p, at := range f.upTo {
		if p >= priority && at > since {
			return true
		}
	}
	return false
}

// kind is what the pods of one shape have in common.
type kind struct {
	pod      *corev1.Pod // one of them
	priority int32
	honors   bool // it has a spread that leaves tainted nodes out
	profile  *engine.Profile
	vain     vain
	by       []*rejected
}

// vain is an attempt that found no node: the fork's changes that it knew, its message, and the
// rules that rejected the pod.
type vain struct {
	changes uint64
	message string
	by      []string
}

// rejected are the pods of a kind that the same rules rejected at their last attempts: hints tell
// them apart no further.
type rejected struct {
	of        *kind
	names     []string
	rules     []*engine.Plugin
	spread    *engine.Plugin // among them; nil: it is not
	nominated bool           // to a node
	// upTo is the last event that their hints have judged, last the last one that may help them.
	upTo, last uint64
	// gained is the last event of a node that got a taint, until they have had their turn, and
	// ended that of a pod which their spreads count no more. Both together may help those that had
	// not been tried since; oldest is the last event that the first of them knew.
	gained, ended, oldest uint64
	// passes are those whose attempts at them were in vain and were not made.
	passes *pass
	booked bool // of the present pass
	asleep int  // which time they were put to those that sleep
}

// kindOf returns the kind of a pod.
func (q *queue) kindOf(e *entry) *kind {
	if e.kind != nil {
		return e.kind
	}
	shape := ShapeOf(e.Pod)
	k := q.kinds[shape]
	if k == nil {
		k = &kind{pod: e.Pod, priority: e.priority, honors: honorsTaints(e.Pod)}
		k.profile, _ = q.f.o.Profile(e.Pod) // without one each attempt is an error
		q.kinds[shape] = k
	}
	e.kind = k
	return k
}

// rejectedBy returns the pods that the rules of these names rejected, like one of them; nil where
// none is known: those hear of every event (backend/queue/scheduling_queue.go isPodWorthRequeuing).
func (q *queue) rejectedBy(e *entry, names []string) *rejected {
	k := q.kindOf(e)
	if len(names) == 0 || k.profile == nil {
		return nil
	}
	nominated := e.Pod.Status.NominatedNodeName != ""
	for _, r := range k.by {
		if slices.Equal(r.names, names) && r.nominated == nominated {
			r.upTo = max(r.upTo, q.passing.begun) // if no pod was among them, nothing before matters
			return r
		}
	}
	r := &rejected{of: k, names: names, nominated: nominated, upTo: q.passing.begun}
	for _, name := range names {
		rule := k.profile.RuleNamed(name)
		if rule == nil {
			return nil // it is no plugin of the profile, and has no hints
		}
		if r.rules = append(r.rules, rule); name == "PodTopologySpread" {
			r.spread = rule
		}
	}
	k.by = append(k.by, r)
	return r
}

// wakes returns the last event that a hint of the rules which rejected them lets pods hear of. Of a
// node that got a taint they hear, and are tried in vain unless their spreads leave such nodes out,
// or count fewer pods by now, or it is the one that they are nominated to: those attempts are not
// made, and only move them back in the queue.
func (q *queue) wakes(r *rejected) uint64 {
	f := q.f
	if r.upTo == f.events {
		return r.last
	}
	w := engine.Waiter{State: f.State(), Pod: r.of.pod}
	for i := len(f.log) - 1; i >= 0 && f.log[i].n > r.upTo; i-- {
		e := &f.log[i]
		if e.ends {
			if r.spread != nil && r.ended <= r.upTo && r.spread.Queues(&w, &e.Event) {
				r.ended = e.n
			}
			continue
		}
		vain := e.gains && !r.of.honors && !r.nominated
		if vain && r.gained > r.upTo || e.UpTo != nil && r.of.priority > *e.UpTo ||
			!slices.ContainsFunc(r.rules, func(p *engine.Plugin) bool { return p.Queues(&w, &e.Event) }) {
			continue
		}
		if !vain {
			r.last = e.n
			break
		}
		r.gained = e.n
	}
	r.upTo = f.events
	if r.gained > 0 && !r.booked {
		r.booked = true
		q.booked = append(q.booked, r)
	}
	return r.last
}

// honorsTaints reports whether a pod has a hard spread constraint that leaves tainted nodes out:
// the emptiest domain may be one fewer then. No other pod is helped by a taint.
func honorsTaints(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Spec.TopologySpreadConstraints, func(c corev1.TopologySpreadConstraint) bool {
		return c.WhenUnsatisfiable == corev1.DoNotSchedule && c.NodeTaintsPolicy != nil && *c.NodeTaintsPolicy == corev1.NodeInclusionPolicyHonor
	})
}

// stale is the last event after which another attempt would be in vain, as it was in vain before:
// none after a preemption, which may have begun ends of pods.
func (e *entry) stale() uint64 {
	if e.last == engine.Preempting {
		return 0
	}
	return e.seen
}

// plan works out which events pods that wait have not been tried after, and when the first one is
// tried again by time alone after an instant.
func (q *queue) plan(after time.Duration) {
	q.unseen, q.flush = math.MaxUint64, math.MaxInt64
	for _, e := range q.waiting {
		if e.failed && e.place == waits && !q.gated(e.Pod) {
			q.locate(e)
			q.unseen, q.flush = min(q.unseen, e.stale()), min(q.flush, e.flush(after))
		}
	}
}

// nextFlush returns the next instant, or the present one, at which a pod is tried again by time
// alone; false where that can change nothing.
func (q *queue) nextFlush() (time.Duration, bool) {
	if q.triesAgain() && q.flush < q.f.now {
		q.plan(q.f.now - 1) // nothing had happened by then
	}
	return q.flush, q.triesAgain()
}

// triesAgain reports whether something has happened that a pod which waits has not been tried
// after.
func (q *queue) triesAgain() bool { return q.lingers && q.unseen < q.f.events }

// helps reports whether a pod that is tried again by time alone would find a node, or change
// anything, if nothing else happens before. If none does, they count as tried, and futile is called
// with what each attempt says.
func (q *queue) helps(futile func(e *entry, message string)) (bool, error) {
	if !q.triesAgain() {
		return false, nil
	}
	var list []*entry
	says := map[*entry]string{}
	for _, e := range q.waiting {
		if e.place != waits || !e.failed || e.stale() == q.f.events || q.gated(e.Pod) {
			continue
		}
		if err := q.steps.Take(1); err != nil {
			return false, err
		}
		v, plain := &q.kindOf(e).vain, e.Pod.Status.NominatedNodeName == ""
		if !plain || v.message == "" || v.changes != q.f.changes {
			next, err := q.f.tryOut(q.ctx, e.Pod)
			if err != nil || next == nil {
				return err == nil, err
			}
			if plain && len(next.by) > 0 {
				*v, q.vain = *next, true
			}
			v = next
		}
		list, says[e] = append(list, e), v.message
	}
	for _, e := range list {
		if e.seen = q.f.events; e.last == engine.Preempting {
			e.last = engine.UnschedulableOK
		}
		futile(e, says[e])
	}
	q.unseen = q.f.events
	return false, nil
}

// tryOut returns what an attempt in vain would say; nil where an attempt would change something.
func (f *Fork) tryOut(ctx context.Context, pod *corev1.Pod) (*vain, error) {
	v := &vain{changes: f.changes}
	pod, _, err := decision.ResolvePriority(f.walk.State(), pod, f.o.Class)
	if err == nil {
		var r *engine.Result
		if r, err = f.Decide(ctx, pod); err == nil {
			defer r.Release()
			nominated := pod.Status.NominatedNodeName
			changes := r.Outcome != engine.UnschedulableOK || nominated != "" && preempt.ClearsNomination(r)
			if r.Outcome == engine.Preempting && nominated == r.NominatedNode() {
				changes = preempts(preempt.Victims(r)) // else all that it waits for goes already
			}
			if v.message, v.by = explain.Message(r), r.Rejectors(); changes {
				return nil, nil
			}
		}
	}
	if bad := (*decision.Error)(nil); errors.As(err, &bad) {
		v.message, err = bad.Detail, nil
	}
	return v, err
}
