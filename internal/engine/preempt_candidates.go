package engine

import "berth/internal/engine/state"

// CandidateRows returns the nodes on which evictions would let the pod fit, and those of them on
// which no budget would be violated. Both are empty where preemption was not tried or does not
// help.
func (r *Result) CandidateRows() (all, unviolated state.Bits) {
	all, unviolated = state.NewBits(r.q.Nodes.Len()), state.NewBits(r.q.Nodes.Len())
	if r.dry == nil {
		return all, unviolated
	}
	for i := range r.dry.candidates {
		c := &r.dry.candidates[i]
		all.Set(int(c.row))
		if c.violations == 0 {
			unviolated.Set(int(c.row))
		}
	}
	return all, unviolated
}

// Gates lists the gates that hold the pod back; nil unless the outcome is Gated.
func (r *Result) Gates() []string { return r.gates }

// Options returns the options of the question.
func (r *Result) Options() *Options { return &r.q.Options }
