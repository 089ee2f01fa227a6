package audit

import (
	"net/http"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/engine"
)

// resolvePriority gives the pod its priority, and where it has none of its own
// its preemption policy, as admission would. The argument is not written.
func resolvePriority(st *engine.State, pod *corev1.Pod) (*corev1.Pod, error) {
	if pod.Spec.Priority != nil {
		return pod, nil
	}
	admitted, ok := st.ResolvePriority(pod, nil)
	if !ok {
		return nil, bad(http.StatusUnprocessableEntity, "pod.spec.priorityClassName", "no PriorityClass with name %s was found", pod.Spec.PriorityClassName)
	}
	out := *pod
	out.Spec.Priority = &admitted.Priority
	if out.Spec.PreemptionPolicy == nil {
		out.Spec.PreemptionPolicy = admitted.Policy
	}
	return &out, nil
}
