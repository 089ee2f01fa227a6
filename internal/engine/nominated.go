package engine

import (
	"errors"
	"iter"
	"slices"

	"berth/internal/engine/state"
)

// Priority is the pod's priority.
func (q *Query) Priority() int32 {
	if q.Pod.Spec.Priority == nil {
		return 0
	}
	return *q.Pod.Spec.Priority
}

// Nominees returns the other pods that wait for a nominated node, of a scheduler that the
// configuration runs: those that no gate holds back, or all of them.
func (q *Query) Nominees() iter.Seq[*state.Pod] {
	return func(yield func(*state.Pod) bool) {
		for p := range q.State.NominatedPods().All() {
			counts := q.Profile.GatedNominationsCount || !q.Profile.gates(p)
			if p.UID != string(q.Pod.UID) && counts && q.Profile.runs(p.Scheduler) && !yield(p) {
				return
			}
		}
	}
}

// NominatedRows returns, by row, the nominated pods that count while this pod is filtered: those of
// its priority or higher (pkg/scheduler/framework/runtime addGENominatedPods, backend/queue
// nominator).
func (q *Query) NominatedRows() map[int][]*state.Pod {
	var out map[int][]*state.Pod
	for p := range q.Nominees() {
		row := q.Nodes.Row(p.Nominated)
		if row < 0 || q.State.PriorityOf(p) < q.Priority() {
			continue
		}
		if out == nil {
			out = map[int][]*state.Pod{}
		}
		out[row] = append(out[row], p)
	}
	return out
}

// filterTwice filters with the pods nominated to the nodes, then without.
func (r *Result) filterTwice(out []Rejected, in state.Bits) ([]Rejected, error) {
	with, err := r.filterWithNominated(in)
	if err != nil {
		return nil, err
	}
	before := len(out)
	out, err = r.filter(out, in)
	if err != nil || len(with) == 0 {
		return out, err
	}
	return append(out[:before], r.Query.mergeRejected(slices.Clone(out[before:]), with)...), nil
}

// filterWithNominated runs the filters as if the pods nominated to each node were there already,
// over the nodes of in that have some. It removes the nodes that fail from in. Those that pass must
// still be filtered without the nominated pods, since both must hold
// (pkg/scheduler/framework/runtime RunFilterPluginsWithNominatedPods).
func (r *Result) filterWithNominated(in state.Bits) ([]Rejected, error) {
	q, p := r.Query, r.Query.Profile
	pods := q.NominatedRows()
	if len(pods) == 0 {
		return nil, nil
	}
	left := q.Bits()
	for row := range pods {
		left.Set(row)
	}
	left.And(in)
	var out []Rejected
	for _, i := range p.Filter {
		f := p.Rules[i]
		if f.Filter == nil || r.Skipped[i] || left.Empty() {
			continue
		}
		q.Work(left.Count())
		rej, ok := q.filterNominated(f, r.States[i], left, pods)
		if !ok {
			return nil, r.nominatedError(in, pods)
		}
		if len(rej.Reasons) > 0 {
			out = append(out, rej)
			left.AndNot(rej.Nodes)
			in.AndNot(rej.Nodes)
		}
	}
	return out, nil
}

// filterNominated judges rows by one filter, each with the pods nominated to it, which matter to
// filters with a trial alone; ok is false where it cannot.
func (q *Query) filterNominated(f *Plugin, kept any, rows state.Bits, pods map[int][]*state.Pod) (rej Rejected, ok bool) {
	if f.Try == nil {
		rej, err := q.FilterBy(f, kept, rows)
		return rej, err == nil
	}
	rej = q.NewRejected(f.Name)
	trial := f.Try(q, kept)
	for row := range q.Nodes.ByName(rows) { // in order, like everything that answers list
		trial.Begin(int32(row), pods[row])
		code, reasons := trial.Verdict()
		if code == Error {
			return rej, false
		}
		if code != Success {
			rej.addRow(q, row, code, reasons)
		}
	}
	if f.ReasonRank != nil {
		SortReasons(rej.Reasons, f.ReasonRank)
	}
	return rej, true
}

// nominatedError returns the error of the first node that cannot be judged with the pods nominated
// to it.
func (r *Result) nominatedError(in state.Bits, pods map[int][]*state.Pod) error {
	for row := range r.Query.Nodes.ByName(in) {
		if len(pods[row]) == 0 {
			continue
		}
		if _, err := r.filterWith(pods[row], int32(row)); err != nil {
			return err
		}
	}
	return errors.New("a node cannot be judged with the pods nominated to it")
}

// filterWith judges one row with more pods on it.
func (r *Result) filterWith(pods []*state.Pod, row int32) ([]Rejected, error) {
	trial := new(Result)
	trial.begin(r.Query.WithPods(pods, row), Direct{})
	if _, _, err := trial.preFilter(); err != nil {
		return nil, err
	}
	// A rule that skipped without the pods stays skipped: upstream runs PreFilter
	// once, without them.
	trial.Skipped = r.Skipped
	one := r.Query.Bits()
	one.Set(int(row))
	return trial.filter(nil, one)
}

// WithPods returns the question on a state with more pods on one row. It shares all but that row
// with the current state, and the scratch memory.
func (q *Query) WithPods(pods []*state.Pod, row int32) *Query {
	sub := *q
	sub.result, sub.named = nil, nil
	sub.State, sub.added = q.State.WithPods(pods, row)
	sub.local.ForgetVolumes() // the added pods' volumes are interned by now
	return &sub
}

// mergeRejected adds more to have, plugin by plugin and reason by reason, in the order of the
// filters. The sets of both stay as they are.
func (q *Query) mergeRejected(have, more []Rejected) []Rejected {
	p := q.Profile
	for i := range more {
		m := &more[i]
		at := slices.IndexFunc(have, func(h Rejected) bool { return h.Plugin == m.Plugin })
		if at < 0 {
			have = append(have, *m)
			continue
		}
		both := have[at].Within(q, have[at].Nodes)
		both.Merge(m, p.RuleNamed(m.Plugin).ReasonRank)
		have[at] = both
	}
	place := func(r Rejected) int {
		return slices.IndexFunc(p.Filter, func(i int) bool { return p.Rules[i].Name == r.Plugin })
	}
	slices.SortStableFunc(have, func(a, b Rejected) int { return place(a) - place(b) })
	return have
}
