package audit

import (
	"net/http"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/engine"
)

// systemClasses are the classes that every apiserver brings
// (pkg/apis/scheduling/v1 SystemPriorityClasses).
var systemClasses = map[string]int32{
	"system-cluster-critical": 2_000_000_000,
	"system-node-critical":    2_000_001_000,
}

// resolvePriority gives the pod its priority as admission would: its own, else
// the snapshot's class's, else a system class's, else without a class the global
// default's, else 0 (plugin/pkg/admission/priority admitPod). The argument is
// not written.
func resolvePriority(st *engine.State, pod *corev1.Pod) (*corev1.Pod, error) {
	if pod.Spec.Priority != nil {
		return pod, nil
	}
	var value int32
	var policy *corev1.PreemptionPolicy
	name := pod.Spec.PriorityClassName
	class := st.PriorityClass(name)
	if name == "" {
		class = st.GlobalDefaultClass()
	}
	system, isSystem := systemClasses[name]
	switch {
	case class != nil:
		value, policy = class.Value, class.PreemptionPolicy
	case isSystem:
		value = system
	case name != "":
		return nil, bad(http.StatusUnprocessableEntity, "spec.priorityClassName", "no PriorityClass with name %s was found", name)
	}
	out := *pod
	out.Spec.Priority = &value
	if out.Spec.PreemptionPolicy == nil {
		out.Spec.PreemptionPolicy = policy
	}
	return &out, nil
}
