package engine

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"sort"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/engine/state"
)

// Decide judges one pod against one state under one profile, as one cycle of kube-scheduler would
// over all nodes: gates, PreFilter, the nominated node first, Filter, Score, and the pick, or else
// preemption. It is pure: the same input has the same result. "Fits nowhere" is a result; an error
// means that a rule could not judge (pkg/scheduler/schedule_one.go schedulePod,
// findNodesThatFitPod). The pod is as an apiserver stores it: defaulted, with its priority
// resolved.
func Decide(s *state.State, pod *corev1.Pod, p *Profile, o Options) (r *Result, err error) {
	q, err := newQuery(s, pod, p, o)
	if err != nil {
		return nil, fmt.Errorf("pod %s/%s: %w", pod.Namespace, pod.Name, err)
	}
	defer func() {
		q.nextLook = answered
		if err != nil && r != nil { // stopped
			r.Release()
			r = nil
		}
	}()
	defer caught(&err)
	q.Work(0)
	r = &Result{q: q, Row: -1, Outcome: UnschedulableOK, states: make([]any, len(p.Rules))}
	r.Feasible = q.Bits()
	if p.Gates && len(pod.Spec.SchedulingGates) > 0 {
		for _, g := range pod.Spec.SchedulingGates {
			r.gates = append(r.gates, g.Name)
		}
		r.Outcome = Gated
		return r, nil
	}
	for _, i := range p.PreEnqueue {
		if f := p.Rules[i]; f.PreEnqueue != nil && o.Victims == nil {
			if r.heldBack = f.PreEnqueue(q); r.heldBack != "" {
				r.Outcome = Gated
				return r, nil
			}
		}
	}
	if o.Victims != nil {
		if err := r.judgeVictims(); err != nil {
			r.Release()
			return nil, err
		}
		return r, nil
	}
	if q.Candidates.Empty() {
		r.noNodes = true
		return r, nil
	}
	if err := r.filterAll(); err != nil {
		r.Release()
		return nil, err
	}
	return r, nil
}

// filterAll runs the phases from PreFilter to PostFilter.
func (r *Result) filterAll() error {
	skip := make([]bool, len(r.q.Profile.Rules))
	if err := r.findNode(skip); err != nil {
		return err
	}
	r.preempt(skip)
	return nil
}

// findNode runs the phases from PreFilter to the pick, and records in skip which rules skipped.
func (r *Result) findNode(skip []bool) error {
	q, p := r.q, r.q.Profile
	names, narrowing, err := r.preFilter(skip)
	if err != nil || r.PreFilter != nil {
		return err
	}
	narrower := ""
	if len(narrowing) > 0 {
		narrower = narrowing[0]
	}
	var apart []Rejected // the nominated node's own failure
	apartRow := -1
	if nn := q.Pod.Status.NominatedNodeName; nn != "" {
		if row := q.Nodes.Row(nn); row >= 0 && q.Candidates.Has(row) {
			one := q.Bits()
			one.Set(row)
			rejected, err := r.filterTwice(one, skip)
			if err != nil {
				return err
			}
			if len(rejected) == 0 {
				r.Feasible.Set(row)
				r.Row, r.Nominated, r.Outcome = row, true, Scheduled
				return nil
			}
			apart, apartRow = rejected, row
			// Upstream adds the plugin to the same set that names the narrowing ones.
			if !slices.Contains(narrowing, rejected[0].Plugin) {
				narrowing = append(narrowing, rejected[0].Plugin)
			}
		}
	}
	in := q.Bits()
	copy(in, q.Candidates)
	if names != nil {
		kept := q.Bits()
		for name := range names {
			if row := q.Nodes.Row(name); row >= 0 && q.Candidates.Has(row) {
				kept.Set(row)
			}
		}
		in.AndNot(kept)
		if apartRow >= 0 {
			if kept.Has(apartRow) {
				apart = nil // it is judged once more with the others
			} else {
				in.Clear(apartRow) // left out, it keeps its own failure
			}
		}
		sort.Strings(narrowing)
		out := Rejected{Plugin: narrower, Nodes: q.Bits(), Unresolvable: q.Bits()}
		out.Add(fmt.Sprintf("node(s) didn't satisfy plugin(s) %v", narrowing), UnschedulableAndUnresolvable, in)
		if len(out.Reasons) > 0 {
			r.Rejected = append(r.Rejected, out)
			r.narrowed = true
		}
		in = kept
	} else {
		apart = nil
	}
	rejected, err := r.filterTwice(in, skip)
	if err != nil {
		return err
	}
	if len(apart) > 0 {
		rejected = mergeRejected(rejected, apart, p)
	}
	r.Rejected = append(r.Rejected, rejected...)
	r.Feasible = in
	return r.pick()
}

// preFilter runs the first phase. It returns the names to which the nodes were narrowed (nil: all)
// and the plugins that narrowed them (pkg/scheduler/framework/runtime RunPreFilterPlugins).
func (r *Result) preFilter(skip []bool) (map[string]struct{}, []string, error) {
	q, p := r.q, r.q.Profile
	var names map[string]struct{}
	var narrowing []string
	for _, i := range p.PreFilter {
		f := p.Rules[i]
		if f.PreFilter == nil {
			continue
		}
		q.Work(q.Nodes.Count())
		state, res := f.PreFilter(q)
		r.states[i] = state
		switch {
		case res.Skip:
			skip[i] = true
			continue
		case res.Code == Error:
			return nil, nil, fmt.Errorf("%s: %s", f.Name, res.Reason)
		case res.Code == UnschedulableAndUnresolvable:
			r.PreFilter = &PreFilterRejection{f.Name, res.Code, res.Reason}
			return nil, nil, nil
		case res.Code == Unschedulable:
			// The others still run, since preemption may follow; the last one's reason is shown.
			r.PreFilter = &PreFilterRejection{f.Name, res.Code, res.Reason}
			continue
		}
		if res.Names == nil {
			continue
		}
		narrowing = append(narrowing, f.Name)
		if names == nil {
			names = res.Names
		} else {
			both := map[string]struct{}{}
			for n := range names {
				if _, ok := res.Names[n]; ok {
					both[n] = struct{}{}
				}
			}
			names = both
		}
		if len(names) == 0 {
			sort.Strings(narrowing)
			text := fmt.Sprintf("node(s) didn't satisfy plugin(s) %v simultaneously", narrowing)
			if len(narrowing) == 1 {
				text = "node(s) didn't satisfy plugin " + narrowing[0]
			}
			r.PreFilter = &PreFilterRejection{f.Name, UnschedulableAndUnresolvable, text}
			return nil, nil, nil
		}
	}
	return names, narrowing, nil
}

// filter runs the filters over in and removes the rows that they reject. Each rule sees only the
// rows that passed the ones before it, so a node is listed under the first plugin that fails it.
func (r *Result) filter(in state.Bits, skip []bool) ([]Rejected, error) {
	q, p := r.q, r.q.Profile
	var out []Rejected
	for _, i := range p.Filter {
		f := p.Rules[i]
		if f.Filter == nil || skip[i] {
			continue
		}
		q.Work(q.Nodes.Count())
		rej := Rejected{Plugin: f.Name, Nodes: q.Bits(), Unresolvable: q.Bits()}
		if err := f.Filter(q, r.states[i], in, &rej); err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name, err)
		}
		if len(rej.Reasons) == 0 {
			continue
		}
		out = append(out, rej)
		in.AndNot(rej.Nodes)
		if in.Empty() {
			break
		}
	}
	return out, nil
}

// filterTwice filters with the pods nominated to the nodes, then without.
func (r *Result) filterTwice(in state.Bits, skip []bool) ([]Rejected, error) {
	with, err := r.filterWithNominated(in, skip)
	if err != nil {
		return nil, err
	}
	without, err := r.filter(in, skip)
	if err != nil || len(with) == 0 {
		return without, err
	}
	return mergeRejected(without, with, r.q.Profile), nil
}

// pick scores the feasible nodes and chooses.
func (r *Result) pick() error {
	q := r.q
	n := r.Feasible.Count()
	if n == 0 {
		return nil
	}
	r.Outcome = Scheduled
	if q.Options.NoScores {
		return nil
	}
	if n == 1 && !q.Options.ScoreAlways {
		r.Row = r.Feasible.First()
		return nil
	}
	if err := r.score(); err != nil {
		return err
	}
	r.choose()
	return nil
}

// choose takes one of the best, by a hash of the pod's UID and the node's name.
func (r *Result) choose() {
	q := r.q
	uid, hashes := q.chooser(), q.Nodes.NameHashes()
	var least uint64
	for row := range r.best.All() {
		h := state.Mix(uid ^ hashes[row])
		if r.Row < 0 || h < least || h == least && q.Nodes.Node(row).Name < q.Nodes.Node(r.Row).Name {
			r.Row, least = row, h
		}
	}
}

// chooser is the hash that breaks ties among equal nodes, different from pod to pod.
func (q *Query) chooser() uint64 {
	return state.MixString(cmp.Or(q.Options.EqualsBy, string(q.Pod.UID)))
}

func (r *Result) score() error {
	q, p := r.q, r.q.Profile
	r.total = q.Column()
	clear(r.total)
	r.best = q.Bits()
	var uniform int64
	for _, w := range p.Score {
		if p.Rules[w.Rule].Score == nil {
			continue
		}
		same, err := r.scoreBy(w)
		if err != nil {
			return err
		}
		uniform += same
	}
	r.scored = true
	r.findBest(uniform)
	return nil
}

// scoreBy runs one rule and adds its scores to the totals, except a score that all nodes share,
// which it returns.
func (r *Result) scoreBy(w WeightedRule) (same int64, err error) {
	q := r.q
	sc := q.Profile.Rules[w.Rule]
	q.Work(q.Nodes.Count())
	out := Scores{Raw: q.Column(), Norm: q.Column()}
	if err := sc.Score(q, r.states[w.Rule], r.Feasible, &out); err != nil {
		return 0, fmt.Errorf("%s: %w", sc.Name, err)
	}
	if out.skip || out.uniform {
		q.scratch.ncols -= 2
	}
	if out.skip {
		return 0, nil
	}
	r.scores = append(r.scores, out)
	r.scoreRules = append(r.scoreRules, w)
	if out.uniform {
		return out.norm * w.Weight, nil
	}
	addWeighted(r.total, out.Norm, w.Weight, r.Feasible)
	return 0, nil
}

// addWeighted adds weight × norm to the totals of the feasible rows.
func addWeighted(total, norm []int64, weight int64, feasible state.Bits) {
	for from, to := range feasible.Runs() {
		totals := total[from:to]
		for k, n := range norm[from:to] {
			totals[k] += weight * n
		}
	}
}

// findBest adds the score that all feasible nodes share and finds the best.
func (r *Result) findBest(uniform int64) {
	top := int64(math.MinInt64)
	for i, word := range r.Feasible {
		if word == 0 {
			continue
		}
		t := (*[state.ChunkSize]int64)(r.total[i<<state.ChunkBits:])
		var best uint64
		for ; word != 0; word &= word - 1 {
			k := bits.TrailingZeros64(word)
			t[k] += uniform
			if t[k] < top {
				continue
			}
			if t[k] > top {
				top, best = t[k], 0
				r.best[:i].Zero()
			}
			best |= 1 << k
		}
		r.best[i] = best
	}
	r.top = top
}
