package web

import (
	"berth/internal/podlife"
	"berth/internal/scenario"
)

// nodeState is what is the matter with a node: a word, and the class of its shape. A node that is
// ready, takes pods and is under no pressure has none.
type nodeState struct{ Class, Icon, Word string }

// statesOf returns what is the matter with a node, the worst first.
func statesOf(n *scenario.NodeUse) (out []nodeState) {
	if n.State == podlife.NodeNotReady {
		out = append(out, nodeState{"notready", "down", "not ready"})
	}
	for _, c := range n.Conditions {
		out = append(out, nodeState{"pressure", "warn", pressureWords[c]})
	}
	if n.Deleting {
		out = append(out, nodeState{"leaving", "drain", "being deleted"})
	}
	if n.Cordoned {
		out = append(out, nodeState{"cordoned", "cordon", "cordoned"})
	}
	return out
}

// pressureWords are the conditions that are bad when they are true.
var pressureWords = map[string]string{
	"MemoryPressure": "memory pressure", "DiskPressure": "disk pressure", "PIDPressure": "PID pressure", "NetworkUnavailable": "no network",
}

// stateOrder is the classes of states, the worst first.
var stateOrder = []string{"notready", "pressure", "leaving", "cordoned"}

// takesNone reports whether a node in these states takes no new pods: under pressure it takes those
// that tolerate it.
func takesNone(states []nodeState) bool {
	for _, s := range states {
		if s.Class != "pressure" {
			return true
		}
	}
	return false
}
