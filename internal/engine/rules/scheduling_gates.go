package rules

// SchedulingGates holds back pods whose spec.schedulingGates is not empty.
// The engine asks for it before anything else, by the profile's Gates
// (plugins/schedulinggates PreEnqueue).
type SchedulingGates struct{}

// Name is the plugin's name.
func (SchedulingGates) Name() string { return "SchedulingGates" }
