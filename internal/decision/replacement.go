package decision

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth/internal/engine"
	"berth/internal/engine/footprint"
	"berth/internal/engine/state"
	"berth/internal/kube/object"
)

// maxReplaced is of how many victims it is tried where the pods go that are made instead.
const maxReplaced = 4

// startsWithin notes when the pod can start that a preemption is for: its victims end side by side.
func startsWithin(p *engine.Preemption) {
	if p == nil || p.Node == "" {
		return
	}
	p.StartsWithinSeconds = new(int64)
	for i := range p.Victims {
		*p.StartsWithinSeconds = max(*p.StartsWithinSeconds, p.Victims[i].GracePeriodSeconds)
	}
}

// replaces reports whether the answer tells what becomes of the victims' replacements.
func (o *Outcome) replaces() bool { return o.Suggest && o.Result.Outcome == engine.Preempting }

// replacing is what judging the replacements takes beside the answer: one decision after the other.
func (o *Outcome) replacing(ctx context.Context) int64 {
	if !o.replaces() {
		return 0
	}
	return footprint.Decision(o.State, o.Pod, o.Profile, o.options(ctx))
}

// replacements tells of the first victims what becomes of the pods that their controllers make
// instead, where the victims are gone and the pod is on its node. A Job may end instead of making
// another.
func (o *Outcome) replacements(ctx context.Context, p *engine.Preemption) *engine.Preemption {
	if p == nil || p.Node == "" {
		return p
	}
	out := *p
	out.Victims = slices.Clone(p.Victims)
	var after *state.State
	for i := range out.Victims[:min(len(out.Victims), maxReplaced)] {
		v := &out.Victims[i]
		pod, err := o.View.Pod(v.Namespace, v.Name)
		if err != nil {
			continue // a question may bring pods that the state does not have
		}
		owner, owned := o.State.TopOwnerOf(pod)
		if !owned || !slices.Contains([]string{"Deployment", "ReplicaSet", "ReplicationController", "StatefulSet", "DaemonSet"}, owner.Kind) {
			continue
		}
		if after == nil {
			if after = o.afterEviction(ctx, p); after == nil {
				return p
			}
		}
		if where := o.goes(ctx, after, replacementOf(pod)); where != "" {
			v.Replacement = owner.Kind + " " + owner.Name + " makes another, which " + where
		}
	}
	return &out
}

// afterEviction is the state with all victims gone and the pod on their node; nil where it cannot
// be made.
func (o *Outcome) afterEviction(ctx context.Context, p *engine.Preemption) *state.State {
	e := o.State.Overlay().Within(ctx)
	for i := range p.Victims {
		e.Delete("Pod", p.Victims[i].Namespace, p.Victims[i].Name)
	}
	pod := o.Pod.DeepCopy()
	pod.Spec.NodeName, pod.Status.NominatedNodeName = p.Node, ""
	if e.Put(pod) != nil {
		return nil
	}
	after, err := e.Finish()
	if err != nil {
		return nil
	}
	return after
}

// replacementOf returns the pod that a controller makes instead of another one.
func replacementOf(of *corev1.Pod) *corev1.Pod {
	pod := of.DeepCopy()
	if own := metav1.GetControllerOfNoCopy(of); own.Kind != "StatefulSet" {
		pod.Name = own.Name + "-new"
	}
	pod.UID, pod.CreationTimestamp, pod.DeletionTimestamp = object.DerivedUID(podKey(pod.Namespace, pod.Name)), metav1.Time{}, nil
	pod.Spec.NodeName, pod.Status = "", corev1.PodStatus{}
	return pod
}

// goes returns in words what becomes of a pod; empty where it cannot be judged.
func (o *Outcome) goes(ctx context.Context, st *state.State, pod *corev1.Pod) string {
	opts := o.options(ctx)
	opts.Candidates, opts.EqualsBy = nil, ""
	r, err := engine.Decide(st, pod, o.Profile, opts)
	if err != nil {
		return ""
	}
	defer r.Release()
	switch r.Outcome {
	case engine.Scheduled:
		return "goes to " + r.Node()
	case engine.Preempting:
		return "has others evicted from " + r.NominatedNode()
	case engine.Gated:
		return ""
	}
	return "fits nowhere then and waits"
}
