package engine

import "slices"

import "berth/internal/engine/state"

// decide answers from what is kept, once it is up to date, and from the rules that run every time.
// changed is nil where nothing is known yet. It returns no result where a rule rejects the pod
// itself or narrows the nodes, which is left to Decide.
func (m *memo) decide(q *Query, changed state.Bits) (*Result, error) {
	whole := changed == nil
	if whole {
		changed = q.Nodes.Alive()
	}
	if err := m.judge(q, changed, whole); err != nil {
		return nil, err
	}
	r := &Result{q: q, Row: -1, Outcome: UnschedulableOK, states: m.states, Feasible: q.Bits(), Rejected: m.rejected[:0]}
	m.apart = false
	if m.anyLive || len(q.State.NominatedPods()) > 0 {
		r.states = append([]any(nil), m.states...)
		if ok, err := m.filterLive(r); err != nil || !ok {
			return nil, err
		}
	}
	if !m.anyLive && !m.apart {
		for k := range m.kept {
			if len(m.kept[k].Reasons) > 0 {
				r.Rejected = append(r.Rejected, m.kept[k])
			}
		}
		copy(r.Feasible, m.pass)
	}
	m.rejected = r.Rejected
	n := r.Feasible.Count()
	if n == 0 {
		m.summed = false
		return nil, nil // preemption may help, which is left to Decide
	}
	r.Outcome = Scheduled
	switch {
	case q.Options.NoScores:
	case n == 1 && !q.Options.ScoreAlways:
		r.Row = r.Feasible.First()
	default:
		if err := m.score(r, changed); err != nil {
			return nil, err
		}
		r.choose()
		return r, nil
	}
	m.summed = false // the changes are not in the sums
	return r, nil
}

// filterLive merges the kept verdicts with those of the rules that run every time, in the order of
// the filters: a node is listed under the first that fails it. Nodes that fail only with the pods
// nominated to them are kept apart. It returns false where a rule rejects the pod or narrows the
// nodes. Where there is nothing to merge, it leaves everything to the caller.
func (m *memo) filterLive(r *Result) (bool, error) {
	q, p := r.q, r.q.Profile
	skip := slices.Clone(m.skip)
	for _, i := range p.PreFilter {
		f := p.Rules[i]
		if f.PreFilter == nil || !m.live[i] {
			continue
		}
		state, res := f.PreFilter(q)
		r.states[i], skip[i] = state, res.Skip
		if res.Code != Success || res.Names != nil {
			return false, nil
		}
	}
	in := r.Feasible
	copy(in, q.Candidates)
	apart, err := r.filterWithNominated(in, skip)
	if err != nil {
		return false, err
	}
	if m.apart = len(apart) > 0; !m.apart && !m.anyLive {
		return true, nil
	}
	cut := m.apart
	for k, i := range p.Filter {
		f, rej := m.filters[k], m.kept[k]
		switch {
		case f == nil || skip[i]:
			continue
		case m.live[i]:
			rej = Rejected{Plugin: rej.Plugin, Nodes: q.Bits(), Unresolvable: q.Bits()}
			if err := f.Filter(q, r.states[i], in, &rej); err != nil {
				return false, err
			}
			cut = cut || len(rej.Reasons) > 0
		case cut:
			rej = rej.within(q, in)
		}
		if len(rej.Reasons) == 0 {
			continue
		}
		r.Rejected = append(r.Rejected, rej)
		in.AndNot(rej.Nodes)
		if in.Empty() {
			break
		}
	}
	if m.apart {
		r.Rejected = mergeRejected(r.Rejected, apart, p)
	}
	return true, nil
}

// within returns the rejections of the rows of in.
func (r *Rejected) within(q *Query, in state.Bits) Rejected {
	both := func(a state.Bits) state.Bits {
		out := q.Bits()
		copy(out, a)
		out.And(in)
		return out
	}
	out := Rejected{Plugin: r.Plugin, Nodes: both(r.Nodes), Unresolvable: both(r.Unresolvable)}
	for _, reason := range r.Reasons {
		if rows := both(reason.Nodes); !rows.Empty() {
			out.Reasons = append(out.Reasons, Reason{reason.Text, rows})
		}
	}
	return out
}
