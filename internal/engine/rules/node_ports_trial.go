package rules

import (
	"slices"

	"berth/internal/engine"
	"berth/internal/engine/state"
)

var _ engine.Trier[[]state.Port] = NodePorts{}

// Try returns the trial of the rule: it judges a node by the host ports taken there.
func (NodePorts) Try(q *engine.Query, ports []state.Port) engine.Trial {
	if ports == nil {
		ports = state.HostPorts(q.Pod)
	}
	t := &portsTrial{q: q}
	for _, p := range ports {
		t.ids = q.State.PortConflicts(t.ids, p)
	}
	slices.Sort(t.ids)
	t.ids = slices.Compact(t.ids)
	t.taken = make([]bool, len(t.ids))
	return t
}

// portsTrial is NodePorts on one node: which of the ports that conflict with the pod's are taken.
// Like upstream it keeps no count: a port that two pods hold, which should not happen, is free once
// one of them leaves (k8s.io/kube-scheduler/framework HostPortInfo).
type portsTrial struct {
	q         *engine.Query
	ids       []int32 // sorted
	taken     []bool
	nominated []*state.Pod
}

// Begin looks up which of the ports are taken.
func (t *portsTrial) Begin(row int32, nominated []*state.Pod) {
	for i, id := range t.ids {
		t.taken[i] = t.q.State.PortPostings(id).At(row) > 0
	}
	t.nominated = nominated
}

// Move takes or frees a pod's ports.
func (t *portsTrial) Move(p *state.Pod, n int32) {
	for _, id := range p.Class.Ports {
		if i, ok := slices.BinarySearch(t.ids, id); ok {
			t.taken[i] = n > 0
		}
	}
}

// AffectedBy reports whether pods of the class hold one of the ports.
func (t *portsTrial) AffectedBy(c *state.Class) bool {
	for _, id := range c.Ports {
		if _, ok := slices.BinarySearch(t.ids, id); ok {
			return true
		}
	}
	return false
}

// Fits reports whether none of the ports is taken.
func (t *portsTrial) Fits() bool {
	if slices.Contains(t.taken, true) {
		return false
	}
	for _, g := range t.nominated {
		for _, id := range g.Class.Ports {
			if _, ok := slices.BinarySearch(t.ids, id); ok {
				return false
			}
		}
	}
	return true
}

// Verdict returns the only reason.
func (t *portsTrial) Verdict() (engine.Code, []string) {
	if t.Fits() {
		return engine.Success, nil
	}
	return engine.Unschedulable, []string{ReasonPorts}
}
