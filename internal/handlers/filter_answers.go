package handlers

import (
	"bytes"
	"slices"
	"sync/atomic"

	"berth/internal/engine"
	"berth/internal/engine/state"
	"berth/internal/handlers/wire"
)

// filterAnswers remember the last answer to /filter about all nodes. A kube-scheduler without
// filters of its own asks about them in the same order each time, and pods of one workload get the
// same answer until a node is full. It is safe for concurrent use.
type filterAnswers struct{ last atomic.Pointer[filterAnswer] }

// filterAnswer is an answer with all that it depends on, beside the nodes.
type filterAnswer struct {
	asked    wire.AllNames
	feasible state.Bits
	rejected []engine.Rejected
	reply    []byte // not to be written; nil until the answer was given twice
}

// of reports whether a result has this answer.
func (a *filterAnswer) of(asked wire.AllNames, r *engine.Result) bool {
	return a != nil && a.asked == asked && slices.Equal(a.feasible, r.Feasible) && slices.EqualFunc(a.rejected, r.Rejected, func(a, b engine.Rejected) bool {
		return slices.Equal(a.Nodes, b.Nodes) && slices.Equal(a.Unresolvable, b.Unresolvable) && slices.EqualFunc(a.Reasons, b.Reasons, func(a, b engine.Reason) bool {
			return a.Text == b.Text && slices.Equal(a.Nodes, b.Nodes)
		})
	})
}

// find returns what is kept of a result's answer; nil where it is another's.
func (f *filterAnswers) find(asked wire.AllNames, r *engine.Result) *filterAnswer {
	if last := f.last.Load(); last.of(asked, r) {
		return last
	}
	return nil
}

// keep keeps the answer of a result of which find returned kept, and its text from the second time
// on: most of those that never come again cost a few sets of bits.
func (f *filterAnswers) keep(kept *filterAnswer, asked wire.AllNames, r *engine.Result, reply []byte) {
	if kept != nil {
		f.last.Store(&filterAnswer{asked, kept.feasible, kept.rejected, bytes.Clone(reply)})
		return
	}
	made := &filterAnswer{asked: asked, feasible: r.Feasible.Clone(), rejected: make([]engine.Rejected, len(r.Rejected))}
	for i, rejected := range r.Rejected {
		made.rejected[i] = engine.Rejected{Nodes: rejected.Nodes.Clone(), Unresolvable: rejected.Unresolvable.Clone(), Reasons: slices.Clone(rejected.Reasons)}
		for k := range made.rejected[i].Reasons {
			made.rejected[i].Reasons[k].Nodes = made.rejected[i].Reasons[k].Nodes.Clone()
		}
	}
	f.last.Store(made)
}
