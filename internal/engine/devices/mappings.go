package devices

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
)

// ExtendedMappings returns which container uses which of the requests that ExtendedRequests makes.
// Containers that live as long as the pod use their own. Those that end before others start use
// those of later containers, and then the one for what they need beyond
// (plugins/dynamicresources/extendeddynamicresources.go createRequestsAndMappings).
func ExtendedMappings(pod *corev1.Pod, resources []corev1.ResourceName, class func(corev1.ResourceName) *resourcev1.DeviceClass) []corev1.ContainerExtendedResourceRequest {
	containers := slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers)
	var out []corev1.ContainerExtendedResourceRequest
	for _, name := range resources {
		c := class(name)
		if c == nil {
			continue
		}
		note := func(i int, request string) {
			out = append(out, corev1.ContainerExtendedResourceRequest{ContainerName: containers[i].Name, ResourceName: string(name), RequestName: request})
		}
		own := func(i int) string { return deviceRequest(i, &containers[i], name, c, 0).Name }
		stays := make([]int64, len(containers))
		for i := range containers {
			if !passes(pod, &containers[i], i) {
				if stays[i] = wants(&containers[i], name); stays[i] > 0 {
					note(i, own(i))
				}
			}
		}
		// Of what containers need beyond that, only the largest amount is requested.
		besides := make([]int64, len(containers))
		largest := -1
		for i := range containers {
			if !passes(pod, &containers[i], i) {
				continue
			}
			besides[i] = wants(&containers[i], name)
			for _, later := range stays[i:] {
				besides[i] -= later
			}
			if besides[i] > 0 && (largest < 0 || besides[i] > besides[largest]) {
				largest = i
			}
		}
		for i := range containers {
			if !passes(pod, &containers[i], i) {
				continue
			}
			n := wants(&containers[i], name)
			for k := i; k < len(containers) && n > 0; k++ {
				if stays[k] > 0 {
					note(i, own(k))
					n -= stays[k]
				}
			}
			if n > 0 {
				note(i, own(largest))
			}
		}
	}
	return out
}

// passes reports whether the nth of all containers ends before others start.
func passes(pod *corev1.Pod, c *corev1.Container, n int) bool {
	return n < len(pod.Spec.InitContainers) && (c.RestartPolicy == nil || *c.RestartPolicy != corev1.ContainerRestartPolicyAlways)
}
