package rollup

import (
	"berth/internal/store"
)

// What purposes, verbs and outcomes are called in records.
const (
	live     = "live"
	watched  = "watched"
	decide   = "decide"
	filter   = "filter"
	preempt  = "preempt"
	gated    = "Gated"
	placed   = "Scheduled"
	nominate = "Preempting"
	failed   = "Unschedulable"
)

// counts reports whether a decision was made to place its pod.
func counts(d *store.Decision) bool {
	purpose := d.KnownPurpose()
	return purpose == live || purpose == watched
}

// Placed reports whether a decision put its pod on a node.
func Placed(d *store.Decision) bool {
	return d.BoundRevision > 0 && d.Outcome == placed && counts(d)
}

// Attempted reports whether a record begins an attempt to place a pod, whose rejections count. What
// follows in an extender's cycle says the same of the same nodes again.
func Attempted(d *store.Decision) bool {
	begins := d.Verb == decide || d.Verb == filter
	if d.Attempt != "" {
		begins = d.Attempt == d.ID && (begins || d.Verb == preempt)
	}
	return begins && counts(d)
}

// unplaced reports whether a decision found no node.
func unplaced(d *store.Decision) bool { return d.Outcome == failed || d.Outcome == nominate }

// gates is the cause of pods that wait for their gates.
const gates = "SchedulingGates"

// Cause returns what an attempt found its pod to wait for: the plugin that rejected most nodes, of
// equal ones the first by name. Empty: it found a node.
func Cause(d *store.Decision) string {
	switch {
	case d.Outcome == gated:
		return gates
	case !unplaced(d):
		return ""
	}
	nodes := map[string]int{}
	for i := range d.Failures {
		nodes[d.Failures[i].Plugin] += d.Failures[i].Nodes
	}
	cause := d.Outcome
	for plugin, n := range nodes {
		if most := nodes[cause]; n > most || n == most && n > 0 && plugin < cause {
			cause = plugin
		}
	}
	return cause
}
