package rules

import (
	corev1 "k8s.io/api/core/v1"

	"berth/internal/engine"
)

// Hints returns those of taints that go, a new node without untolerated ones, and the pod's own
// toleration (plugins/tainttoleration isSchedulableAfterNodeChange,
// isSchedulableAfterPodTolerationChange).
func (TaintToleration) Hints() []engine.Hint {
	return []engine.Hint{
		{Kind: "Node", Action: engine.Add | engine.UpdateNodeTaint, Queue: func(w *engine.Waiter, e *engine.Event) bool {
			was, is := versions[corev1.Node](e)
			own := w.Pod.Spec.Tolerations
			return firstUntolerated(own, is.Spec.Taints) == nil && (was == nil || firstUntolerated(own, was.Spec.Taints) != nil)
		}},
		{Kind: "Pod", Action: engine.UpdatePodToleration, Queue: ownEvent},
	}
}
