package rules

import (
	"slices"

	"berth/internal/engine"
)

// Descriptor is what is known of a rule beside its code. It stands in the rule's file and has its
// line in the registry; everything that lists rules reads it from there.
type Descriptor struct {
	Plugin string
	// Phases are the extension points at which the default profile runs it.
	Phases []string
	// Weight is its weight in the default profile, 0 where it scores nobody.
	Weight int64
	// Judges says in a sentence what it judges.
	Judges string
	// Code says with which code it rejects a node, and when; empty where it
	// rejects none.
	Code string
	// Reasons are its reasons, word for word; a trailing blank stands before the
	// name of a resource.
	Reasons []string
	// Upstream is where the behaviour comes from, below pkg/scheduler/framework/plugins.
	Upstream string
	// Differs says what berth does otherwise and why; empty where nothing is.
	Differs string

	// build makes the rule of a profile's arguments.
	build func(*Args) (*engine.Plugin, error)
}

const (
	preemptable = "Unschedulable"
	forGood     = "UnschedulableAndUnresolvable"
)

// The phases, as upstream calls its extension points.
const (
	phasePreEnqueue = "PreEnqueue"
	phasePreFilter  = "PreFilter"
	phaseFilter     = "Filter"
	phasePostFilter = "PostFilter"
	phaseScore      = "Score"
)

// Describe returns the descriptors in the registry's order, which is the order in
// which a node's first failing plugin is named. A scoring plugin without a weight
// has weight 1.
func Describe() []Descriptor {
	out := make([]Descriptor, 0, len(registry))
	for _, p := range registry {
		d := *p
		if slices.Contains(d.Phases, phaseScore) {
			d.Weight = max(d.Weight, 1)
		}
		out = append(out, d)
	}
	return out
}
