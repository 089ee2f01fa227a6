package podlife

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth/internal/words"
)

// Times of the control plane at its defaults, in seconds.
const (
	// lostEarliest and lostLatest bound the time from the death of a kubelet to the
	// taint on its node: a grace of 50 s (--node-monitor-grace-period), counted from
	// the last renewal of the lease (every 10 s) that a look every 5 s found
	// (pkg/controller/nodelifecycle node_lifecycle_controller.go tryUpdateNodeHealth).
	lostEarliest, lostLatest = 40, 60
	// monitorPeriod is how often node conditions are looked at.
	monitorPeriod = 5
	// startupGrace is the grace of a node that never reported.
	startupGrace = 60
	// A node that is missing is quarantined for 40 s and looked up every 20 s
	// (pkg/controller/podgc gc_controller.go gcOrphaned, discoverDeletedNodes).
	orphanEarliest, orphanLatest = 40, 60
)

// ruleSinceUnknown is the rule of a deletion whose time cannot be told.
const ruleSinceUnknown = "node-deletion/since-unknown"

// The controllers that delete pods because of their nodes.
const (
	byTaintEviction = "taint-eviction-controller"
	byPodGC         = "pod-garbage-collector-controller"
)

// NodeDeletion is when the control plane deletes a pod because of its node. A pod
// whose node does not answer stays Terminating from then on.
type NodeDeletion struct {
	// At is when the pod is deleted; the earliest moment where Latest is there. It
	// may be past. Absent: nothing deletes the pod.
	At *time.Time `json:"deletedAt,omitempty"`
	// Latest is the latest moment, where no object shows the exact one.
	Latest *time.Time `json:"deletedAtLatest,omitempty"`
	// By is the controller that deletes it.
	By string `json:"by,omitempty" enums:"taint-eviction-controller,pod-garbage-collector-controller"`
	// Taint decides, as key:effect.
	Taint string `json:"taint,omitempty" example:"node.kubernetes.io/unreachable:NoExecute"`
	// TolerationSeconds is how long the pod tolerates that taint.
	TolerationSeconds *int64 `json:"tolerationSeconds,omitempty"`
	Rule              Rule   `json:"rule"`
} // @name NodeDeletion

// DeletionByNode works out when a pod is deleted for its node's sake: for taints
// with effect NoExecute that the node has, or gets because it is not Ready, and
// for a node that is gone (nil). lostSince is the kubelet's last sign of life, or
// when the node went; nil: its Ready condition says it. A pod that was never
// stored is judged with the default tolerations. Neither argument is written.
//
// Upstream: pkg/controller/tainteviction taint_eviction.go processPodOnNode,
// pkg/controller/nodelifecycle monitorNodeHealth, pkg/controller/podgc.
func DeletionByNode(pod *corev1.Pod, node *corev1.Node, lostSince *time.Time, now time.Time) NodeDeletion {
	switch {
	case pod.Spec.NodeName == "":
		return NodeDeletion{Rule: Rule{"node-deletion/no-node", "The pod has no node."}}
	case pod.DeletionTimestamp != nil:
		return NodeDeletion{Rule: Rule{"node-deletion/deleted-before", "The pod is being deleted already."}}
	case node == nil:
		return orphaned(lostSince, now)
	}
	p := pod
	if neverStored(pod) {
		p = pod.DeepCopy()
		AddTolerationSeconds(&p.Spec)
	}
	early, late, why := lossTaint(node, lostSince)
	list := noExecute(node.Spec.Taints, now)
	if missing := sinceMissing(node); missing != "" && lostSince == nil {
		return sinceUnknown(p.Spec.Tolerations, node, list, missing)
	}
	if early == nil && len(list) == 0 && len(node.Status.Conditions) == 0 {
		return NodeDeletion{Rule: Rule{"node-deletion/none", "The node has no conditions: no kubelet reports on it, and it counts as healthy. It has no taint with effect NoExecute either: nothing deletes the pod because of its node."}}
	}
	if early == nil || slices.ContainsFunc(list, func(t corev1.Taint) bool { return t.Key == early.Key }) {
		return evictionByTaints(p.Spec.Tolerations, list).answer("")
	}
	first := evictionByTaints(p.Spec.Tolerations, append(list[:len(list):len(list)], *early))
	last := evictionByTaints(p.Spec.Tolerations, append(list[:len(list):len(list)], *late))
	out := first.answer(why)
	if first.at != nil && !last.at.Equal(*first.at) {
		out.Latest = inYears(*last.at)
	}
	return out
}

// sinceMissing names what a node that is not Ready lacks to tell since when; ""
// where nothing is missing.
func sinceMissing(node *corev1.Node) string {
	ready := readyCondition(node)
	switch {
	case NodeStateOf(node) == NodeHealthy, len(node.Status.Conditions) == 0:
		return ""
	case ready != nil && ready.LastTransitionTime.IsZero():
		return "its condition Ready has no lastTransitionTime"
	case ready == nil && node.CreationTimestamp.IsZero():
		return "it has no condition Ready and no metadata.creationTimestamp"
	}
	return ""
}

// sinceUnknown is the deletion of a pod on a node that is not Ready since an unknown time. It is
// known all the same where the node has the taint already, or where the pod tolerates it without a
// limit.
func sinceUnknown(tolerations []corev1.Toleration, node *corev1.Node, list []corev1.Taint, missing string) NodeDeletion {
	lost := corev1.Taint{Key: corev1.TaintNodeUnreachable, Effect: corev1.TaintEffectNoExecute}
	if r := readyCondition(node); r != nil && r.Status == corev1.ConditionFalse {
		lost.Key = corev1.TaintNodeNotReady
	}
	if slices.ContainsFunc(list, func(t corev1.Taint) bool { return t.Key == lost.Key }) {
		return evictionByTaints(tolerations, list).answer("")
	}
	t := matchingToleration(tolerations, &lost)
	if t == nil || t.TolerationSeconds != nil {
		return NodeDeletion{Rule: Rule{ruleSinceUnknown, "The node is not Ready, and it is not known since when: " + missing + ". So when the pod is deleted is not known either; give nodeLostSince."}}
	}
	if len(list) == 0 {
		list = noExecute([]corev1.Taint{lost}, time.Time{}) // of no effect, whenever it was added
	}
	return evictionByTaints(tolerations, list).answer("The node is not Ready. ")
}

// orphaned is the deletion of a pod whose node has no object any more.
func orphaned(since *time.Time, now time.Time) NodeDeletion {
	from, text := now, "The node does not exist any more; counted from now, since it is not known since when. "
	if since != nil {
		from, text = *since, fmt.Sprintf("The node does not exist since %s. ", since.UTC().Format(time.RFC3339))
	}
	return NodeDeletion{
		At: inYears(addSeconds(from, orphanEarliest)), Latest: inYears(addSeconds(from, orphanLatest)), By: byPodGC,
		Rule: Rule{"node-deletion/orphaned", text + "PodGC deletes its pods without a grace period 40 to 60 seconds after the node went."},
	}
}

// lossTaint is the taint that a node without NoExecute taints gets because it is
// not Ready, with the earliest and latest time that it has it from; nil for a node
// that is Ready and was not lost.
func lossTaint(node *corev1.Node, lostSince *time.Time) (early, late *corev1.Taint, why string) {
	between := func(key string, from time.Time, least, most int64) (early, late *corev1.Taint) {
		taint := func(after int64) *corev1.Taint {
			at := metav1.NewTime(addSeconds(from, after))
			return &corev1.Taint{Key: key, Effect: corev1.TaintEffectNoExecute, TimeAdded: &at}
		}
		return taint(least), taint(most)
	}
	ready := readyCondition(node)
	dated := ready != nil && !ready.LastTransitionTime.IsZero()
	at := func(t time.Time) string { return t.UTC().Format(time.RFC3339) }
	switch {
	case dated && ready.Status == corev1.ConditionUnknown:
		early, late = between(corev1.TaintNodeUnreachable, ready.LastTransitionTime.Time, 0, 0)
		return early, late, "The node is unreachable since " + at(ready.LastTransitionTime.Time) + " and tainted at once (where a zone loses several nodes, one every 10 seconds). "
	case dated && ready.Status == corev1.ConditionFalse:
		early, late = between(corev1.TaintNodeNotReady, ready.LastTransitionTime.Time, 0, monitorPeriod)
		return early, late, "The node is not Ready since " + at(ready.LastTransitionTime.Time) + " and tainted within 5 seconds. "
	case lostSince != nil:
		early, late = between(corev1.TaintNodeUnreachable, *lostSince, lostEarliest, lostLatest)
		return early, late, "The node does not report since " + at(*lostSince) + " and is tainted 40 to 60 seconds later. "
	case ready == nil && len(node.Status.Conditions) > 0 && !node.CreationTimestamp.IsZero():
		early, late = between(corev1.TaintNodeUnreachable, node.CreationTimestamp.Time, startupGrace, startupGrace+monitorPeriod)
		return early, late, "The node has never reported since " + at(node.CreationTimestamp.Time) + " and is tainted after 60 seconds unless it does. "
	}
	return nil, nil, ""
}

// EndsPods reports whether pods of a node that are deleted go: their kubelet ends them, or PodGC
// where the node is out of service. Ready is Unknown where the kubelet reports no more; it is False
// by the kubelet's own word.
func EndsPods(node *corev1.Node) bool {
	ready := readyCondition(node)
	return ready == nil || ready.Status != corev1.ConditionUnknown || OutOfService(node)
}

// readyCondition returns the condition Ready of a node; nil if it has none.
func readyCondition(node *corev1.Node) *corev1.NodeCondition {
	for i := range node.Status.Conditions {
		if c := &node.Status.Conditions[i]; c.Type == corev1.NodeReady {
			return c
		}
	}
	return nil
}

// neverStored reports whether no API server has stored the pod, so that it lacks
// what admission adds.
func neverStored(p *corev1.Pod) bool {
	return p.UID == "" && p.CreationTimestamp.IsZero()
}

// The states of nodes, as in kubectl's column STATUS.
const (
	NodeIsReady  = "Ready"
	NodeNotReady = "NotReady"
)

// NodeHealth is how a node stands, by its own conditions.
type NodeHealth struct {
	// State is Ready or NotReady; absent where the node says nothing of itself.
	State string `json:"state,omitempty" enums:"Ready,NotReady" example:"NotReady"`
	// Since is when the state began; absent where the condition does not say.
	Since *time.Time `json:"since,omitempty"`
	// Conditions are those that are true of the node and should not be.
	Conditions []string `json:"conditions,omitempty" example:"MemoryPressure"`
	// Deleting reports that the node is being deleted.
	Deleting bool `json:"deleting,omitempty"`
}

// HealthOf reads a node's health.
func HealthOf(node *corev1.Node) NodeHealth {
	out := NodeHealth{Deleting: node.DeletionTimestamp != nil}
	ready := readyCondition(node)
	switch {
	case NodeStateOf(node) == NodeLost:
		out.State = NodeNotReady
	case ready != nil:
		out.State = NodeIsReady
	}
	if ready != nil && !ready.LastTransitionTime.IsZero() {
		at := ready.LastTransitionTime.UTC()
		out.Since = &at
	}
	for i := range node.Status.Conditions {
		if c := &node.Status.Conditions[i]; c.Type != corev1.NodeReady && c.Status == corev1.ConditionTrue && trouble(c.Type) {
			out.Conditions = append(out.Conditions, string(c.Type))
		}
	}
	return out
}

// trouble reports whether a condition is bad news where it is True.
func trouble(t corev1.NodeConditionType) bool {
	switch t {
	case corev1.NodeMemoryPressure, corev1.NodeDiskPressure, corev1.NodePIDPressure, corev1.NodeNetworkUnavailable:
		return true
	}
	return false
}

// Words returns what is wrong with a node, such as "NotReady since 00:58:00, cordoned"; empty for
// nothing.
func (h *NodeHealth) Words(cordoned bool, now time.Time) string {
	var list []string
	if h.State == NodeNotReady {
		s := NodeNotReady
		if h.Since != nil {
			s += " since " + words.Clock(*h.Since, now)
		}
		list = append(list, s)
	}
	if cordoned {
		list = append(list, "cordoned")
	}
	list = append(list, h.Conditions...)
	if h.Deleting {
		list = append(list, "being deleted")
	}
	return strings.Join(list, ", ")
}
