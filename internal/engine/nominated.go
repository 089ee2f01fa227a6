package engine

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/engine/state"
)

// nominatedRows returns, by row, the nominated pods that count while this pod is filtered: other
// pods of its priority or higher that are ready, of a scheduler that the configuration runs
// (pkg/scheduler/framework/runtime addGENominatedPods, backend/queue nominator).
func (q *Query) nominatedRows() map[int][]*state.Pod {
	var out map[int][]*state.Pod
	for _, p := range q.State.NominatedPods() {
		if q.State.PriorityOf(p) < podPriority(q.Pod) || p.UID == string(q.Pod.UID) || !q.Profile.runs(p.Scheduler) || q.Profile.gates(p) {
			continue
		}
		row := q.Nodes.Row(p.Nominated)
		if row < 0 {
			continue
		}
		if out == nil {
			out = map[int][]*state.Pod{}
		}
		out[row] = append(out[row], p)
	}
	return out
}

func podPriority(pod *corev1.Pod) int32 {
	if pod.Spec.Priority == nil {
		return 0
	}
	return *pod.Spec.Priority
}

// runs reports whether the profile's configuration has a profile of this name.
func (p *Profile) runs(scheduler string) bool {
	return scheduler == p.Name || slices.Contains(p.Siblings, scheduler)
}

// gates reports whether a pod waits for its gates, by its own profile: a queue without
// SchedulingGates lets it through (pkg/scheduler/backend/queue runPreEnqueuePlugins).
func (p *Profile) gates(pod *state.Pod) bool {
	return len(pod.Gates) > 0 && !slices.Contains(p.Ungated, pod.Scheduler)
}

// filterWithNominated runs the filters as if the pods nominated to each node were there already,
// over the nodes of in that have some. It removes the nodes that fail from in. Those that pass must
// still be filtered without the nominated pods, since both must hold
// (pkg/scheduler/framework/runtime RunFilterPluginsWithNominatedPods).
func (r *Result) filterWithNominated(in state.Bits, skip []bool) ([]Rejected, error) {
	rows := r.q.nominatedRows()
	if len(rows) == 0 {
		return nil, nil
	}
	var out []Rejected
	// In order of the nodes' names, like everything that answers list.
	for _, row := range slices.SortedFunc(maps.Keys(rows), func(a, b int) int {
		return strings.Compare(r.q.Nodes.Node(a).Name, r.q.Nodes.Node(b).Name)
	}) {
		if !in.Has(row) {
			continue
		}
		r.q.checkContext()
		rejected, err := r.filterWith(rows[row], int32(row), skip)
		if err != nil {
			return nil, err
		}
		if len(rejected) > 0 {
			in.Clear(row)
			out = mergeRejected(out, rejected, r.q.Profile)
		}
	}
	return out, nil
}

// filterWith judges one row with more pods on it.
func (r *Result) filterWith(pods []*state.Pod, row int32, skip []bool) ([]Rejected, error) {
	trial := r.withPods(pods, row)
	again := make([]bool, len(skip))
	if _, _, err := trial.preFilter(again); err != nil {
		return nil, err
	}
	// A rule that skipped without the pods stays skipped: upstream runs PreFilter
	// once, without them.
	one := r.q.Bits()
	one.Set(int(row))
	return trial.filter(one, skip)
}

// withPods begins a decision on a state with more pods on one row. It shares all but that row with
// the current state.
func (r *Result) withPods(pods []*state.Pod, row int32) *Result {
	q := r.q
	sub := *q
	sub.State, sub.added = q.State.WithPods(pods, row)
	sub.local.ForgetVolumes() // the added pods' volumes are interned by now
	return &Result{q: &sub, Row: -1, states: make([]any, len(r.states))}
}

// rankReasons orders reasons as their rule does.
func rankReasons(list []Reason, rank func(text string) int) {
	slices.SortStableFunc(list, func(a, b Reason) int {
		return cmp.Or(cmp.Compare(rank(a.Text), rank(b.Text)), strings.Compare(a.Text, b.Text))
	})
}

// mergeRejected adds more to have, plugin by plugin and reason by reason, in the order of the
// filters.
func mergeRejected(have, more []Rejected, p *Profile) []Rejected {
	for i := range more {
		m := &more[i]
		at := slices.IndexFunc(have, func(h Rejected) bool { return h.Plugin == m.Plugin })
		if at < 0 {
			have = append(have, *m)
			continue
		}
		h := &have[at]
		h.Nodes.Or(m.Nodes)
		h.Unresolvable.Or(m.Unresolvable)
		for _, reason := range m.Reasons {
			k := slices.IndexFunc(h.Reasons, func(o Reason) bool { return o.Text == reason.Text })
			if k < 0 {
				h.Reasons = append(h.Reasons, reason)
			} else {
				h.Reasons[k].Nodes.Or(reason.Nodes)
			}
		}
		if k := p.ruleNamed(h.Plugin); k >= 0 {
			if rank := p.Rules[k].ReasonRank; rank != nil {
				rankReasons(h.Reasons, rank)
			}
		}
	}
	place := func(r Rejected) int {
		return slices.IndexFunc(p.Filter, func(i int) bool { return p.Rules[i].Name == r.Plugin })
	}
	slices.SortStableFunc(have, func(a, b Rejected) int { return place(a) - place(b) })
	return have
}
