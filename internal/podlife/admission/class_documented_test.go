package admission

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/kube/object/apiserver"
)

// What Kubernetes documents of priority classes (Pod Priority and Preemption on
// kubernetes.io), as far as it is about one pod.

// TestPodOfAClass: a pod that names a class has its value and its policy.
func TestPodOfAClass(t *testing.T) {
	class := class("high-priority", 1000000)
	class.ResourceVersion, class.Description = "", "This priority class should be used for XYZ service pods only."
	if errs := apiserver.ValidateClass(class); len(errs) > 0 {
		t.Fatal(lines(errs))
	}
	v := create(t, `"priorityClassName":"high-priority",`, some(class))
	want(t, "nginx", v)
	if v.Pod == nil || *v.Pod.Spec.Priority != 1000000 || *v.Pod.Spec.PreemptionPolicy != corev1.PreemptLowerPriority {
		t.Errorf("%+v", v.Pod)
	}
}

// TestPodWithoutAClass: without a default class, the priority of a pod that names
// none is zero.
func TestPodWithoutAClass(t *testing.T) {
	v := create(t, "", some(class("high-priority", 1000000)))
	want(t, "no class", v)
	if v.Pod == nil || *v.Pod.Spec.Priority != 0 {
		t.Errorf("%+v", v.Pod)
	}
}

// TestNewDefaultLeavesExistingPods: a new default class does not change the
// priorities of existing pods.
func TestNewDefaultLeavesExistingPods(t *testing.T) {
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

// TestDeletedClassLeavesExistingPods: existing pods of a deleted class remain as
// they are, and no more can be created.
func TestDeletedClassLeavesExistingPods(t *testing.T) {
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
