package podlife

import (
	"cmp"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth/internal/steps"
)

// DefaultTerminatedPodThreshold is how many pods that are over may stay
// (cmd/kube-controller-manager, --terminated-pod-gc-threshold).
const DefaultTerminatedPodThreshold = 12500

// Garbage is a pod that PodGC deletes, with period 0.
type Garbage struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	UID       string `json:"uid,omitempty"`
	// Reason is terminated, out-of-service, orphaned or unscheduled: the first step
	// that takes the pod.
	Reason string `json:"reason" enums:"terminated,out-of-service,orphaned,unscheduled"`
	// Why is the reason in a sentence.
	Why string `json:"why"`
	// Patch is the strategic merge patch of the status that is sent before the
	// delete; absent if the pod is over already.
	Patch *StatusPatch `json:"patch,omitempty"`
} // @name GarbagePod

// CollectGarbage is one pass of PodGC: who is deleted, in the order of its steps
// and within them of its queue (pkg/controller/podgc gc_controller.go gc). The
// quarantine of vanished nodes is taken as over. A threshold of 0 or less turns
// the first step off. The error is that of the counter's context; a nil counter has none.
func CollectGarbage(count *steps.Counter, pods []*corev1.Pod, nodes []*corev1.Node, threshold int, now time.Time) ([]Garbage, error) {
	g := &garbage{taken: map[*corev1.Pod]bool{}, nodes: map[string]*corev1.Node{}, now: now, out: []Garbage{}}
	for _, n := range nodes {
		g.nodes[n.Name] = n
	}
	var over, outOfService, orphaned, unscheduled []*corev1.Pod
	for _, p := range pods {
		if err := count.Take(1); err != nil {
			return nil, err
		}
		if counts(p) {
			over = append(over, p)
		}
		n, known := g.nodes[p.Spec.NodeName]
		switch {
		case p.DeletionTimestamp != nil && known && OutOfService(n):
			outOfService = append(outOfService, p)
		case p.Spec.NodeName != "" && !known:
			orphaned = append(orphaned, p)
		case p.DeletionTimestamp != nil && p.Spec.NodeName == "":
			unscheduled = append(unscheduled, p)
		}
	}
	keep := len(over)
	if threshold > 0 {
		keep = min(keep, threshold)
	}
	passes := []struct {
		reason string
		pods   []*corev1.Pod
		keep   int // how many stay, the last of the order
		order  func(a, b *corev1.Pod) int
		why    func(nodeName string) string
	}{
		{"terminated", over, keep, beforeInGarbage, func(string) string {
			return "more pods are over than the threshold allows; evicted ones go first, then the oldest"
		}},
		{"out-of-service", outOfService, 0, beforeInGarbage, func(string) string {
			return "it is being deleted on a node that is not ready and has the taint " + corev1.TaintNodeOutOfService
		}},
		{"orphaned", orphaned, 0, byNamespaceAndName, func(nodeName string) string {
			return "its node " + nodeName + " no longer exists"
		}},
		{"unscheduled", unscheduled, 0, byNamespaceAndName, func(string) string {
			return "it is being deleted and was never given a node"
		}},
	}
	for _, pass := range passes {
		if len(pass.pods) == pass.keep {
			continue
		}
		if err := steps.Sort(count, pass.pods, pass.order); err != nil {
			return nil, err
		}
		for _, p := range pass.pods[:len(pass.pods)-pass.keep] {
			if err := count.Take(takeSteps); err != nil {
				return nil, err
			}
			g.take(p, pass.reason, pass.why(p.Spec.NodeName))
		}
	}
	return g.out, nil
}

// takeSteps is what one pod of the answer takes, in steps of a Counter: most are patched.
const takeSteps = 20

type garbage struct {
	nodes map[string]*corev1.Node
	taken map[*corev1.Pod]bool
	now   time.Time
	out   []Garbage
}

// take puts a pod into the answer, if no step before has.
func (g *garbage) take(p *corev1.Pod, reason, why string) {
	if g.taken[p] {
		return
	}
	g.taken[p] = true
	out := Garbage{Namespace: p.Namespace, Name: p.Name, UID: string(p.UID), Reason: reason, Why: why}
	if !terminal(p.Status.Phase) {
		out.Patch = failedPatch(p, reason == "orphaned", g.now)
	}
	g.out = append(g.out, out)
}

// counts reports whether a pod counts as over: all phases but Pending, Running and
// Unknown do, also that of a pod that is being deleted.
func counts(p *corev1.Pod) bool {
	switch p.Status.Phase {
	case corev1.PodPending, corev1.PodRunning, corev1.PodUnknown:
		return false
	}
	return true
}

// OutOfService reports whether a node has the taint, with whatever effect, and is not ready; one
// without the condition is not, either (pkg/controller/podgc/gc_controller.go gcTerminating).
func OutOfService(n *corev1.Node) bool {
	for _, c := range n.Status.Conditions {
		if c.Type == corev1.NodeReady {
			if c.Status == corev1.ConditionTrue {
				return false
			}
			break
		}
	}
	return slices.ContainsFunc(n.Spec.Taints, func(t corev1.Taint) bool { return t.Key == corev1.TaintNodeOutOfService })
}

// beforeInGarbage sorts evicted pods first, then by age, the oldest first, then by name and, where
// upstream's order is arbitrary, by namespace (gc_controller.go byEvictionAndCreationTimestamp).
func beforeInGarbage(a, b *corev1.Pod) int {
	if n := trueFirst(isEvicted(a), isEvicted(b)); n != 0 {
		return n
	}
	return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Namespace, b.Namespace))
}

func byNamespaceAndName(a, b *corev1.Pod) int {
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}

// isEvicted: pkg/kubelet/eviction helpers.go PodIsEvicted.
func isEvicted(p *corev1.Pod) bool {
	return p.Status.Phase == corev1.PodFailed && p.Status.Reason == "Evicted"
}

// StatusPatch is a strategic merge patch of a pod's status, in the form in which
// clients send it. The generation that was observed is not in it: snapshots do
// not keep what it is.
type StatusPatch struct {
	Metadata *PatchMetadata `json:"metadata,omitempty"`
	Status   PatchStatus    `json:"status"`
} // @name StatusPatch

// PatchMetadata is a patch's precondition.
type PatchMetadata struct {
	UID string `json:"uid"`
} // @name StatusPatchMetadata

// PatchStatus is what changes; conditions are merged by their type.
type PatchStatus struct {
	Order      []ConditionType  `json:"$setElementOrder/conditions,omitempty"`
	Conditions []PatchCondition `json:"conditions,omitempty"`
	Phase      string           `json:"phase"`
} // @name StatusPatchStatus

// ConditionType names a condition.
type ConditionType struct {
	Type string `json:"type"`
} // @name StatusPatchConditionType

// PatchCondition is what changes of a condition; of one that was there already
// only that.
type PatchCondition struct {
	LastTransitionTime *metav1.Time `json:"lastTransitionTime,omitempty" swaggertype:"string" format:"date-time"`
	Message            string       `json:"message,omitempty"`
	Reason             string       `json:"reason,omitempty"`
	Status             string       `json:"status,omitempty"`
	Type               string       `json:"type"`
} // @name StatusPatchCondition

// DisruptionTarget of a pod whose node is gone (gc_controller.go gcOrphaned).
const (
	reasonByPodGC  = "DeletionByPodGC"
	messageByPodGC = "PodGC: node no longer exists"
)

// failedPatch makes a pod Failed; of an orphan it names the reason, too, in the place of
// whatever DisruptionTarget there was (gc_controller.go
// markFailedAndDeletePodWithCondition, pkg/api/v1/pod UpdatePodCondition).
func failedPatch(p *corev1.Pod, orphan bool, now time.Time) *StatusPatch {
	out := &StatusPatch{Status: PatchStatus{Phase: string(corev1.PodFailed)}}
	if p.UID != "" {
		out.Metadata = &PatchMetadata{string(p.UID)}
	}
	if !orphan {
		return out
	}
	c := PatchCondition{Type: string(corev1.DisruptionTarget)}
	var old *corev1.PodCondition
	for i := range p.Status.Conditions {
		have := &p.Status.Conditions[i]
		out.Status.Order = append(out.Status.Order, ConditionType{string(have.Type)})
		if have.Type == corev1.DisruptionTarget && old == nil {
			old = have
		}
	}
	if old == nil {
		if len(p.Status.Conditions) > 0 { // the first of all needs no order
			out.Status.Order = append(out.Status.Order, ConditionType{c.Type})
		}
		old = &corev1.PodCondition{}
	}
	if old.Reason != reasonByPodGC {
		c.Reason = reasonByPodGC
	}
	if old.Message != messageByPodGC {
		c.Message = messageByPodGC
	}
	if old.Status != corev1.ConditionTrue {
		c.Status = string(corev1.ConditionTrue)
		c.LastTransitionTime = &metav1.Time{Time: now.UTC().Truncate(time.Second)}
	}
	if c == (PatchCondition{Type: c.Type}) {
		out.Status.Order = nil
		return out
	}
	out.Status.Conditions = []PatchCondition{c}
	return out
}
