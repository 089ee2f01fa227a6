package scenario

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth/internal/world"
)

// What kubectl drain does with a pod.
type drainVerdict uint8

const (
	drainTakes drainVerdict = iota
	drainSkips
	drainRefuses
)

// judge returns what kubectl drain does with a pod, and why where it does not take it; the
// first filter that does not let it pass decides (k8s.io/kubectl/pkg/drain/filters.go makeFilters,
// daemonSetFilter, mirrorPodFilter, localStorageFilter, unreplicatedFilter). A snapshot may lack
// DaemonSets: the one of a pod is taken to exist.
func (q *DrainQuestion) judge(pod *corev1.Pod) (v drainVerdict, why string) {
	over := pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
	switch {
	case world.IsDaemon(pod) && !over && q.IgnoreDaemonSets != nil && !*q.IgnoreDaemonSets:
		return drainRefuses, "it is managed by a DaemonSet (use --ignore-daemonsets to leave it)"
	case world.IsDaemon(pod) && !over:
		return drainSkips, "it is managed by a DaemonSet"
	case world.IsMirror(pod):
		return drainSkips, "it is a mirror pod"
	case over:
		return drainTakes, ""
	case hasLocalData(pod) && !q.DeleteEmptyDirData:
		return drainRefuses, "it has local data (use --delete-emptydir-data to lose it)"
	case metav1.GetControllerOfNoCopy(pod) == nil && !q.Force:
		return drainRefuses, "no controller manages it (use --force to delete it for good)"
	}
	return drainTakes, ""
}

func hasLocalData(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Spec.Volumes, func(v corev1.Volume) bool { return v.EmptyDir != nil })
}

// skips notes a pod that stays.
func (n *DrainedNode) skips(pod *corev1.Pod, why string) {
	n.Skipped = append(n.Skipped, PodReason{pod.Namespace, pod.Name, why, nil})
	if world.IsDaemon(pod) {
		n.daemons++
	}
}

// whyNot is why the drain of a node is not done; empty where it is.
func (n *DrainedNode) whyNot() string {
	switch {
	case len(n.Refused) > 0:
		return "refused: " + n.Refused[0].Name + ": " + n.Refused[0].Reason
	case len(n.Blocked) > 0:
		return "blocked: " + n.Blocked[0].Name + ": " + n.Blocked[0].Reason
	}
	return ""
}
