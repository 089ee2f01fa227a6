package engine

import (
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
)

// The classes that every cluster has
// (pkg/apis/scheduling/v1 SystemPriorityClasses).
var systemClasses = map[string]int32{
	"system-cluster-critical": 2000000000,
	"system-node-critical":    2000001000,
}

// ResolvePriority gives the priority that admission would give a pod: its own
// where it has one, else its class's, else the default class's, else 0. ok is
// false for a class that nobody knows. extra is asked for classes that the
// snapshot lacks; it may be nil, and it is asked for the name "" where the
// snapshot has no default class
// (plugin/pkg/admission/priority admission.go admitPod).
func (s *State) ResolvePriority(pod *corev1.Pod, extra func(name string) *schedulingv1.PriorityClass) (priority int32, ok bool) {
	if pod.Spec.Priority != nil {
		return *pod.Spec.Priority, true
	}
	return s.classPriority(pod.Spec.PriorityClassName, extra)
}

func (s *State) classPriority(name string, extra func(string) *schedulingv1.PriorityClass) (int32, bool) {
	var c *schedulingv1.PriorityClass
	if name == "" {
		c = s.GlobalDefaultClass()
	} else {
		c = s.classes[name]
	}
	if c == nil && extra != nil {
		c = extra(name)
	}
	if c != nil {
		return c.Value, true
	}
	if v, ok := systemClasses[name]; ok {
		return v, true
	}
	return 0, name == ""
}

// PriorityOf gives a known pod's priority. A pod that came without one has that
// of its class, as admission would have written it.
func (s *State) PriorityOf(p *Pod) int32 {
	if p.hasPriority {
		return p.Priority
	}
	n, _ := s.classPriority(p.className, nil)
	return n
}
