package rules

import (
	"berth/internal/engine"
)

// Hints returns none: the deletions that it registers for wake no pod by its hint
// (plugins/defaultpreemption isPodSchedulableAfterPodDeletion).
func (DefaultPreemption) Hints() []engine.Hint {
	return []engine.Hint{{Kind: "Pod", Action: engine.Delete, Queue: func(*engine.Waiter, *engine.Event) bool { return false }}}
}
