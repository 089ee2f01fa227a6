package devices

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
)

// ExtendedRequests turns a pod's requests for the named extended resources into requests for
// devices of the classes that provide them. Each container that lives as long as the pod gets
// devices of its own. Containers that end before others start use those of later containers; of
// what they need beyond that, only the largest amount counts
// (plugins/dynamicresources/extendeddynamicresources.go createRequestsAndMappings).
func ExtendedRequests(pod *corev1.Pod, resources []corev1.ResourceName, class func(corev1.ResourceName) *resourcev1.DeviceClass) []resourcev1.DeviceRequest {
	containers := slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers)
	passes := func(i int) bool { return passes(pod, &containers[i], i) }
	var out []resourcev1.DeviceRequest
	for _, name := range resources {
		c := class(name)
		if c == nil {
			continue
		}
		stays := make([]int64, len(containers))
		for i := range containers {
			if !passes(i) {
				stays[i] = wants(&containers[i], name)
			}
		}
		most, of := int64(0), -1
		for i := range containers {
			if !passes(i) {
				continue
			}
			n := wants(&containers[i], name)
			for _, later := range stays[i:] {
				n -= later
			}
			if n > most {
				most, of = n, i
			}
		}
		if of >= 0 {
			out = append(out, deviceRequest(of, &containers[of], name, c, most))
		}
		for i, n := range stays {
			if n > 0 {
				out = append(out, deviceRequest(i, &containers[i], name, c, n))
			}
		}
	}
	slices.SortFunc(out, func(a, b resourcev1.DeviceRequest) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// wants is the amount that a container requests, 0 where it is no whole number of 64 bits. Upstream
// reads it with AsInt64, of what an API server wrote anew: 2 for 2.0, which AsInt64 does not take.
func wants(c *corev1.Container, name corev1.ResourceName) int64 {
	q, ok := c.Resources.Requests[name]
	if !ok {
		return 0
	}
	n := q.Value()
	if q.CmpInt64(n) != 0 {
		return 0
	}
	return n
}

// deviceRequest makes a request. Its name holds the container's index and the resource's index
// among the container's requests.
func deviceRequest(i int, c *corev1.Container, name corev1.ResourceName, class *resourcev1.DeviceClass, n int64) resourcev1.DeviceRequest {
	place := 0
	for other := range c.Resources.Requests {
		if other < name {
			place++
		}
	}
	return resourcev1.DeviceRequest{
		Name:    fmt.Sprintf("container-%d-request-%d", i, place),
		Exactly: &resourcev1.ExactDeviceRequest{DeviceClassName: class.Name, AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: n},
	}
}
