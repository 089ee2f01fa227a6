package rules

import (
	"slices"

	"berth/internal/engine"
	"berth/internal/semantics"
)

// Descriptor is what is known of a rule beside its code. It is declared in the rule's file and
// listed in the registry. Everything that lists rules reads it from there.
type Descriptor struct {
	Plugin string
	// Optional reports that it is not in the default profile, since its gate is off.
	Optional bool
	// Phases are the extension points at which the default profile runs it.
	Phases []string
	// Also are the other extension points of upstream's plugin. A configuration may name them.
	Also []string
	// Needs maps a phase to the extension point whose work it relies on. Upstream fails every pod
	// under a profile with the one and without the other.
	Needs map[string]string
	// Weight is its weight in the default profile, 0 where it does not score.
	Weight int64
	// Args reads the plugin's arguments; nil where it has none.
	Args *ArgsCodec
	// Judges is a sentence on what it judges.
	Judges string
	// Code names the status code with which it rejects a node, and when. It is empty where it
	// rejects none.
	Code string
	// Reasons are its reasons, word for word. One that ends in a blank is followed by the name of a
	// resource.
	Reasons []string
	// Details are the kinds of details with which it explains a rejected node.
	Details []*engine.DetailKind
	// Upstream is the code that it reproduces, below pkg/scheduler/framework/plugins.
	Upstream string
	// Differs describes where berth differs from upstream and why; empty where it does not.
	Differs string

	// in changes what is otherwise in a release; nil where all have it alike.
	in func(*Descriptor, *semantics.Release)
	// build makes the rule from a profile's arguments and release.
	build func(*Args, *semantics.Release) (*engine.Plugin, error)
}

const (
	codeUnschedulable = "Unschedulable"
	codeUnresolvable  = "UnschedulableAndUnresolvable"
)

// The phases, as upstream calls its extension points.
const (
	phasePreEnqueue = "PreEnqueue"
	phasePreFilter  = "PreFilter"
	phaseFilter     = "Filter"
	phasePostFilter = "PostFilter"
	phasePreScore   = "PreScore"
	phaseScore      = "Score"
	phaseReserve    = "Reserve"
	phasePreBind    = "PreBind"
	phasePlacement  = "PlacementScore"
	phaseGroupPost  = "PodGroupPostFilter"
)

var (
	filterNeeds = map[string]string{phaseFilter: phasePreFilter}
	scoreNeeds  = map[string]string{phaseScore: phasePreScore}
	bothNeed    = map[string]string{phaseFilter: phasePreFilter, phaseScore: phasePreScore}
)

// Describe returns the descriptors as they are in a release, in its order. A scoring plugin without
// a weight has weight 1.
func Describe(r *semantics.Release) []Descriptor {
	out := make([]Descriptor, 0, len(registry))
	for _, name := range r.Plugins {
		out = append(out, find(name).of(r))
	}
	return out
}

// of returns the descriptor as it is in a release.
func (d Descriptor) of(r *semantics.Release) Descriptor {
	if d.in != nil {
		d.in(&d, r)
	}
	if slices.Contains(d.Phases, phaseScore) {
		d.Weight = max(d.Weight, 1)
	}
	return d
}

// withPreFilter is Descriptor.in of plugins that have a PreFilter in some releases only.
func withPreFilter(d *Descriptor, r *semantics.Release) {
	if r.NodePreFilters {
		d.Phases = append([]string{phasePreFilter}, d.Phases...)
	}
}
