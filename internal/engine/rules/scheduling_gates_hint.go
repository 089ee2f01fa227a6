package rules

import (
	"berth/internal/engine"
)

// Hints returns that of the pod's own last gate
// (plugins/schedulinggates isSchedulableAfterUpdatePodSchedulingGatesEliminated).
func (SchedulingGates) Hints() []engine.Hint {
	return []engine.Hint{{Kind: "Pod", Action: engine.UpdatePodSchedulingGatesEliminated, Queue: ownEvent}}
}
