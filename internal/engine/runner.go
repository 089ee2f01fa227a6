package engine

import "berth/internal/engine/state"

// Runner runs the rules of one decision. Direct calls them. Another one may return what it kept of
// an earlier decision, which must be the same.
type Runner interface {
	// PreFilter runs a rule of the profile, by its index.
	PreFilter(q *Query, rule int) (state any, res PreFilterResult)
	// Filter returns the nodes of in that the profile's k-th filter rejects. The sets are not to be
	// written.
	Filter(q *Query, k int, state any, in state.Bits) (Rejected, error)
	// Score runs the profile's k-th scorer.
	Score(q *Query, k int, state any, feasible state.Bits, out *Scores) error
	// Sums returns the sums of the weighted scores that are Summed, by feasible row; nil for none.
	// They are not to be written.
	Sums() []int64
	// Done is called once the result is no longer read. It frees the result, unless it may be given
	// again.
	Done(r *Result)
}

// Direct calls the rules, each time.
type Direct struct{}

// PreFilter implements Runner.
func (Direct) PreFilter(q *Query, rule int) (any, PreFilterResult) {
	q.Work(q.Nodes.Count())
	return q.Profile.Rules[rule].PreFilter(q)
}

// Filter implements Runner.
func (Direct) Filter(q *Query, k int, state any, in state.Bits) (Rejected, error) {
	q.Work(q.Nodes.Count())
	return q.FilterBy(q.Profile.Rules[q.Profile.Filter[k]], state, in)
}

// FilterBy runs one filter, which reads in and does not change it.
func (q *Query) FilterBy(f *Plugin, state any, in state.Bits) (Rejected, error) {
	rej := q.NewRejected(f.Name)
	err := f.Filter(q, state, in, &rej)
	return rej, err
}

// FilterEach runs one filter on each row by itself, where it cannot judge them together: its error
// may be about some of them only. It ends with the caller's context.
func (q *Query) FilterEach(f *Plugin, state any, rows state.Bits, fail func(row int, err error)) Rejected {
	out, one := q.NewRejected(f.Name), q.Bits()
	for row := range rows.All() {
		if q.Context().Err() != nil {
			break
		}
		one.Zero()
		one.Set(row)
		if rej, err := q.FilterBy(f, state, one); err != nil {
			fail(row, err)
		} else {
			out.Merge(&rej, f.ReasonRank)
		}
	}
	return out
}

// Score implements Runner.
func (Direct) Score(q *Query, k int, state any, feasible state.Bits, out *Scores) error {
	q.Work(q.Nodes.Count())
	return q.ScoreBy(q.Profile.Rules[q.Profile.Score[k].Rule], state, feasible, out)
}

// ScoreBy runs one scorer, into columns that live as long as the decision.
func (q *Query) ScoreBy(f *Plugin, state any, feasible state.Bits, out *Scores) error {
	*out = Scores{Raw: q.Column(), Norm: q.Column()}
	err := f.Score(q, state, feasible, out)
	if out.skip || out.uniform {
		q.DropColumns(2)
	}
	return err
}

// Sums implements Runner.
func (Direct) Sums() []int64 { return nil }

// Done implements Runner.
func (Direct) Done(r *Result) { r.Free() }
