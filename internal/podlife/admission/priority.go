package admission

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"berth/internal/kube/object/stored"
)

// admitPriority writes a class's priority and policy into a new pod, or refuses
// it in the words of the priority admission plugin, at the field that is wrong
// (plugin/pkg/admission/priority admission.go admitPod).
func admitPriority(p *corev1.Pod, classes Classes) *field.Error {
	s, spec := &p.Spec, field.NewPath("spec")
	c, known := classOf(s.PriorityClassName, classes)
	if !known {
		return field.Forbidden(spec.Child("priorityClassName"), fmt.Sprintf("no PriorityClass with name %s was found", s.PriorityClassName))
	}
	s.PriorityClassName = c.Name
	if s.Priority != nil && *s.Priority != c.Value {
		return field.Forbidden(spec.Child("priority"), fmt.Sprintf("the integer value of priority (%d) must not be provided in pod spec; priority admission controller computed %d from the given PriorityClass name", *s.Priority, c.Value))
	}
	s.Priority = &c.Value
	if c.PreemptionPolicy == nil {
		return nil
	}
	if s.PreemptionPolicy != nil && *s.PreemptionPolicy != *c.PreemptionPolicy {
		return field.Forbidden(spec.Child("preemptionPolicy"), fmt.Sprintf("the string value of PreemptionPolicy (%s) must not be provided in pod spec; priority admission controller computed %s from the given PriorityClass name", *s.PreemptionPolicy, *c.PreemptionPolicy))
	}
	policy := *c.PreemptionPolicy
	s.PreemptionPolicy = &policy
	return nil
}

// classOf returns a copy of the class of a name, and for no name the default one;
// without a default one a class of priority 0, which has no name.
func classOf(name string, classes Classes) (schedulingv1.PriorityClass, bool) {
	var c *schedulingv1.PriorityClass
	if classes != nil {
		c = classes(name)
	}
	if c == nil && name != "" {
		c = stored.SystemClass(name)
	}
	switch {
	case c != nil:
		out := schedulingv1.PriorityClass{Value: c.Value, PreemptionPolicy: c.PreemptionPolicy}
		out.Name = c.Name
		return out, true
	case name == "":
		policy := corev1.PreemptLowerPriority
		return schedulingv1.PriorityClass{PreemptionPolicy: &policy}, true
	}
	return schedulingv1.PriorityClass{}, false
}

// keepPriority takes over what an update leaves out
// (plugin/pkg/admission/priority admission.go admitPod).
func keepPriority(p, old *corev1.Pod) {
	if p.Spec.Priority == nil {
		p.Spec.Priority = old.Spec.Priority
	}
	if p.Spec.PreemptionPolicy == nil {
		p.Spec.PreemptionPolicy = old.Spec.PreemptionPolicy
	}
}
