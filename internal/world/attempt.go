package world

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"

	"berth/internal/decision"
	"berth/internal/engine"
	"berth/internal/engine/explain"
	"berth/internal/engine/explain/digest"
	"berth/internal/engine/footprint"
	"berth/internal/engine/preempt"
	"berth/internal/kube/object"
	"berth/internal/memory"
	"berth/internal/revision"
)

// Failed is the outcome of an attempt that ended with an error, such as a rule that could not
// judge. kube-scheduler tries such a pod again by time alone.
const Failed engine.Outcome = "Error"

// Attempt is one decision about a pod, and what it changed.
type Attempt struct {
	// Pod is the pod as the attempt leaves it: on its node, with a nominated node, or as it was.
	Pod     *corev1.Pod
	Outcome engine.Outcome
	// Node is the node that the pod was bound to, or nominated to by a preemption.
	Node string
	// Victims are the pods that the preemption evicted.
	Victims []engine.Victim
	// Message is kube-scheduler's summary where the pod got no node.
	Message string
	// RejectedBy are the rules that rejected a pod which was not bound (engine.Result.Rejectors).
	RejectedBy []string
	// Waited is how many attempts of a run came between the pod's arrival and this one.
	Waited int
	// Digest is that of the decision, where Options.Digests wants it.
	Digest string
}

// Decide makes a decision about a pod on the state as it is now, and changes nothing. The pod need
// not be in the state. The result is valid until the next change or question, and must be released
// before it. An error of kind decision.Invalid means that no decision can be made about this pod.
func (f *Fork) Decide(ctx context.Context, pod *corev1.Pod) (*engine.Result, error) {
	profile, err := f.o.Profile(pod)
	if err != nil {
		return nil, err
	}
	opts := engine.Options{Context: ctx, MaxSteps: f.o.MaxSteps, Now: f.o.Now.Add(f.now), NoPreemption: f.o.NoPreemption, Candidates: f.o.Candidates, EqualsBy: f.equalsBy(pod)}
	st := f.walk.State()
	working, free := memory.Within(ctx)
	defer free()
	if err := memory.Take(working, footprint.Decision(st, pod, profile, opts)); err != nil {
		return nil, fmt.Errorf("decide: %w", err)
	}
	r, err := f.walk.Decide(pod, profile, opts)
	return r, decision.EngineError(ctx, err)
}

// equalsBy returns what chooses among equal nodes for a pod, by the salt of the run if it has one.
func (f *Fork) equalsBy(pod *corev1.Pod) string {
	plain := decision.EqualsBy(pod)
	if !f.o.Chance.Salted() {
		return plain
	}
	return f.o.Chance.Chooser(cmp.Or(plain, string(pod.UID)))
}

// Attempt decides about a pod and carries the outcome out: a pod that fits is bound with all that
// kube-scheduler writes beside it; a preemption's victims go at once, the pod is nominated to their
// node, and pods of lower priority lose their nomination to it (pkg/scheduler/schedule_one.go
// schedulingCycle, bindingCycle, handleSchedulingFailure; framework/preemption prepareCandidate).
// An error ends the scenario; a pod that cannot be decided on is an attempt with outcome Failed.
func (f *Fork) Attempt(ctx context.Context, pod *corev1.Pod) (*Attempt, error) {
	return f.attempt(ctx, pod, false)
}

// attempt is Attempt. With lingers a preemption's victims stay, for the caller to end them.
func (f *Fork) attempt(ctx context.Context, pod *corev1.Pod, lingers bool) (*Attempt, error) {
	at := &Attempt{Pod: pod}
	failed := func(err error) (*Attempt, error) {
		var bad *decision.Error
		if !errors.As(err, &bad) {
			return nil, err
		}
		at.Outcome, at.Message = Failed, bad.Detail
		return at, nil
	}
	pod, _, err := decision.ResolvePriority(f.walk.State(), pod, f.o.Class)
	if err != nil {
		return failed(err)
	}
	r, err := f.Decide(ctx, pod)
	if err != nil {
		return failed(err)
	}
	at.Outcome = r.Outcome
	if f.o.Digests {
		at.Digest = digest.Of(r)
	}
	if f.logs && r.Outcome != engine.Scheduled {
		at.RejectedBy = r.Rejectors()
	}
	switch r.Outcome {
	case engine.Scheduled:
		if r.Scored && f.o.Chance.Counts() { // schedule_one.go selectHost
			f.Choice(ChosenNode, "pod "+NameOf(pod).String(), "nodes", 1, r.Best.Count())
		}
		err = f.bind(ctx, at, pod, r)
	case engine.Preempting:
		err = f.preempt(ctx, at, pod, r, lingers)
	default:
		at.Message = explain.Message(r)
		clears := preempt.ClearsNomination(r)
		r.Release()
		if clears && pod.Status.NominatedNodeName != "" {
			at.Pod, err = f.nominate(ctx, pod, "")
		}
	}
	if err != nil {
		return failed(err)
	}
	return at, nil
}

// bind puts the pod on its node, with the claims and volumes that the bind writes.
func (f *Fork) bind(ctx context.Context, at *Attempt, pod *corev1.Pod, r *engine.Result) error {
	if len(pod.Spec.SchedulingGates) > 0 {
		r.Release()
		return decision.Errorf(decision.Conflict, "pod", "pod %s has scheduling gates and cannot be bound", NameOf(pod))
	}
	at.Node = r.Node()
	effects, err := r.Effects()
	labels := r.Nodes().Node(r.Row).Labels
	r.Release()
	if err != nil {
		return decision.Errorf(decision.Conflict, "bind", "%v", err)
	}
	made, err := decision.MakeEffects(f.walk.State().ResourceClaim, func(object.Key) ([]byte, bool) { return nil, false }, effects)
	if err != nil {
		return err
	}
	for _, o := range made.Objects {
		if err := f.putEffect(o); err != nil {
			return fmt.Errorf("effects of a bind: %w", err)
		}
	}
	if was := pod.Status.NominatedNodeName; was != "" && was != at.Node {
		if err := f.lostNomination(pod); err != nil {
			return err
		}
	}
	at.Pod = object.WithTopology(revision.Bound(made.Pod(pod), at.Node), labels)
	f.note(engine.Event{Key: podKey(NameOf(pod)), Action: engine.Add, New: at.Pod})
	return f.putQuietly(ctx, at.Pod)
}

// preempt carries a preemption out.
func (f *Fork) preempt(ctx context.Context, at *Attempt, pod *corev1.Pod, r *engine.Result, lingers bool) (err error) {
	at.Node, at.Victims, at.Message = r.NominatedNode(), preempt.Victims(r), explain.Message(r)
	if f.o.Chance.Counts() { // framework/preemption pickOneNodeForPreemption
		f.Choice(ChosenVictims, "pod "+NameOf(pod).String(), "nodes", 1, preempt.Equals(r))
	}
	var lower []PodName
	// Where all victims are being deleted already nothing is left to do, and no nomination is
	// cleared (pkg/scheduler/framework/preemption/executor.go prepareCandidateAsync).
	if preempts(at.Victims) {
		for _, p := range preempt.ClearedNominations(r) {
			lower = append(lower, PodName{p.Namespace, p.Name})
		}
	}
	r.Release()
	for _, v := range at.Victims {
		if lingers {
			break
		}
		if err := f.Delete(v.Namespace, v.Name); err != nil {
			return err
		}
	}
	for _, n := range lower {
		p, err := f.Pod(n.Namespace, n.Name)
		if err != nil {
			return err
		}
		if _, err := f.nominate(ctx, p, ""); err != nil {
			return err
		}
	}
	at.Pod, err = f.nominate(ctx, pod, at.Node)
	return err
}

// preempts reports whether one of the victims is not being deleted yet.
func preempts(victims []engine.Victim) bool {
	return slices.ContainsFunc(victims, func(v engine.Victim) bool { return !v.Terminating })
}

// nominate stores a pending pod with another nominated node, or none. Where it had one before, pods
// of no higher priority hear of the room (pkg/scheduler/eventhandlers.go
// updatePodInSchedulingQueue).
func (f *Fork) nominate(ctx context.Context, pod *corev1.Pod, node string) (*corev1.Pod, error) {
	if was := pod.Status.NominatedNodeName; was != "" && was != node {
		if err := f.lostNomination(pod); err != nil {
			return nil, err
		}
	}
	p := *pod
	p.Status.NominatedNodeName = node
	return &p, f.putQuietly(ctx, &p)
}

// class looks up a priority class that the base lacks.
func (f *Fork) class(name string) *schedulingv1.PriorityClass {
	if f.o.Class == nil {
		return nil
	}
	return f.o.Class(name)
}
