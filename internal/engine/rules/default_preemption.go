package rules

import (
	"k8s.io/apimachinery/pkg/util/validation/field"
	configv1 "k8s.io/kube-scheduler/config/v1"

	"berth/internal/engine"
	"berth/internal/engine/preempt"
	"berth/internal/semantics"
)

// DefaultPreemption evicts pods of lower priority for one that fits nowhere
// (plugins/defaultpreemption/default_preemption.go). Package preemption does its work.
type DefaultPreemption struct{ preempt.Ways }

var _ engine.PostFilterer[engine.NoState] = DefaultPreemption{}

// Name is the plugin's name.
func (DefaultPreemption) Name() string { return "DefaultPreemption" }

// PostFilter looks for victims.
func (p DefaultPreemption) PostFilter(r *engine.Result, _ engine.NoState) engine.PostFilterResult {
	s := p.Find(r)
	return engine.PostFilterResult{Text: s.Text, Search: s}
}

// defaultPreemptionDescriptor is the rule's entry in the registry.
var defaultPreemptionDescriptor = Descriptor{
	Plugin: "DefaultPreemption", Phases: []string{phasePreEnqueue, phasePostFilter},
	Also: []string{phaseGroupPost},
	Judges: "Which pods of lower priority would be evicted for a pod that fits nowhere, and from which node. " +
		"On each node on which evictions might help, all of them leave and as many as possible come back: first those whose eviction violates a PodDisruptionBudget, and the more important before the others. " +
		"The node with the fewest violations wins, then the one whose most important victim has the lowest priority, the lowest sum of priorities, the fewest victims, the latest start.",
	Upstream: "defaultpreemption/default_preemption.go, ../preemption/preemption.go",
	Differs: "berth tries all nodes on which evictions might help, not a tenth of them or a hundred, whatever the arguments are. " +
		"Pods without a start time count as started at the decision's time. " +
		"Where upstream's order is arbitrary, berth's is fixed: pods of one priority and start by namespace and name, nodes that are equal in all rounds by a stable hash of pod UID and node name.",
	Args: codecOf(func(a *Args) {
		a.DefaultPreemption = DefaultPreemptionArgs{MinCandidateNodesPercentage: 10, MinCandidateNodesAbsolute: 100}
	}, readDefaultPreemptionArgs),
	build: func(_ *Args, r *semantics.Release) (*engine.Plugin, error) {
		return engine.Adapt[engine.NoState](DefaultPreemption{preempt.WaysOf(r)}), nil
	},
}

// DefaultPreemptionArgs is kubescheduler.config.k8s.io/v1
// DefaultPreemptionArgs. berth tries all candidates, so it records these and
// does not use them.
type DefaultPreemptionArgs struct {
	MinCandidateNodesPercentage int32 `json:"minCandidateNodesPercentage"`
	MinCandidateNodesAbsolute   int32 `json:"minCandidateNodesAbsolute"`
}

func readDefaultPreemptionArgs(in *argsInput, a *configv1.DefaultPreemptionArgs, out *Args) {
	d := &out.DefaultPreemption
	set(&d.MinCandidateNodesPercentage, a.MinCandidateNodesPercentage)
	set(&d.MinCandidateNodesAbsolute, a.MinCandidateNodesAbsolute)
	percentage, absolute := in.at.Child("minCandidateNodesPercentage"), in.at.Child("minCandidateNodesAbsolute")
	if p := d.MinCandidateNodesPercentage; p < 0 || p > 100 {
		in.refuse(field.Invalid(percentage, p, "must be in [0, 100]"))
	}
	if n := d.MinCandidateNodesAbsolute; n < 0 {
		in.refuse(field.Invalid(absolute, n, "must not be negative"))
	}
	if d.MinCandidateNodesPercentage == 0 && d.MinCandidateNodesAbsolute == 0 {
		in.refuse(field.Invalid(percentage, 0, "must not be zero together with minCandidateNodesAbsolute"))
	}
	if in.given {
		in.ignore(in.at, "berth looks for victims on all candidate nodes")
	}
}
