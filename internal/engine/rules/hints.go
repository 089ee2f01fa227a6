package rules

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/engine"
	"berth/internal/semantics"
)

// versions returns an event's object before and after; nil where it was or is not there.
func versions[T any](e *engine.Event) (was, is *T) {
	was, _ = e.Old.(*T)
	is, _ = e.New.(*T)
	return was, is
}

// ownEvent is the hint of a rule that waits for a change of the pod itself.
func ownEvent(w *engine.Waiter, _ *engine.Event) bool { return w.Self }

// placed reports whether a pod has a node, or is nominated to one.
func placed(p *corev1.Pod) bool { return p.Spec.NodeName != "" || p.Status.NominatedNodeName != "" }

// bound reports whether a pod has a node.
func bound(p *corev1.Pod) bool { return p.Spec.NodeName != "" }

// looksAt returns whether the hint of a rule that counts other pods looks at one.
func looksAt(r *semantics.Release) func(*corev1.Pod) bool {
	if r.NominationsWake {
		return placed
	}
	return bound
}

// ofOwnClaim reports whether a claim is of one of the pod's volumes.
func ofOwnClaim(w *engine.Waiter, e *engine.Event) bool {
	_, is := versions[corev1.PersistentVolumeClaim](e)
	return is.Namespace == w.Pod.Namespace && slices.ContainsFunc(w.Pod.Spec.Volumes, func(v corev1.Volume) bool {
		name, _, ok := claimName(w.Pod, &v)
		return ok && name == is.Name
	})
}

// ofNamedClaim reports whether a claim is one that the pod names.
func ofNamedClaim(w *engine.Waiter, e *engine.Event) bool {
	_, is := versions[corev1.PersistentVolumeClaim](e)
	return is.Namespace == w.Pod.Namespace && namesClaim(w.Pod, is.Name)
}

func namesClaim(p *corev1.Pod, claim string) bool {
	return slices.ContainsFunc(p.Spec.Volumes, func(v corev1.Volume) bool {
		return v.PersistentVolumeClaim != nil && v.PersistentVolumeClaim.ClaimName == claim
	})
}
