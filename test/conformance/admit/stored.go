package admit

import (
	"encoding/json"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	scheduling "k8s.io/kubernetes/pkg/apis/scheduling/v1"
)

// SystemClasses are the API server's own.
func SystemClasses() []*schedulingv1.PriorityClass {
	list := scheduling.SystemPriorityClasses()
	for _, c := range list {
		p := corev1.PreemptLowerPriority
		c.PreemptionPolicy = &p
	}
	return list
}

// Stored sets the version of an admitted pod that a store sets.
func Stored(pod json.RawMessage) json.RawMessage {
	p := &corev1.Pod{}
	if err := json.Unmarshal(pod, p); err != nil {
		panic(err)
	}
	p.ResourceVersion = "5"
	return Encode(p)
}
