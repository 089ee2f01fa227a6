package rules

import (
	corev1 "k8s.io/api/core/v1"

	"berth/internal/engine"
	"berth/internal/engine/state"
)

// Hints returns those of a pod with a host port in conflict that goes, and of a new node
// (plugins/nodeports isSchedulableAfterPodDeleted).
func (NodePorts) Hints() []engine.Hint {
	return []engine.Hint{
		{Kind: "Pod", Action: engine.Delete, Queue: func(w *engine.Waiter, e *engine.Event) bool {
			was, _ := versions[corev1.Pod](e)
			if !placed(was) {
				return false
			}
			for _, p := range state.HostPorts(w.Pod) {
				for _, o := range state.HostPorts(was) {
					if p.Conflicts(&o) {
						return true
					}
				}
			}
			return false
		}},
		{Kind: "Node", Action: engine.Add},
	}
}
