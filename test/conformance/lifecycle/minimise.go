package lifecycle

import (
	"slices"

	v1 "k8s.io/api/core/v1"
)

// Minimise drops from a case whatever it differs without. Differs asks both
// sides and is false for a case that either cannot answer.
func Minimise(c *Case, differs func(*Case) bool) *Case {
	for again := true; again; {
		again = false
		for _, drop := range drops(c.Pod) {
			smaller := *c
			smaller.Pod, smaller.Kubelet = c.Pod.DeepCopy(), false // no kubelet wrote what is left
			drop(smaller.Pod)
			if differs(&smaller) {
				c, again = &smaller, true
				break
			}
		}
	}
	return c
}

// drops are the ways to make a pod smaller by one thing.
func drops(pod *v1.Pod) (list []func(*v1.Pod)) {
	add := func(worth bool, f func(*v1.Pod)) {
		if worth {
			list = append(list, f)
		}
	}
	for i := range pod.Spec.InitContainers {
		add(true, func(p *v1.Pod) { without(p, p.Spec.InitContainers[i].Name) })
	}
	for i := range pod.Spec.Containers {
		add(len(pod.Spec.Containers) > 1, func(p *v1.Pod) { without(p, p.Spec.Containers[i].Name) })
	}
	for i := range pod.Spec.EphemeralContainers {
		add(true, func(p *v1.Pod) { without(p, p.Spec.EphemeralContainers[i].Name) })
	}
	for i := range pod.Status.Conditions {
		add(true, func(p *v1.Pod) { p.Status.Conditions = slices.Delete(p.Status.Conditions, i, i+1) })
	}
	for i := range pod.Spec.ReadinessGates {
		add(true, func(p *v1.Pod) { p.Spec.ReadinessGates = slices.Delete(p.Spec.ReadinessGates, i, i+1) })
	}
	add(pod.DeletionTimestamp != nil, func(p *v1.Pod) { p.DeletionTimestamp, p.DeletionGracePeriodSeconds, p.Finalizers = nil, nil, nil })
	add(pod.Annotations != nil, func(p *v1.Pod) { p.Annotations = nil })
	add(pod.Generation != 0, func(p *v1.Pod) { p.Generation = 0 })
	add(pod.Status.Reason != "", func(p *v1.Pod) { p.Status.Reason, p.Status.Message = "", "" })
	for k := range 2 {
		lists := func(p *v1.Pod) ([]v1.Container, []v1.ContainerStatus) {
			if k == 0 {
				return p.Spec.InitContainers, p.Status.InitContainerStatuses
			}
			return p.Spec.Containers, p.Status.ContainerStatuses
		}
		containers, statuses := lists(pod)
		for i, c := range containers {
			add(len(c.RestartPolicyRules) > 0, func(p *v1.Pod) { l, _ := lists(p); l[i].RestartPolicyRules = nil })
			add(k == 1 && c.RestartPolicy != nil, func(p *v1.Pod) { l, _ := lists(p); l[i].RestartPolicy = nil })
		}
		for i, s := range statuses {
			add(s.LastTerminationState.Terminated != nil, func(p *v1.Pod) { _, l := lists(p); l[i].LastTerminationState.Terminated = nil })
			add(s.RestartCount != 0, func(p *v1.Pod) { _, l := lists(p); l[i].RestartCount = 0 })
		}
	}
	return list
}

// without takes a container and its status out.
func without(p *v1.Pod, name string) {
	is := func(c v1.Container) bool { return c.Name == name }
	has := func(s v1.ContainerStatus) bool { return s.Name == name }
	p.Spec.InitContainers = slices.DeleteFunc(p.Spec.InitContainers, is)
	p.Spec.Containers = slices.DeleteFunc(p.Spec.Containers, is)
	p.Spec.EphemeralContainers = slices.DeleteFunc(p.Spec.EphemeralContainers, func(c v1.EphemeralContainer) bool { return c.Name == name })
	st := &p.Status
	st.InitContainerStatuses = slices.DeleteFunc(st.InitContainerStatuses, has)
	st.ContainerStatuses = slices.DeleteFunc(st.ContainerStatuses, has)
	st.EphemeralContainerStatuses = slices.DeleteFunc(st.EphemeralContainerStatuses, has)
}
