package rules

import (
	corev1 "k8s.io/api/core/v1"

	"berth/internal/engine"
)

// Hints returns those of an uncordon, a new node without a cordon, and the pod's own toleration
// (plugins/nodeunschedulable isSchedulableAfterNodeChange, isSchedulableAfterPodTolerationChange).
func (NodeUnschedulable) Hints() []engine.Hint {
	return []engine.Hint{
		{Kind: "Node", Action: engine.Add | engine.UpdateNodeTaint, Queue: func(_ *engine.Waiter, e *engine.Event) bool {
			was, is := versions[corev1.Node](e)
			return !is.Spec.Unschedulable && (was == nil || was.Spec.Unschedulable)
		}},
		{Kind: "Pod", Action: engine.UpdatePodToleration, Queue: func(w *engine.Waiter, _ *engine.Event) bool {
			return w.Self && tolerates(w.Pod.Spec.Tolerations, &corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule})
		}},
	}
}
