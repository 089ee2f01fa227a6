package rules

import (
	"berth/internal/engine"
)

// Hints returns that of a new node (plugins/nodename EventsToRegister).
func (NodeName) Hints() []engine.Hint {
	return []engine.Hint{{Kind: "Node", Action: engine.Add}}
}
