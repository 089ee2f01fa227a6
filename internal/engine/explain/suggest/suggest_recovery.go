package suggest

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// ailments are the taints by which controllers mark faults of a node. A pod that tolerated them
// would not start there, or not run for long. Controllers remove all but out-of-service once the
// node has recovered (pkg/controller/nodelifecycle node_lifecycle_controller.go
// nodeConditionToTaintKeyStatusMap; k8s.io/cloud-provider/api).
var ailments = []string{
	corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable, corev1.TaintNodeMemoryPressure, corev1.TaintNodeDiskPressure,
	corev1.TaintNodePIDPressure, corev1.TaintNodeNetworkUnavailable, corev1.TaintNodeOutOfService,
	"node.cloudprovider.kubernetes.io/uninitialized", "node.cloudprovider.kubernetes.io/shutdown",
}

// ails reports whether a taint marks a fault of its node.
func ails(key string) bool {
	return slices.Contains(ailments, key)
}

// recoveries repairs the first faulty node, by name, that fits otherwise.
func (s *searcher) recoveries() {
	if !slices.ContainsFunc(s.causes(1<<30, "taint"), func(d *seen) bool { return ails(d.Key) }) {
		return
	}
	v := s.probe(func(p *corev1.Pod) {
		for _, key := range ailments {
			p.Spec.Tolerations = append(p.Spec.Tolerations, corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists})
		}
	})
	if v == nil {
		return
	}
	name := v.first(func(row int) bool {
		return slices.ContainsFunc(v.nodes.Node(row).Taints, func(t corev1.Taint) bool { return ails(t.Key) })
	})
	n, _ := s.node(name)
	if n == nil {
		return
	}
	var ops []Op
	var keys []string
	for i := len(n.Spec.Taints) - 1; i >= 0; i-- { // from the end, so that indexes hold
		if key := n.Spec.Taints[i].Key; ails(key) {
			ops = append(ops, Op{Op: "remove", Path: pointer("spec", "taints", i)})
			if !slices.Contains(keys, key) {
				keys = append(keys, key)
			}
		}
	}
	slices.Sort(keys)
	s.offerNode("recover", costRecover, name, "repair node "+name+" ("+untainting(keys)+")", ops...)
}

// untainting describes how a node loses the taints with these keys. Administrators set and remove
// out-of-service; controllers remove the others.
func untainting(keys []string) string {
	const manual = corev1.TaintNodeOutOfService
	auto := slices.DeleteFunc(slices.Clone(keys), func(key string) bool { return key == manual })
	var parts []string
	switch len(auto) {
	case 0:
	case 1:
		parts = append(parts, "the taint "+auto[0]+" is removed automatically once it is healthy")
	default:
		parts = append(parts, "the taints "+strings.Join(auto, ", ")+" are removed automatically once it is healthy")
	}
	if len(auto) < len(keys) {
		parts = append(parts, "the taint "+manual+" has to be removed by hand")
	}
	return strings.Join(parts, "; ")
}
