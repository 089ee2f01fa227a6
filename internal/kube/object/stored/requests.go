package stored

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// Counting is what of a pod's status counts beside the requests of its spec. Releases of Kubernetes
// differ in it.
type Counting struct {
	// Status reports that what a pod has and what is allocated to it count where they are more, as
	// they are while it is resized, and alone where its node refuses the resize.
	Status bool
	// ByPod reports that the pod's requests, what is allocated to it and what it has are summed up
	// each, of all containers, before they are compared. Otherwise they are compared for each
	// container that stays, where it has its resources in its status
	// (k8s.io/component-helpers/resource AggregateContainerRequests).
	ByPod bool
	// PodStatus reports that status.resources and status.allocatedResources count, which are about
	// the pod as a whole (gate InPlacePodLevelResourcesVerticalScaling).
	PodStatus bool
}

// Sum is what of a pod's requests is summed up. The zero value is all that its spec requests.
type Sum struct {
	Counting
	// Missing are the amounts that count for each container that lacks a request for them.
	Missing corev1.ResourceList
	// ContainersOnly leaves out what is requested for the pod as a whole, but not its overhead.
	ContainersOnly bool
}

// Of returns the requests of a pod: those of its containers, or for the pod as a whole where it has
// such, and its overhead (k8s.io/component-helpers/resource PodRequests).
func (s Sum) Of(pod *corev1.Pod) corev1.ResourceList {
	sum := s.containers(pod)
	if !s.ContainersOnly && HasPodRequests(pod) {
		for name, q := range s.pod(pod) {
			if OfPods(name) {
				sum[name] = q.DeepCopy()
			}
		}
	}
	addAmounts(sum, pod.Spec.Overhead)
	return sum
}

// ContainerRequests returns what the containers of a pod request together: those that stay at once,
// and each plain init container beside the sidecars before it.
func ContainerRequests(pod *corev1.Pod) corev1.ResourceList { return Sum{}.containers(pod) }

// ContainerLimits is ContainerRequests for limits.
func ContainerLimits(pod *corev1.Pod) corev1.ResourceList {
	return Sum{}.total(pod, func(c *corev1.Container, _ *corev1.ContainerStatus) corev1.ResourceList {
		return c.Resources.Limits
	})
}

// OfPods reports whether a resource can be requested for a pod as a whole.
func OfPods(name corev1.ResourceName) bool {
	return name == corev1.ResourceCPU || name == corev1.ResourceMemory || isHugePage(name)
}

// HasPodRequests reports whether a pod has requests as a whole.
func HasPodRequests(pod *corev1.Pod) bool {
	return pod.Spec.Resources != nil && anyOfPods(pod.Spec.Resources.Requests)
}

// HasPodResources reports whether a pod has requests or limits as a whole.
func HasPodResources(pod *corev1.Pod) bool {
	return HasPodRequests(pod) || pod.Spec.Resources != nil && anyOfPods(pod.Spec.Resources.Limits)
}

func anyOfPods(list corev1.ResourceList) bool {
	for name := range list {
		if OfPods(name) {
			return true
		}
	}
	return false
}

// HasResizes reports whether the status of a pod can make it count otherwise than its spec.
func HasResizes(pod *corev1.Pod) bool {
	s := &pod.Status
	return s.Resources != nil || s.AllocatedResources != nil || haveResources(s.ContainerStatuses) ||
		haveResources(s.InitContainerStatuses) || refused(pod)
}

func haveResources(list []corev1.ContainerStatus) bool {
	for i := range list {
		if list[i].Resources != nil || list[i].AllocatedResources != nil {
			return true
		}
	}
	return false
}

// refused reports whether the pod's node will not resize it.
func refused(pod *corev1.Pod) bool {
	for i := range pod.Status.Conditions {
		if c := &pod.Status.Conditions[i]; c.Type == corev1.PodResizePending {
			return c.Reason == corev1.PodReasonInfeasible
		}
	}
	return false
}

// containers sums up what the containers of a pod count as.
func (s Sum) containers(pod *corev1.Pod) corev1.ResourceList {
	requested := func(c *corev1.Container, _ *corev1.ContainerStatus) corev1.ResourceList { return c.Resources.Requests }
	if !s.Status {
		return s.total(pod, requested)
	}
	keeps := refused(pod)
	if !s.ByPod {
		return s.total(pod, func(c *corev1.Container, has *corev1.ContainerStatus) corev1.ResourceList {
			switch {
			case has == nil || has.Resources == nil:
				return c.Resources.Requests
			case keeps:
				return largest(has.Resources.Requests, has.AllocatedResources)
			}
			return largest(c.Resources.Requests, has.Resources.Requests, has.AllocatedResources)
		})
	}
	has, allocated := pod.Status.Resources, pod.Status.AllocatedResources
	var actual corev1.ResourceList
	if s.PodStatus && allocated != nil && has != nil && has.Requests != nil {
		actual = has.Requests
	} else {
		otherwise := func(c *corev1.Container) corev1.ResourceList {
			if keeps {
				return nil
			}
			return c.Resources.Requests
		}
		allocated = s.total(pod, func(c *corev1.Container, has *corev1.ContainerStatus) corev1.ResourceList {
			if has != nil && has.AllocatedResources != nil {
				return has.AllocatedResources
			}
			return otherwise(c)
		})
		actual = s.total(pod, func(c *corev1.Container, has *corev1.ContainerStatus) corev1.ResourceList {
			switch {
			case has != nil && has.Resources != nil && has.Resources.Requests != nil:
				return has.Resources.Requests
			case has != nil && has.AllocatedResources != nil:
				return has.AllocatedResources
			}
			return otherwise(c)
		})
	}
	if keeps {
		return largest(actual, allocated)
	}
	return largest(s.total(pod, requested), actual, allocated)
}

// pod returns what counts for the pod as a whole. By containers, that are the resources which the
// spec requests for it, and by pod also those that its status has alone.
func (s Sum) pod(pod *corev1.Pod) corev1.ResourceList {
	spec, has := pod.Spec.Resources.Requests, pod.Status.Resources
	if !s.Status || !s.PodStatus || has == nil {
		return spec
	}
	requested := spec
	if refused(pod) {
		requested = nil
	}
	counts := largest(requested, has.Requests, pod.Status.AllocatedResources)
	if s.ByPod {
		return counts
	}
	out := corev1.ResourceList{}
	for name := range spec {
		out[name] = counts[name]
	}
	return out
}

// total sums up what of returns for each container and its status, nil without, with the amounts of
// Missing.
func (s Sum) total(pod *corev1.Pod, of func(*corev1.Container, *corev1.ContainerStatus) corev1.ResourceList) corev1.ResourceList {
	count := func(c *corev1.Container, stays bool) corev1.ResourceList {
		var has *corev1.ContainerStatus
		if s.Status && (stays || s.ByPod) {
			has = s.statusOf(pod, c.Name)
		}
		list := of(c, has)
		if len(s.Missing) == 0 {
			return list
		}
		whole := largest(list)
		addMissing(&whole, s.Missing)
		return whole
	}
	sum := corev1.ResourceList{}
	for i := range pod.Spec.Containers {
		addAmounts(sum, count(&pod.Spec.Containers[i], true))
	}
	if len(pod.Spec.InitContainers) == 0 {
		return sum
	}
	sidecars, most := corev1.ResourceList{}, corev1.ResourceList{}
	for i := range pod.Spec.InitContainers {
		c := &pod.Spec.InitContainers[i]
		if restarts(c) {
			list := count(c, true)
			addAmounts(sum, list)
			addAmounts(sidecars, list)
			raise(most, sidecars)
			continue
		}
		beside := largest(count(c, false))
		addAmounts(beside, sidecars)
		raise(most, beside)
	}
	raise(sum, most)
	return sum
}

// statusOf finds a container's status. Of several with one name, the last counts for a container by
// itself, and the first in a sum of the pod.
func (s Sum) statusOf(pod *corev1.Pod, name string) (found *corev1.ContainerStatus) {
	for _, list := range [][]corev1.ContainerStatus{pod.Status.ContainerStatuses, pod.Status.InitContainerStatuses} {
		for i := range list {
			if list[i].Name != name {
				continue
			}
			if found = &list[i]; s.ByPod {
				return found
			}
		}
	}
	return found
}

// addAmounts adds to each resource of sum, which is written.
func addAmounts(sum, list corev1.ResourceList) {
	for name, q := range list {
		have, ok := sum[name]
		if !ok {
			sum[name] = q.DeepCopy() // a large amount is a pointer, which Add writes through
			continue
		}
		have.Add(q)
		sum[name] = have
	}
}

// raise sets each resource of most, which is written, to the larger amount.
func raise(most, list corev1.ResourceList) {
	for name, q := range list {
		if have, ok := most[name]; !ok || q.Cmp(have) > 0 {
			most[name] = q.DeepCopy()
		}
	}
}

// largest returns the largest amount of each resource in a list of its own.
func largest(lists ...corev1.ResourceList) corev1.ResourceList {
	most := corev1.ResourceList{}
	for _, list := range lists {
		raise(most, list)
	}
	return most
}

// addMissing copies to dst the resources that it lacks. dst becomes an empty list, not nil, if src
// is one.
func addMissing(dst *corev1.ResourceList, src corev1.ResourceList) {
	if src != nil && *dst == nil {
		*dst = corev1.ResourceList{}
	}
	for name, q := range src {
		if _, ok := (*dst)[name]; !ok {
			(*dst)[name] = q.DeepCopy()
		}
	}
}

// restarts reports whether an init container is a sidecar.
func restarts(c *corev1.Container) bool {
	return c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
}

func isHugePage(name corev1.ResourceName) bool {
	return strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix)
}
