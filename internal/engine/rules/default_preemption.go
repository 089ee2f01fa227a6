package rules

import "berth/internal/engine"

// named is a plugin that has no rule: its work is done outside the phases of a profile.
type named string

// Name is the plugin's name.
func (n named) Name() string { return string(n) }

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
	Judges: "Which pods of lower priority would have to go for a pod that fits nowhere, and from which node. On each node that they might help with, all of them leave and as many as possible come back: those first whose eviction a PodDisruptionBudget forbids, the important before the others. " +
		"Of the nodes that has the fewest such violations wins, then the lowest priority at the top, the lowest sum of priorities, the fewest pods, the latest start.",
	Upstream: "defaultpreemption/default_preemption.go, ../preemption/preemption.go",
	Differs:  "All nodes that evicting pods might help are tried, not a tenth of them or a hundred, whatever its arguments say. Pods without a start time count as started at the decision's time, and what upstream leaves to chance is settled: pods of one priority and start by namespace and name, nodes that all rounds leave equal by a stable hash of pod UID and node name.",
	build:    always[engine.NoState](named("DefaultPreemption")),
}
