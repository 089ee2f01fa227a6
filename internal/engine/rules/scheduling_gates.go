package rules

import "berth/internal/engine"

// SchedulingGates holds back pods whose spec.schedulingGates is not empty. The engine reads it from
// the profile's Gates before any rule runs (plugins/schedulinggates PreEnqueue).
type SchedulingGates struct{}

// Name is the plugin's name.
func (SchedulingGates) Name() string { return "SchedulingGates" }

// schedulingGatesDescriptor is the rule's entry in the registry.
var schedulingGatesDescriptor = Descriptor{
	Plugin: "SchedulingGates", Phases: []string{phasePreEnqueue},
	Judges:   "A pod with scheduling gates is not considered at all. The outcome is `Gated` and the gates are listed.",
	Upstream: "schedulinggates/scheduling_gates.go",
	build:    always[engine.NoState](SchedulingGates{}),
}
