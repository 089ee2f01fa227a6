package rules

import (
	"berth/internal/engine"
	"berth/internal/engine/preemption"
)

// DefaultPreemption evicts pods of lower priority for one that fits nowhere
// (plugins/defaultpreemption/default_preemption.go). Package preemption does its work.
type DefaultPreemption struct{}

var _ engine.PostFilterer[engine.NoState] = DefaultPreemption{}

// Name is the plugin's name.
func (DefaultPreemption) Name() string { return "DefaultPreemption" }

// PostFilter looks for victims.
func (DefaultPreemption) PostFilter(r *engine.Result, _ engine.NoState) engine.PostFilterResult {
	s := preemption.Find(r)
	return engine.PostFilterResult{Text: s.Text, Search: s}
}

// DefaultPreemptionArgs is kubescheduler.config.k8s.io/v1
// DefaultPreemptionArgs. berth tries all candidates, so it records these and
// does not use them.
type DefaultPreemptionArgs struct {
	MinCandidateNodesPercentage int32 `json:"minCandidateNodesPercentage"`
	MinCandidateNodesAbsolute   int32 `json:"minCandidateNodesAbsolute"`
}

// defaultPreemptionDescriptor is the rule's entry in the registry.
var defaultPreemptionDescriptor = Descriptor{
	Plugin: "DefaultPreemption", Phases: []string{phasePreEnqueue, phasePostFilter},
	Judges: "Which pods of lower priority would be evicted for a pod that fits nowhere, and from which node. " +
		"On each node on which evictions might help, all of them leave and as many as possible come back: first those whose eviction violates a PodDisruptionBudget, and the more important before the others. " +
		"The node with the fewest violations wins, then the one whose most important victim has the lowest priority, the lowest sum of priorities, the fewest victims, the latest start.",
	Upstream: "defaultpreemption/default_preemption.go, ../preemption/preemption.go",
	Differs: "berth tries all nodes on which evictions might help, not a tenth of them or a hundred, whatever the arguments are. " +
		"Pods without a start time count as started at the decision's time. " +
		"Where upstream's order is arbitrary, berth's is fixed: pods of one priority and start by namespace and name, nodes that are equal in all rounds by a stable hash of pod UID and node name.",
	build: always[engine.NoState](DefaultPreemption{}),
}
