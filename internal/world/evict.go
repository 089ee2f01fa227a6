package world

import (
	"errors"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/podlife"
	"berth/internal/store"
)

// Evict evicts a pod, or deletes it, and returns when it is gone; below 0: never. given is a grace
// period instead of the pod's own.
func (w *World) Evict(pod *corev1.Pod, rec *Left, given *int64) (gone int64, err error) {
	now, ends, grace := w.Instant(), pod, int64(0)
	switch {
	case given != nil:
		ends = podlife.BeginDelete(pod, *given, now)
	case pod.DeletionTimestamp == nil: // a second deletion without a period changes nothing
		ends = podlife.BeginDelete(pod, podlife.GracePeriod(pod), now)
	}
	switch {
	case ends == nil:
	case pod.DeletionTimestamp == nil:
		grace = *ends.DeletionGracePeriodSeconds
	default:
		grace = max(0, int64(ends.DeletionTimestamp.Sub(now).Seconds()))
	}
	if ends != nil {
		if grace, err = w.GraceOn(pod.Spec.NodeName, grace); err != nil {
			return 0, err
		}
	}
	err = w.Leave(pod, rec, grace)
	if rec.GoneAfterSeconds == nil {
		return -1, err
	}
	return *rec.GoneAfterSeconds, err
}

// endsAfter returns how long a kubelet takes to end a pod that is deleted with a grace period.
func (w *World) endsAfter(pod *corev1.Pod, grace int64) int64 {
	after := podlife.EndsAfter(pod, grace)
	if d, is := w.takesOf(pod, true); is {
		after = min(after, max(1, seconds(d)))
	}
	return after
}

// GraceOn is a grace period as leave takes it, for a pod of a node: on a node whose kubelet has
// died it never ends.
func (w *World) GraceOn(node string, grace int64) (int64, error) {
	n, err := w.Node(node)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return grace, nil
	case err == nil && !w.endsPods(n):
		return -1, nil
	}
	return grace, err
}

// endsPods reports whether pods of a node that are deleted go. A kubelet that has stopped ends
// none, also before the control plane notices.
func (w *World) endsPods(n *corev1.Node) bool {
	return podlife.EndsPods(n) && (!w.Dead(n.Name) || slices.ContainsFunc(n.Status.Conditions, func(c corev1.NodeCondition) bool {
		return c.Type == corev1.NodeReady && c.Status == corev1.ConditionUnknown // out of service, then
	}))
}
