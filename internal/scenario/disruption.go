package scenario

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth/internal/engine"
	"berth/internal/podlife"
	"berth/internal/steps"
	"berth/internal/store"
)

// disruption runs pods that leave their nodes, and those that their controllers create instead, on
// seconds of its own. What happens in one second happens before a pod is tried.
type disruption struct {
	f       *Fork
	ctx     context.Context
	now     int64
	events  events
	budgets *budgets
	// start is how long pods take until they are ready whose status does not show it; assumed
	// counts them.
	start   int64
	assumed int

	steps   *steps.Counter
	out     []*Disrupted
	waiting []Arrival // created and without a node
	created map[podName]*created
	leaving map[podName]*Disrupted // stored as being deleted
	// preempted is how often pods in whose place one stands were preempted.
	preempted map[podName]int
	tried     uint64         // the fork's changes after the last attempts
	fresh     bool           // a pod was created since
	ended     map[string]int // pods that had ended before, by node; nil: not counted yet
	// left and made are called for each pod that leaves or is created; may be nil.
	left func(*corev1.Pod)
	made func(*corev1.Pod, *Replacement)
}

// maxPreempted is how often pods that follow each other may be preempted: there are pods whose
// preemptions never end, as each frees what the other needs.
const maxPreempted = 5

// leaveSteps is what the end of a pod takes, in steps of a Counter.
const leaveSteps = 200

// created is a pod that a controller made.
type created struct {
	rec  *Replacement
	took int64       // from its bind until it is ready
	pod  *corev1.Pod // on its node; nil before
}

// newDisruption starts at second 0. given is how long pods take to start, instead of the default.
func newDisruption(ctx context.Context, f *Fork, given *int64) (*disruption, error) {
	if err := checkNumber("startSeconds", given, mostSeconds); err != nil {
		return nil, err
	}
	start := int64(DefaultStart)
	if given != nil {
		start = *given
	}
	b, err := readBudgets(ctx, f.base)
	if err != nil {
		return nil, err
	}
	return &disruption{
		f: f, ctx: ctx, steps: steps.Of(ctx), budgets: b, start: start, out: []*Disrupted{},
		created: map[podName]*created{}, preempted: map[podName]int{}, leaving: map[podName]*Disrupted{},
	}, nil
}

// instant is the time of the current second.
func (d *disruption) instant() time.Time {
	return d.f.o.Now.Add(time.Duration(d.now) * time.Second)
}

// pod returns a pod of the fork, or one that an attempt has just taken out of it.
func (d *disruption) pod(n podName) (*corev1.Pod, error) {
	if c := d.created[n]; c != nil && c.pod != nil {
		return c.pod, nil
	}
	p, err := d.f.Pod(n.namespace, n.name)
	if errors.Is(err, store.ErrNotFound) {
		return d.f.base.Pod(n.namespace, n.name)
	}
	return p, err
}

// leave begins the end of a pod, of which rec has the cause. It is gone after grace seconds;
// below 0 it stays Terminating.
func (d *disruption) leave(pod *corev1.Pod, rec *Disrupted, grace int64) error {
	if err := d.steps.Take(leaveSteps); err != nil {
		return err
	}
	name := nameOf(pod)
	rec.Namespace, rec.Name, rec.Node, rec.Owner, rec.LeavesAfterSeconds = pod.Namespace, pod.Name, pod.Spec.NodeName, ownerOf(pod), d.now
	for _, b := range d.budgets.of(pod) {
		rec.Budgets = append(rec.Budgets, b.pdb.Name)
	}
	d.out = append(d.out, rec)
	if isReady(pod) && pod.DeletionTimestamp == nil {
		d.budgets.changed(d.f, pod, -1)
	}
	if c := d.created[name]; c != nil {
		d.move(c, nil)
	}
	if d.left != nil {
		d.left(pod)
	}
	succeeds, why := successionOf(pod)
	if rec.Cause == causeScaleDown {
		succeeds, why = noSuccessor, "its controller wants fewer pods"
	}
	rec.NotReplaced = why
	switch succeeds {
	case atDeletion:
		if err := d.create(pod, succeeds, rec); err != nil {
			return err
		}
	case afterBackoff:
		d.events.schedule(d.now+jobBackoff, func() error { return d.create(pod, succeeds, rec) })
	}
	if grace < 0 {
		if succeeds == onceGone {
			rec.NotReplaced = rec.Owner + " waits until the pod is gone, and its node ends no pod any more"
		}
		return d.terminate(pod, rec, podlife.GracePeriod(pod))
	}
	ends := d.now + grace
	rec.GoneAfterSeconds = &ends
	if grace == 0 {
		return d.gone(pod, rec)
	}
	d.events.schedule(ends, func() error { return d.gone(pod, rec) })
	return d.terminate(pod, rec, grace)
}

// gone ends a pod that left.
func (d *disruption) gone(pod *corev1.Pod, rec *Disrupted) error {
	if err := d.steps.Take(leaveSteps); err != nil {
		return err
	}
	at := d.now
	rec.GoneAfterSeconds = &at
	if rec.Cause != causePreemption { // whose victims are gone already
		if err := d.f.Delete(pod.Namespace, pod.Name); err != nil {
			return err
		}
	}
	delete(d.leaving, nameOf(pod))
	if err := d.f.releaseClaims(pod); err != nil {
		return err
	}
	succeeds, why := successionOf(pod)
	if succeeds != onceGone {
		return nil
	}
	rec.NotReplaced = why
	if isDaemon(pod) && d.f.State().Nodes().Row(pod.Spec.NodeName) < 0 {
		rec.NotReplaced = "its node is gone"
		return nil
	}
	return d.create(pod, succeeds, rec)
}

// terminate stores a pod as one that is being deleted: it keeps its room, and spreads count it no
// more.
func (d *disruption) terminate(pod *corev1.Pod, rec *Disrupted, grace int64) error {
	d.leaving[nameOf(pod)] = rec
	p := podlife.BeginDelete(pod, max(1, grace), d.instant())
	if p == nil {
		return nil
	}
	return d.f.Put(d.ctx, p)
}

// create has a controller make the pod that takes another one's place.
func (d *disruption) create(old *corev1.Pod, s succession, rec *Disrupted) error {
	lineage := d.preempted[nameOf(old)]
	if rec.Cause == causePreemption {
		lineage++
	}
	if lineage > maxPreempted {
		rec.NotReplaced = fmt.Sprintf("it was preempted %d times, and is not followed any further", maxPreempted)
		return nil
	}
	st := d.f.State()
	p := successor(old, s, func(name string) bool {
		return st.Pod(old.Namespace, name) == nil && d.created[podName{old.Namespace, name}] == nil
	}, d.instant())
	took, err := d.startOf(old)
	if err != nil {
		return err
	}
	if lineage > 0 {
		d.preempted[nameOf(p)] = lineage
	}
	rec.Replacement, err = d.arrive(p, took)
	return err
}

// arrive has a controller create a pod, which takes some time from its bind until it is ready.
func (d *disruption) arrive(p *corev1.Pod, took int64) (*Replacement, error) {
	p, err := d.f.createClaims(p)
	if err != nil {
		return nil, err
	}
	rec := &Replacement{Name: p.Name, CreatedAfterSeconds: d.now}
	had := d.created[nameOf(p)]
	d.created[nameOf(p)] = &created{rec: rec, took: took}
	d.f.onUndo(func() {
		if d.created[nameOf(p)] = had; had == nil {
			delete(d.created, nameOf(p))
		}
	})
	d.waiting = append(d.waiting, Arrival{Pod: p})
	d.fresh = true
	if d.made != nil {
		d.made(p, rec)
	}
	return rec, nil
}

// startOf returns how long the pod that takes another one's place needs until it is ready.
func (d *disruption) startOf(old *corev1.Pod) (seconds int64, err error) {
	if c := d.created[nameOf(old)]; c != nil {
		return c.took, nil
	}
	before, err := d.f.base.Pod(old.Namespace, old.Name) // which was ready, unless its node died
	if errors.Is(err, store.ErrNotFound) {
		before, err = old, nil
	}
	if err != nil {
		return 0, err
	}
	if took, ok := startSeconds(before); ok {
		return took, nil
	}
	d.assumed++
	return d.start, nil
}

// schedulePods tries the pods that wait, until no attempt could have another outcome.
func (d *disruption) schedulePods() error {
	for len(d.waiting) > 0 && (d.fresh || d.tried != d.f.Changes()) {
		arrivals := d.waiting
		d.waiting, d.fresh = nil, false
		out, err := d.f.Run(d.ctx, arrivals, Limits{}, d.attempted)
		if err != nil {
			return err
		}
		for _, w := range append(out.Waiting, out.Gated...) {
			d.waiting = append(d.waiting, Arrival{Pod: w.Pod})
		}
		d.tried = d.f.Changes()
	}
	return nil
}

// attempted writes down what an attempt did.
func (d *disruption) attempted(at *Attempt) error {
	c := d.created[nameOf(at.Pod)]
	if at.Message != "" {
		c.rec.Message = at.Message
	}
	switch at.Outcome {
	case engine.Scheduled:
		d.move(c, at.Pod)
		c.rec.Node, c.rec.WaitedFor, c.rec.Message = at.Node, c.rec.Message, ""
		pod := at.Pod
		d.events.schedule(d.now+c.took, func() error { return d.started(c, pod) })
	case engine.Preempting:
		for _, v := range at.Victims {
			n := podName{v.Namespace, v.Name}
			if d.leaving[n] != nil {
				continue // its place was taken when its deletion began
			}
			victim, err := d.pod(n)
			if err != nil {
				return err
			}
			if err := d.leave(victim, &Disrupted{Cause: causePreemption}, 0); err != nil {
				return err
			}
		}
	}
	return nil
}

// move notes where a created pod is; nil: on no node.
func (d *disruption) move(c *created, pod *corev1.Pod) {
	was := c.pod
	c.pod = pod
	d.f.onUndo(func() { c.pod = was })
}

// started makes a pod ready, unless it has left.
func (d *disruption) started(c *created, pod *corev1.Pod) error {
	if c.pod != pod {
		return nil
	}
	at := d.now
	c.rec.ReadyAfterSeconds = &at
	ready := *pod
	began, now := metav1.NewTime(d.instant().Add(-time.Duration(c.took)*time.Second)), metav1.NewTime(d.instant())
	ready.Status.Phase, ready.Status.StartTime = corev1.PodRunning, &began
	ready.Status.Conditions = append(ready.Status.Conditions[:len(ready.Status.Conditions):len(ready.Status.Conditions)],
		corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: now})
	d.move(c, &ready)
	d.budgets.changed(d.f, &ready, 1)
	return d.f.Put(d.ctx, &ready)
}

// advance goes on to a second: all that is due until then happens, second by second.
func (d *disruption) advance(to int64) error {
	for {
		at, ok := d.events.next()
		if !ok || at > to {
			break
		}
		d.now = max(d.now, at)
		for ok && at <= d.now {
			if err := d.events.pop().do(); err != nil {
				return err
			}
			at, ok = d.events.next()
		}
		if err := d.schedulePods(); err != nil {
			return err
		}
	}
	d.now = max(d.now, to)
	return d.schedulePods()
}

// finish lets all happen that is still to come.
func (d *disruption) finish() error {
	for {
		at, ok := d.events.next()
		if !ok {
			return d.schedulePods()
		}
		if err := d.advance(at); err != nil {
			return err
		}
	}
}
