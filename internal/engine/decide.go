package engine

import (
	"fmt"
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
func Decide(s *state.State, pod *corev1.Pod, p *Profile, o Options) (*Result, error) {
	q, err := NewQuery(s, pod, p, o)
	if err != nil {
		return nil, err
	}
	return q.Decide(Direct{})
}

// Decide is the cycle, whose rules a runner runs. It releases the query where it returns an error.
func (q *Query) Decide(run Runner) (*Result, error) {
	r := q.result
	if r == nil {
		r = new(Result)
	}
	r.begin(q, run)
	r.Rejected, r.Scores = q.scratch.rejected[:0], q.scratch.scores[:0]
	if err := r.decide(); err != nil {
		q.Release()
		return nil, err
	}
	return r, nil
}

func (r *Result) decide() (err error) {
	q, p := r.Query, r.Query.Profile
	defer q.Caught(&err)
	q.Work(0)
	r.Feasible = q.Bits()
	if gates := q.Pod.Spec.SchedulingGates; p.Gates && len(gates) > 0 {
		for _, g := range gates {
			r.Gates = append(r.Gates, g.Name)
		}
		r.Outcome = Gated
		return nil
	}
	if q.Options.Victims != nil {
		names, _, err := r.preFilter()
		if err != nil {
			return err
		}
		return p.JudgeVictims(r, names)
	}
	for _, i := range p.PreEnqueue {
		if r.HeldBack = p.Rules[i].PreEnqueue(q); r.HeldBack != "" {
			r.Outcome, r.HeldBy = Gated, p.Rules[i].Name
			return nil
		}
	}
	if q.Candidates.Empty() {
		r.NoNodes = true
		return nil
	}
	if err := r.findNode(); err != nil {
		return err
	}
	r.postFilter()
	return nil
}

// findNode runs the phases from PreFilter to the pick.
func (r *Result) findNode() error {
	q := r.Query
	names, narrowing, err := r.preFilter()
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
			rejected, err := r.filterTwice(nil, one)
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
				r.narrowing = narrowing
			}
		}
	}
	in := r.Feasible
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
		out := q.NewRejected(narrower)
		out.Add(fmt.Sprintf("node(s) didn't satisfy plugin(s) %v", narrowing), UnschedulableAndUnresolvable, in)
		r.Narrowed = len(out.Reasons) > 0
		if r.Narrowed {
			r.Rejected = append(r.Rejected, out)
		}
		in = kept
	} else {
		apart = nil
	}
	first := len(r.Rejected)
	rejected, err := r.filterTwice(r.Rejected, in)
	if err != nil {
		return err
	}
	r.Rejected = rejected
	if len(apart) > 0 {
		r.Rejected = append(r.Rejected[:first], q.mergeRejected(slices.Clone(rejected[first:]), apart)...)
	}
	r.Feasible = in
	return r.pick()
}
