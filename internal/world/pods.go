package world

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth/internal/kube/object"
)

// PodName is the name of a pod in its namespace.
type PodName struct{ Namespace, Name string }

// NameOf returns a pod's name.
func NameOf(p *corev1.Pod) PodName { return PodName{p.Namespace, p.Name} }

func (n PodName) String() string { return n.Namespace + "/" + n.Name }

// MarshalText and UnmarshalText are for what jobs keep.
func (n PodName) MarshalText() ([]byte, error) { return []byte(n.String()), nil }

func (n *PodName) UnmarshalText(text []byte) error {
	n.Namespace, n.Name, _ = strings.Cut(string(text), "/")
	return nil
}

// succession is what a pod's controller does once the pod is deleted.
type succession uint8

const (
	// noSuccessor: nothing creates the pod again.
	noSuccessor succession = iota
	// atDeletion: a pod that is being deleted counts no more, so another one is created at once
	// (pkg/controller/controller_utils.go IsPodActive).
	atDeletion
	// onceGone: the pod keeps its place until it is gone, then one takes it
	// (pkg/controller/statefulset/stateful_set_control.go processReplica, pkg/controller/daemon
	// podsShouldBeOnNode).
	onceGone
	// afterBackoff: a Job counts the pod as failed and waits before the next
	// (pkg/controller/job/backoff_utils.go).
	afterBackoff
)

// successionOf returns what becomes of a pod's place, and why where nothing does.
func successionOf(pod *corev1.Pod) (s succession, why string) {
	// A StatefulSet keeps a place for each ordinal, a DaemonSet for each node, and fills it again.
	if hasEnded(pod) && !ControlledBy(pod, "StatefulSet") && !IsDaemon(pod) {
		return noSuccessor, "it has ended"
	}
	if IsMirror(pod) {
		return noSuccessor, "its kubelet runs it from a file"
	}
	owner := metav1.GetControllerOfNoCopy(pod)
	switch {
	case owner == nil:
		return noSuccessor, "no controller manages it"
	case owner.Kind == "StatefulSet", owner.Kind == "DaemonSet":
		return onceGone, ""
	case pod.DeletionTimestamp != nil:
		return noSuccessor, "it was being deleted before, and is replaced already"
	case owner.Kind == "Job":
		return afterBackoff, ""
	}
	return atDeletion, ""
}

func hasEnded(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

// IsMirror reports whether a kubelet runs the pod from a file.
func IsMirror(pod *corev1.Pod) bool {
	_, ok := pod.Annotations[corev1.MirrorPodAnnotationKey]
	return ok
}

// IsDaemon reports whether a DaemonSet of apps/v1 controls the pod.
func IsDaemon(pod *corev1.Pod) bool {
	return ControlledBy(pod, "DaemonSet") && metav1.GetControllerOfNoCopy(pod).APIVersion == "apps/v1"
}

// ControlledBy reports whether a pod's controller is of a kind.
func ControlledBy(pod *corev1.Pod, kind string) bool {
	owner := metav1.GetControllerOfNoCopy(pod)
	return owner != nil && owner.Kind == kind
}

// OwnerOf names a pod's controller, as Kind/name; empty where it has none.
func OwnerOf(pod *corev1.Pod) string {
	if owner := metav1.GetControllerOfNoCopy(pod); owner != nil {
		return owner.Kind + "/" + owner.Name
	}
	return ""
}

// AssumedReady reports whether a pod is on a node and has no conditions that its kubelet writes.
func AssumedReady(pod *corev1.Pod) bool {
	return pod.Spec.NodeName != "" && ReadyCondition(pod) == nil && pod.Status.Phase != corev1.PodPending
}

// comparePods orders pods by namespace and name.
func comparePods(a, b PodName) int {
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}

// successor returns the pod that the controller creates in another one's place: the same template
// without what its life and its bind wrote. free reports whether a name is not taken.
func successor(pod *corev1.Pod, s succession, free func(name string) bool, now time.Time) *corev1.Pod {
	p := *pod
	if s != onceGone || IsDaemon(pod) {
		for i := 2; i == 2 && pod.UID != "" || !free(p.Name); i++ { // without a UID it is the first of its name
			p.Name = pod.Name + "-" + strconv.Itoa(i)
		}
	}
	p.UID = object.DerivedUID(object.Key{Kind: "Pod", Namespace: p.Namespace, Name: p.Name})
	p.CreationTimestamp = metav1.NewTime(now.UTC().Truncate(time.Second))
	p.DeletionTimestamp, p.DeletionGracePeriodSeconds = nil, nil
	p.Spec.NodeName, p.Status = "", corev1.PodStatus{Phase: corev1.PodPending}
	// A bind copies them from the node (plugin/pkg/admission/podtopologylabels).
	p.Labels = Without(pod.Labels, corev1.LabelTopologyZone, corev1.LabelTopologyRegion)
	return &p
}

// Without returns labels without some keys.
func Without(labels map[string]string, keys ...string) map[string]string {
	out := maps.Clone(labels)
	maps.DeleteFunc(out, func(k, _ string) bool { return slices.Contains(keys, k) })
	return out
}

// LongestStart is how long a start may take to be taken for one: what a Deployment waits for
// progress by default (progressDeadlineSeconds). Longer is a pod that was not ready in between.
const LongestStart = 600

// StartSeconds is how long a pod took from its start until it was ready; false where its status
// does not show it.
func StartSeconds(pod *corev1.Pod) (seconds int64, ok bool) {
	c := ReadyCondition(pod)
	if pod.Status.StartTime == nil || !IsReady(pod) || c.LastTransitionTime.IsZero() {
		return 0, false
	}
	took := int64(c.LastTransitionTime.Sub(pod.Status.StartTime.Time) / time.Second)
	return took, took >= 0 && took <= LongestStart
}
