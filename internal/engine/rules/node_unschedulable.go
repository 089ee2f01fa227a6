package rules

import (
	corev1 "k8s.io/api/core/v1"

	"berth/internal/engine"
	"berth/internal/engine/state"
)

// ReasonUnschedulable is the reason of a cordoned node.
const ReasonUnschedulable = "node(s) were unschedulable"

// NodeUnschedulable keeps pods off cordoned nodes, unless they tolerate the
// taint that a cordon implies (plugins/nodeunschedulable Filter).
type NodeUnschedulable struct{}

var (
	_ engine.Filterer[engine.NoState] = NodeUnschedulable{}
	_ engine.Detailer[engine.NoState] = NodeUnschedulable{}
	_ engine.Local                    = NodeUnschedulable{}
)

// nodeUnschedulableDescriptor is the rule's entry in the registry.
var nodeUnschedulableDescriptor = Descriptor{
	Plugin: "NodeUnschedulable", Phases: []string{phaseFilter},
	Judges: "Cordoned nodes, unless the pod tolerates `node.kubernetes.io/unschedulable:NoSchedule`.",
	Code:   codeUnresolvable, Reasons: []string{ReasonUnschedulable}, Upstream: "nodeunschedulable/node_unschedulable.go",
	Details: []*engine.DetailKind{fixed("unschedulable", "", engine.CauseCordoned, "the node is cordoned")},
	in:      withPreFilter,
	build:   always[engine.NoState](NodeUnschedulable{}),
}

// Name is the plugin's name.
func (NodeUnschedulable) Name() string { return "NodeUnschedulable" }

// Locality returns NodesOnly: a cordon belongs to its node.
func (NodeUnschedulable) Locality(_ *engine.Query) engine.Locality { return engine.NodesOnly }

// Filter rejects cordoned nodes as unresolvable.
func (NodeUnschedulable) Filter(q *engine.Query, _ engine.NoState, in state.Bits, rej *engine.Rejected) error {
	cordoned := q.Nodes.Cordoned()
	if cordoned.Empty() {
		return nil
	}
	taint := corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule}
	if tolerates(q.Pod.Spec.Tolerations, &taint) {
		return nil
	}
	out := q.Bits()
	copy(out, in)
	out.And(cordoned)
	rej.Add(ReasonUnschedulable, engine.UnschedulableAndUnresolvable, out)
	return nil
}

// Details reports the cordon.
func (NodeUnschedulable) Details(*engine.Query, engine.NoState, int) []engine.Detail {
	return []engine.Detail{{Kind: "unschedulable"}}
}
