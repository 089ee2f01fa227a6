package podlife

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
)

// taintEviction is what becomes of a pod under its node's taints.
type taintEviction struct {
	at        *time.Time    // when it is deleted; nil: never
	taint     *corev1.Taint // the one that decides; nil without any
	seconds   *int64        // how long it is tolerated; nil: not at all, or for ever
	tolerated bool
}

// noExecute returns the taints with effect NoExecute. One without a time counts
// from now.
func noExecute(taints []corev1.Taint, now time.Time) (out []corev1.Taint) {
	for _, t := range taints {
		if t.Effect != corev1.TaintEffectNoExecute {
			continue
		}
		if t.TimeAdded == nil {
			at := metav1.NewTime(now)
			t.TimeAdded = &at
		}
		out = append(out, t)
	}
	return out
}

// evictionByTaints plays the taints in the order in which they were added, as the
// controller sees them. A count that runs is not moved by a later taint, be its
// toleration shorter; a taint that is not tolerated ends it at once
// (pkg/controller/tainteviction taint_eviction.go processPodOnNode,
// getMinTolerationTime).
func evictionByTaints(tolerations []corev1.Toleration, taints []corev1.Taint) taintEviction {
	var moments []time.Time
	for i := range taints {
		moments = append(moments, taints[i].TimeAdded.Time)
	}
	slices.SortFunc(moments, time.Time.Compare)
	moments = slices.CompactFunc(moments, time.Time.Equal)
	var out taintEviction
	for _, moment := range moments {
		if out.at != nil && !out.at.After(moment) {
			break // it is deleted before
		}
		var there []corev1.Taint
		for i := range taints {
			if !taints[i].TimeAdded.After(moment) {
				there = append(there, taints[i])
			}
		}
		next := evictionAt(tolerations, there, moment)
		if out.at == nil || !next.tolerated {
			out = next
		}
	}
	return out
}

// evictionAt is what the controller decides when it sees these taints: the first
// toleration that matches each taint counts, and of those the shortest.
func evictionAt(tolerations []corev1.Toleration, taints []corev1.Taint, now time.Time) taintEviction {
	out := taintEviction{tolerated: true}
	for i := range taints {
		t := matchingToleration(tolerations, &taints[i])
		if t == nil {
			return taintEviction{at: &now, taint: &taints[i]}
		}
		if out.taint == nil {
			out.taint = &taints[i]
		}
		if t.TolerationSeconds == nil {
			continue
		}
		seconds := max(*t.TolerationSeconds, 0)
		if out.seconds == nil || seconds < *out.seconds {
			at := addSeconds(now, seconds)
			out.at, out.taint, out.seconds = &at, &taints[i], &seconds
		}
	}
	return out
}

// DeletionByTaints is when a pod is deleted for the taints with effect NoExecute that its node has:
// counted from now, as the controller counts that sees them, or with played from when they were
// added. Neither argument is written.
func DeletionByTaints(pod *corev1.Pod, node *corev1.Node, played bool, now time.Time) NodeDeletion {
	if neverStored(pod) {
		pod = pod.DeepCopy()
		AddTolerationSeconds(&pod.Spec)
	}
	list := noExecute(node.Spec.Taints, now)
	if played {
		return evictionByTaints(pod.Spec.Tolerations, list).answer("")
	}
	return evictionAt(pod.Spec.Tolerations, list, now).answer("")
}

// matchingToleration is the first one that tolerates a taint.
func matchingToleration(tolerations []corev1.Toleration, taint *corev1.Taint) *corev1.Toleration {
	for i := range tolerations {
		if tolerations[i].ToleratesTaint(klog.Logger{}, taint, false) {
			return &tolerations[i]
		}
	}
	return nil
}

// answer puts it in words, behind what is said of the node.
func (e taintEviction) answer(why string) NodeDeletion {
	if e.taint == nil {
		return NodeDeletion{Rule: Rule{"node-deletion/none", "Nothing says that its node is lost, and it has no taint with effect NoExecute: nothing deletes the pod because of its node."}}
	}
	name := e.taint.Key + ":" + string(e.taint.Effect)
	out := NodeDeletion{Taint: name, TolerationSeconds: e.seconds}
	if e.at == nil {
		out.Rule = Rule{"node-deletion/tolerated", why + "The pod tolerates " + name + " without a limit, so it stays bound to the node."}
		return out
	}
	out.At, out.By = inYears(*e.at), byTaintEviction
	if !e.tolerated {
		out.Rule = Rule{"node-deletion/not-tolerated", why + "The pod does not tolerate " + name + ", so it is deleted as soon as the taint is there."}
		return out
	}
	out.Rule = Rule{"node-deletion/toleration-seconds", fmt.Sprintf("%sThe pod tolerates %s for %d seconds, and is deleted then unless the taint goes before.", why, name, *e.seconds)}
	return out
}

// defaultTolerationSeconds is how long a pod stays on a node that is not ready or
// not reachable, unless it says otherwise (kube-apiserver's
// --default-not-ready-toleration-seconds and --default-unreachable-toleration-seconds).
const defaultTolerationSeconds = 300

// AddTolerationSeconds adds to a pod that is created or updated the tolerations of
// the node's two NoExecute taints that it has no toleration for. A toleration
// counts by its key and effect alone; its operator, value and seconds are not read
// (plugin/pkg/admission/defaulttolerationseconds admission.go Admit).
func AddTolerationSeconds(s *corev1.PodSpec) {
	for _, key := range []string{corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable} {
		if !HasNoExecute(s.Tolerations, key) {
			s.Tolerations = append(s.Tolerations, corev1.Toleration{
				Key: key, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute,
				TolerationSeconds: new(int64(defaultTolerationSeconds)),
			})
		}
	}
}

// HasNoExecute reports whether a toleration is about a key's NoExecute taint.
func HasNoExecute(list []corev1.Toleration, key string) bool {
	for i := range list {
		t := &list[i]
		if (t.Key == key || t.Key == "") && (t.Effect == corev1.TaintEffectNoExecute || t.Effect == "") {
			return true
		}
	}
	return false
}
