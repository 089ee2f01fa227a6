package podlife

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// The examples of Kubernetes' documentation on pod priority (the third of the
// texts that berth was written from), as far as they are about one pod.

// "name: high-priority, value: 1000000" and the pod nginx that names it.
func TestSeed002TheExamplePod(t *testing.T) {
	class := class("high-priority", 1000000)
	class.ResourceVersion, class.Description = "", "This priority class should be used for XYZ service pods only."
	if errs := ValidateClass(class); len(errs) > 0 {
		t.Fatal(lines(errs))
	}
	v := create(t, `"priorityClassName":"high-priority",`, some(class))
	want(t, "nginx", v)
	if v.Pod == nil || *v.Pod.Spec.Priority != 1000000 || *v.Pod.Spec.PreemptionPolicy != corev1.PreemptLowerPriority {
		t.Errorf("%+v", v.Pod)
	}
}

// "If there is no PriorityClass with globalDefault set, the priority of pods with
// no priorityClassName is zero."
func TestSeed002WithoutAnyClass(t *testing.T) {
	v := create(t, "", some(class("high-priority", 1000000)))
	want(t, "no class", v)
	if v.Pod == nil || *v.Pod.Spec.Priority != 0 {
		t.Errorf("%+v", v.Pod)
	}
}

// "Addition of a PriorityClass with globalDefault set to true does not change the
// priorities of existing pods."
func TestSeed002ANewDefaultLeavesExistingPods(t *testing.T) {
	stored := create(t, "", some()).Pod
	stored.ResourceVersion = "5"
	usual := class("usual", 7)
	usual.GlobalDefault = true
	if v := create(t, "", some(usual)); v.Pod == nil || *v.Pod.Spec.Priority != 7 || v.Pod.Spec.PriorityClassName != "usual" {
		t.Errorf("a new pod does not get the default: %+v", v)
	}
	next := stored.DeepCopy()
	next.Labels = map[string]string{"a": "b"}
	next.Spec.Priority = nil
	v := Update(next, stored)
	want(t, "an update", v)
	if v.Pod == nil || *v.Pod.Spec.Priority != 0 || v.Pod.Spec.PriorityClassName != "" {
		t.Errorf("%+v", v.Pod)
	}
}

// "If you delete a PriorityClass, existing pods that use its name remain
// unchanged, but you cannot create more pods that use it."
func TestSeed002ADeletedClassLeavesExistingPods(t *testing.T) {
	stored := create(t, `"priorityClassName":"high-priority",`, some(class("high-priority", 1000000))).Pod
	stored.ResourceVersion = "5"
	want(t, "a new pod", create(t, `"priorityClassName":"high-priority",`, some()), "spec.priorityClassName FieldValueForbidden Forbidden: no PriorityClass with name high-priority was found")
	next := stored.DeepCopy()
	next.Labels = map[string]string{"a": "b"}
	v := Update(next, stored)
	want(t, "an update", v)
	if v.Pod == nil || *v.Pod.Spec.Priority != 1000000 {
		t.Errorf("%+v", v.Pod)
	}
}
