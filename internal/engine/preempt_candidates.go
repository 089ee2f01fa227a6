package engine

import "berth/internal/engine/state"

// CandidateRows gives the nodes on which evicting pods would let the pod in, and
// those of them on which no budget would be violated; both are empty where
// preemption was not tried or is of no use.
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

// Options gives what the question was asked with.
func (r *Result) Options() *Options { return &r.q.Options }
