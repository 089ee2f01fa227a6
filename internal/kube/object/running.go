package object

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// SystemNamespace is where the control plane's pods are.
const SystemNamespace = "kube-system"

// The programs of a control plane, as their images and pods are called.
const (
	APIServer = "kube-apiserver"
	Scheduler = "kube-scheduler"
)

// Runs returns the container of a pod that runs a program of the control plane, and the version by
// the tag of its image; nil where there is none, or no tag is a version.
func Runs(pod *corev1.Pod, program string) (c *corev1.Container, version string) {
	for i := range pod.Spec.Containers {
		image, _, _ := strings.Cut(pod.Spec.Containers[i].Image, "@")
		name, tag, _ := strings.Cut(image[strings.LastIndexByte(image, '/')+1:], ":")
		if name == program && strings.HasPrefix(tag, "v1.") {
			return &pod.Spec.Containers[i], tag
		}
	}
	return nil, ""
}
