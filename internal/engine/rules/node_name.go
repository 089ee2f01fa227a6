package rules

import (
	"berth/internal/engine"
	"berth/internal/engine/state"
	"berth/internal/semantics"
)

// ReasonNodeName is the reason of all nodes but the requested one.
const ReasonNodeName = "node(s) didn't match the requested node name"

// NodeName keeps a pod with spec.nodeName to that node (plugins/nodename). Where it has a
// PreFilter, other nodes do not come to its Filter.
type NodeName struct{}

var (
	_ engine.PreFilterer[engine.NoState] = NodeName{}
	_ engine.Filterer[engine.NoState]    = NodeName{}
	_ engine.Detailer[engine.NoState]    = NodeName{}
	_ engine.Local                       = NodeName{}
)

// nodeNameDescriptor is the rule's entry in the registry.
var nodeNameDescriptor = Descriptor{
	Plugin: "NodeName", Phases: []string{phaseFilter},
	Judges: "Every node except the one in `spec.nodeName`, if that is set.",
	Code:   codeUnresolvable, Reasons: []string{ReasonNodeName}, Upstream: "nodename/node_name.go",
	Details: []*engine.DetailKind{named("nodeName", "name", engine.CauseOtherNode)},
	in:      withPreFilter,
	build: func(_ *Args, r *semantics.Release) (*engine.Plugin, error) {
		p := engine.Adapt[engine.NoState](NodeName{})
		if !r.NodePreFilters {
			p.PreFilter = nil
		}
		return p, nil
	},
}

// Name is the plugin's name.
func (NodeName) Name() string { return "NodeName" }

// Locality returns NodesOnly: names belong to nodes.
func (NodeName) Locality(_ *engine.Query) engine.Locality { return engine.NodesOnly }

// PreFilter leaves the named node alone.
func (NodeName) PreFilter(q *engine.Query) (engine.NoState, engine.PreFilterResult) {
	var r engine.PreFilterResult
	if name := q.Pod.Spec.NodeName; name != "" {
		r.Names = map[string]struct{}{name: {}}
	}
	return engine.NoState{}, r
}

// Filter rejects every node but the named one as unresolvable.
func (NodeName) Filter(q *engine.Query, _ engine.NoState, in state.Bits, rej *engine.Rejected) error {
	want := q.Pod.Spec.NodeName
	if want == "" {
		return nil
	}
	out := q.Bits()
	copy(out, in)
	if row := q.Nodes.Row(want); row >= 0 {
		out.Clear(row)
	}
	rej.Add(ReasonNodeName, engine.UnschedulableAndUnresolvable, out)
	return nil
}

// Details names the requested node.
func (NodeName) Details(q *engine.Query, _ engine.NoState, _ int) []engine.Detail {
	return []engine.Detail{{Kind: "nodeName", Name: q.Pod.Spec.NodeName}}
}
