package scenario

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// DrainFlags are those of kubectl drain that decide which pods it takes.
type DrainFlags struct {
	// IgnoreDaemonSets leaves pods of DaemonSets where they are; without it they are refused.
	IgnoreDaemonSets bool
	// DeleteEmptyDirData takes pods with local data, which is lost.
	DeleteEmptyDirData bool
	// Force takes pods that no controller manages, which do not come back.
	Force bool
}

// What kubectl drain does with a pod.
type drainVerdict uint8

const (
	drainTakes drainVerdict = iota
	drainSkips
	drainRefuses
)

// judgeDrain returns what kubectl drain does with a pod, and why where it does not take it; the
// first filter that does not let it pass decides (k8s.io/kubectl/pkg/drain/filters.go makeFilters,
// daemonSetFilter, mirrorPodFilter, localStorageFilter, unreplicatedFilter). Snapshots have no
// DaemonSets: the one of a pod is taken to exist.
func (f DrainFlags) judgeDrain(pod *corev1.Pod) (v drainVerdict, why string) {
	over := pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
	switch {
	case isDaemon(pod) && !over && !f.IgnoreDaemonSets:
		return drainRefuses, "it is managed by a DaemonSet (use --ignore-daemonsets to leave it)"
	case isDaemon(pod) && !over:
		return drainSkips, "it is managed by a DaemonSet"
	case isMirror(pod):
		return drainSkips, "it is a mirror pod"
	case over:
		return drainTakes, ""
	case hasLocalData(pod) && !f.DeleteEmptyDirData:
		return drainRefuses, "it has local data (use --delete-emptydir-data to lose it)"
	case metav1.GetControllerOfNoCopy(pod) == nil && !f.Force:
		return drainRefuses, "no controller manages it (use --force to delete it for good)"
	}
	return drainTakes, ""
}

func hasLocalData(pod *corev1.Pod) bool {
	for i := range pod.Spec.Volumes {
		if pod.Spec.Volumes[i].EmptyDir != nil {
			return true
		}
	}
	return false
}
