package bind

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/decision"
	"berth/internal/decision/record"
	"berth/internal/engine"
	"berth/internal/engine/explain"
	"berth/internal/kube/object"
	"berth/internal/revision"
	"berth/internal/store"
)

// attempt is a bind through an apiserver that has no result yet.
type attempt struct {
	cluster string
	pod     decision.PodRef
	node    string

	unguarded string // why no decision on record allows it; "" where one does
	id        string // of its record
	began     string // the id of the record that began the attempt to place the pod
	revision  int64  // that holds the pod on its node
	refusal   string
	firm      bool // no newer state lifts the refusal
	already   bool
	priority  int32
	free      *corev1.Pod // before it was put on its node
}

// bindThrough binds in three steps, each on record before the next: the pod is
// put on its node in the newest revision, so that every later evaluation finds
// it there, the apiserver is called, and its answer is written; a pod that it
// refused is pending again.
func (b *Binder) bindThrough(ctx context.Context, s APIServer, a *attempt) (_ Bound, err error) {
	if a.unguarded, err = b.guard(ctx, a); err != nil {
		return Bound{}, err
	}
	b.log.RecallAttempt(ctx, a.cluster, "", a.pod)
	if err := b.beginHeld(ctx, a); err != nil {
		return Bound{}, err
	}
	began := time.Now()
	res := &record.BindResult{Attempt: a.id, Node: a.node, Outcome: engine.Scheduled}
	refusal, err := s.Bind(ctx, a.pod.Namespace, a.pod.Name, a.pod.UID, a.node)
	switch {
	case err != nil:
		res.Outcome, res.Message = record.OutcomeUnknown, err.Error()
	case refusal != "":
		res.Outcome, res.Message = engine.UnschedulableOK, refusal
	}
	// The result is written even if the caller has gone meanwhile.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeResult)
	defer cancel()
	if err := b.end(ctx, a, res, began); err != nil {
		return Bound{}, err
	}
	if res.Outcome != engine.Scheduled {
		return Bound{}, &RefusedError{res.Message}
	}
	if a.already {
		a.id = b.log.BindOf(ctx, a.cluster, a.pod, a.node)
	}
	return Bound{AlreadyBound: a.already, Snapshot: revision.FormatID(a.cluster, a.revision), Decision: a.id}, nil
}

// holdBind is for how long a refusal to bind may be held: the rest of the
// extender's deadline is for the bind itself. A refusal is an error that is tried
// again, so no pod is left without a node by it.
const holdBind = time.Second

// beginHeld begins a bind. The reason of a refusal may be over already, so the bind is
// tried again while the state may be behind.
func (b *Binder) beginHeld(ctx context.Context, a *attempt) error {
	var refused *RefusedError
	try := func(final bool) (bool, error) {
		refused = nil
		err := b.begin(ctx, a, final)
		if err == nil && a.refusal != "" {
			err = &RefusedError{a.refusal}
		}
		return errors.As(err, &refused) && !a.firm, err
	}
	if b.o.Hold == nil {
		_, err := try(true)
		return err
	}
	limited, cancel := context.WithTimeout(ctx, holdBind)
	defer cancel()
	err := b.o.Hold(limited, a.cluster, func() *corev1.Pod { return nil }, func(final bool) (bool, error) {
		refuses, err := try(final)
		if refuses && !final {
			err = nil
		}
		return refuses, err
	})
	if err != nil && refused != nil {
		return refused // the reason, whether or not the state was shown to be new enough
	}
	return err
}

// begin checks a bind on the newest revision, under the writer's lock, and puts
// the pod on its node. A refusal that is not final is not recorded.
func (b *Binder) begin(ctx context.Context, a *attempt, final bool) error {
	var excluded []decision.Excluded
	if b.o.Checked != nil {
		excluded = b.log.Agreed(ctx, a.cluster, a.pod, a.node)
	}
	v, step, err := b.m.Update(ctx, a.cluster, 0, func(v *revision.View) (*revision.Step, error) {
		a.id, a.began, a.refusal, a.already = "", "", "", false
		refusal, already := decision.CheckBind(v, a.pod, a.node)
		if refusal != "" {
			return nil, &RefusedError{refusal}
		}
		p := v.State.Pod(a.pod.Namespace, a.pod.Name)
		a.pod.UID, a.priority = p.UID, p.Priority
		if a.already = already; already {
			return nil, nil
		}
		if b.guarded(a.cluster) {
			refusal, err := b.otherScheduler(v, a.pod)
			if err != nil {
				return nil, err
			}
			if refusal = cmp.Or(refusal, a.unguarded); refusal != "" {
				a.firm = true
				return nil, &RefusedError{refusal}
			}
		}
		step, err := b.step(ctx, v, a, excluded)
		if err != nil || a.refusal != "" && !final {
			return nil, err
		}
		a.id, a.began = step.Decision.ID, step.Decision.Attempt
		return step, nil
	})
	switch {
	case errors.Is(err, store.ErrConflict):
		return changedMeanwhile(a.pod, a.node)
	case errors.Is(err, store.ErrNotFound):
		return &RefusedError{fmt.Sprintf("cluster %s has not been read yet", a.cluster)}
	case err != nil:
		return err
	}
	if step != nil {
		b.log.Written(step.Decision, step.Profile)
	}
	a.revision = v.Revision
	return nil
}

// step makes the write of a bind with its record, after the pod was evaluated once more where
// Options.Checked is set: between /filter and /bind other pods were bound.
func (b *Binder) step(ctx context.Context, v *revision.View, a *attempt, excluded []decision.Excluded) (*revision.Step, error) {
	if b.o.Checked == nil {
		step, err := b.log.NewLedgerBind(v, a.pod.Namespace, a.pod.Name, a.node, false, time.Now())
		if err == nil {
			a.free = step.Bind.Pod
		}
		return step, err
	}
	q, err := b.log.Normalize(decision.Question{
		Verb: decision.VerbBind, Cluster: v.Cluster, Revision: v.Revision, PodRef: &object.Key{Namespace: a.pod.Namespace, Name: a.pod.Name},
		NodeNames: []string{a.node}, NoPreemption: true, Profiles: b.o.Checked.Of(v.Cluster), Excluded: excluded,
	})
	if err != nil {
		return nil, err
	}
	e, err := b.log.NewEntry(ctx, v, q)
	if err != nil {
		return nil, err
	}
	defer e.Release()
	step := &revision.Step{Decision: e.Record, Profile: e.Profile}
	if e.Result.Feasible.Count() == 0 {
		a.refusal = rejected(a, v, e.Result)
		return step, nil
	}
	if a.free, err = v.Pod(a.pod.Namespace, a.pod.Name); err != nil {
		return nil, err
	}
	step.Bind = &revision.Bind{Pod: a.free, Node: a.node}
	return step, nil
}

// rejected names the rules that forbid a bind.
func rejected(a *attempt, v *revision.View, r *engine.Result) string {
	var why []string
	for _, f := range explain.Failures(r) {
		why = append(why, f.Plugin+": "+f.Reason)
	}
	if why == nil {
		why = append(why, explain.Message(r))
	}
	return fmt.Sprintf("%s may not be bound to node %s any more, as of %s: %s", a.pod, a.node, v.ID(), strings.Join(why, ", "))
}

// unbound returns a pod without its node, and without the labels and the condition that
// the bind had set. What else changed of the pod meanwhile stays.
func (a *attempt) unbound(held *corev1.Pod) *corev1.Pod {
	pod := *held
	pod.Spec.NodeName = ""
	if a.free == nil { // it was on the node before the attempt
		return &pod
	}
	pod.Labels = object.TopologyOf(held.Labels, a.free.Labels)
	pod.Status.Conditions = slices.Clone(held.Status.Conditions)
	for i, c := range pod.Status.Conditions {
		was := slices.IndexFunc(a.free.Status.Conditions, func(f corev1.PodCondition) bool { return f.Type == c.Type })
		if c.Type == corev1.PodScheduled && was >= 0 {
			pod.Status.Conditions[i] = a.free.Status.Conditions[was]
		}
	}
	return &pod
}
