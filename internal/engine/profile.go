package engine

import (
	"slices"

	"berth/internal/engine/state"
	"berth/internal/semantics"
)

// Profile is a scheduler's configuration, ready for decisions. Rules holds every rule in use. The
// phases refer to it by index, in the order in which they run.
type Profile struct {
	Name    string // the schedulerName of its pods
	Digest  string // sha256:… over Payload
	Payload []byte // the configuration in canonical form, for the record
	// Semantics is the release of Kubernetes whose behaviour the rules have.
	Semantics *semantics.Release
	// Counting is what pods on nodes count as under it.
	Counting state.Counting
	// Siblings are the names of all profiles of the configuration.
	Siblings []string
	// Ungated are those of them without SchedulingGates, whose pods wait for no gates.
	Ungated []string
	Rules   []*Plugin
	// PreEnqueue are the rules of that phase that hold pods back, beside the gates.
	PreEnqueue []int
	PreFilter  []int
	Filter     []int
	PostFilter []int
	Score      []WeightedRule
	// Gates reports whether pods with scheduling gates wait (SchedulingGates).
	Gates bool
	// Preemption reports whether DefaultPreemption is among PostFilter.
	Preemption bool
	// ExclusionMeansAll and GatedNominationsCount are the release's.
	ExclusionMeansAll, GatedNominationsCount bool
	// JudgeVictims answers Options.Victims, under any profile. names, where not nil, are the only
	// nodes that PreFilter left. It is that of package preemption, which the cycle cannot import.
	JudgeVictims func(r *Result, names map[string]struct{}) error
}

// WeightedRule is a scoring rule with its weight.
type WeightedRule struct {
	Rule   int
	Weight int64
	// NoPreScore reports that no PreScore marks the rule as skipped: where it does not score, every
	// node has 0 (framework/runtime/framework.go RunScorePlugins).
	NoPreScore bool
}

// RuleNamed finds a rule; nil without.
func (p *Profile) RuleNamed(name string) *Plugin {
	for _, r := range p.Rules {
		if r.Name == name {
			return r
		}
	}
	return nil
}

// runs reports whether the profile's configuration has a profile of this name.
func (p *Profile) runs(scheduler string) bool {
	return scheduler == p.Name || slices.Contains(p.Siblings, scheduler)
}

// gates reports whether a pod waits for its gates, by its own profile: a queue without
// SchedulingGates lets it through (pkg/scheduler/backend/queue runPreEnqueuePlugins).
func (p *Profile) gates(pod *state.Pod) bool {
	return len(pod.Gates) > 0 && !slices.Contains(p.Ungated, pod.Scheduler)
}
