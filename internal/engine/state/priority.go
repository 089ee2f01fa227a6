package state

import (
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"

	"berth/internal/kube/object/stored"
)

// Admitted is what admission writes into a pod for its class.
type Admitted struct {
	Priority int32
	// Policy is the class's preemptionPolicy; nil where it has none.
	Policy *corev1.PreemptionPolicy
}

// ResolvePriority returns the priority that admission would set for a pod: its own where it has
// one, else its class's, else the default class's, else 0. ok is false for an unknown class. extra
// returns classes that the snapshot lacks, and for the name "" the default class where it lacks
// one; it may be nil (plugin/pkg/admission/priority admission.go admitPod).
func (s *State) ResolvePriority(pod *corev1.Pod, extra func(name string) *schedulingv1.PriorityClass) (a Admitted, ok bool) {
	if pod.Spec.Priority != nil {
		return Admitted{*pod.Spec.Priority, pod.Spec.PreemptionPolicy}, true
	}
	return s.ofClass(pod.Spec.PriorityClassName, extra)
}

func (s *State) ofClass(name string, extra func(string) *schedulingv1.PriorityClass) (Admitted, bool) {
	c := s.classes[name]
	if name == "" {
		c = s.GlobalDefaultClass()
	}
	if c == nil && extra != nil {
		c = extra(name)
	}
	if c != nil {
		return Admitted{c.Value, c.PreemptionPolicy}, true
	}
	if c := stored.SystemClass(name); c != nil {
		return Admitted{Priority: c.Value}, true
	}
	return Admitted{}, name == ""
}

// PriorityOf returns the priority of a pod of the state. A pod without one has that of its class,
// as admission would have written it.
func (s *State) PriorityOf(p *Pod) int32 {
	if p.hasPriority {
		return p.Priority
	}
	a, _ := s.ofClass(p.className, nil)
	return a.Priority
}

// NoneBelow reports whether it is known that no pod on a node has a priority below this one. False
// says nothing.
func (s *State) NoneBelow(priority int32) bool { return s.floor >= priority }

// UnknownClass returns the class that a pod of the state without a priority names, where the state
// has no such class and it is no built-in one; "" otherwise.
func (s *State) UnknownClass(p *Pod) string {
	if p.hasPriority || p.className == "" {
		return ""
	}
	if _, known := s.ofClass(p.className, nil); known {
		return ""
	}
	return p.className
}
