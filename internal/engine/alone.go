package engine

import (
	"fmt"
	"slices"

	"berth/internal/engine/state"
)

// Alone holds what each filter returns about the rejected nodes of a decision when
// it is the only one, as RunFilterPluginsWithNominatedPods would return with no
// other plugin enabled (pkg/scheduler/framework/runtime/framework.go). It is worked
// out on a query of its own, so the decision that it is about stays as it is. It
// holds scratch memory: Release it, once.
type Alone struct {
	r     *Result
	on    *Result // the same question with states of its own
	rules []ruleAlone
}

// ruleAlone is one filter's verdicts.
type ruleAlone struct {
	index    int
	whole    *PreFilterRejection // a verdict on the pod: it holds on every node
	broken   string              // why PreFilter could not judge the pod; empty: it could
	rejected Rejected
	errors   map[int]string // by row
	with     map[int]*rowWith
}

// rowWith is a verdict on a row with the pods nominated to it.
type rowWith struct {
	on       *Result
	whole    *PreFilterRejection
	rejected Rejected
}

// Alone runs every filter on each rejected node, whichever other filter rejects it. Each rule's
// PreFilter runs by itself too, so a rule is judged even where another one rejects the pod before
// any node is judged. A decision that judged no node has nothing to run.
func (r *Result) Alone() (a *Alone, err error) {
	a = &Alone{r: r}
	if r.Outcome == Gated || r.Nominated || r.q.Options.Victims != nil {
		return a, nil
	}
	q, err := newQuery(r.q.State, r.q.Pod, r.q.Profile, r.q.Options)
	if err != nil {
		return nil, fmt.Errorf("pod %s/%s: %w", r.q.Pod.Namespace, r.q.Pod.Name, err)
	}
	rows := q.Bits()
	copy(rows, q.Candidates)
	rows.AndNot(r.Feasible)
	var nominated map[int]*Result
	defer func() {
		q.nextLook = answered // details are not stopped
		for _, trial := range nominated {
			trial.q.nextLook = answered
		}
		if err != nil {
			release(q)
		}
	}()
	defer caught(&err)
	a.on = &Result{q: q, Row: -1, states: make([]any, len(q.Profile.Rules))}
	skip := make([]bool, len(q.Profile.Rules))
	nominated = a.on.nominatedTrials(rows)
	for _, i := range q.Profile.filtering() {
		rule := ruleAlone{index: i}
		rule.whole, rule.broken, skip[i] = a.on.preFilterAlone(i)
		if !skip[i] && rule.whole == nil && rule.broken == "" {
			for row, trial := range nominated {
				one := q.Bits()
				one.Set(row)
				w := &rowWith{on: trial}
				var why string
				var passes bool
				// A rule that skips without the pods is skipped with them too.
				if w.whole, why, passes = trial.preFilterAlone(i); passes {
					continue
				}
				if w.whole == nil && why == "" {
					w.rejected, err = trial.filterAlone(i, one)
					if err != nil {
						why = err.Error()
					}
				}
				switch {
				case why != "":
					rule.fail(row, why)
				case w.whole != nil || !w.rejected.Nodes.Empty():
					rule.put(row, w)
				}
			}
			if rule.rejected, err = a.on.filterAlone(i, rows); err != nil {
				a.rowByRow(&rule, rows)
			}
		}
		if err := q.Context().Err(); err != nil {
			return nil, fmt.Errorf("run every filter: %w", err)
		}
		a.rules = append(a.rules, rule)
	}
	return a, nil
}

// nominatedTrials begins a trial for each of the rows that pods are nominated to.
func (r *Result) nominatedTrials(rows state.Bits) map[int]*Result {
	out := map[int]*Result{}
	for row, pods := range r.q.nominatedRows() {
		if rows.Has(row) {
			out[row] = r.withPods(pods, int32(row))
		}
	}
	return out
}

// filtering lists the rules that can reject a node: the filters in order, after the rules that only
// have a PreFilter.
func (p *Profile) filtering() []int {
	var out []int
	for _, i := range p.PreFilter {
		if p.Rules[i].PreFilter != nil && !slices.Contains(p.Filter, i) {
			out = append(out, i)
		}
	}
	return append(out, p.Filter...)
}

// preFilterAlone runs the PreFilter of one rule.
func (r *Result) preFilterAlone(i int) (whole *PreFilterRejection, broken string, skip bool) {
	f := r.q.Profile.Rules[i]
	if f.PreFilter == nil || !slices.Contains(r.q.Profile.PreFilter, i) {
		return nil, "", false
	}
	state, res := f.PreFilter(r.q)
	r.states[i] = state
	switch res.Code {
	case Success:
		return nil, "", res.Skip
	case Error:
		return nil, res.Reason, false
	default:
		return &PreFilterRejection{f.Name, res.Code, res.Reason}, "", false
	}
}

// filterAlone runs one filter over rows, which it leaves as they are.
func (r *Result) filterAlone(i int, rows state.Bits) (Rejected, error) {
	q := r.q
	f := q.Profile.Rules[i]
	if f.Filter == nil || !slices.Contains(q.Profile.Filter, i) {
		return Rejected{}, nil
	}
	in := q.Bits()
	copy(in, rows)
	rej := Rejected{Plugin: f.Name, Nodes: q.Bits(), Unresolvable: q.Bits()}
	err := f.Filter(q, r.states[i], in, &rej)
	return rej, err
}

// rowByRow judges each row by itself, where a filter cannot judge them together:
// its error may be about some of them only.
func (a *Alone) rowByRow(rule *ruleAlone, rows state.Bits) {
	q := a.on.q
	rule.rejected = Rejected{Plugin: q.Profile.Rules[rule.index].Name, Nodes: q.Bits(), Unresolvable: q.Bits()}
	one := q.Bits()
	for row := range rows.All() {
		if q.Context().Err() != nil {
			break
		}
		one.Zero()
		one.Set(row)
		rej, err := a.on.filterAlone(rule.index, one)
		if err != nil {
			rule.fail(row, err.Error())
			continue
		}
		rule.rejected = mergeRejected([]Rejected{rule.rejected}, []Rejected{rej}, q.Profile)[0]
	}
}

func (r *ruleAlone) fail(row int, why string) {
	if r.errors == nil {
		r.errors = map[int]string{}
	}
	if r.errors[row] == "" {
		r.errors[row] = why
	}
}

func (r *ruleAlone) put(row int, w *rowWith) {
	if r.with == nil {
		r.with = map[int]*rowWith{}
	}
	r.with[row] = w
}

// Release gives back the scratch memory.
func (a *Alone) Release() {
	if a.on != nil {
		a.on.Release()
	}
}

// Failing lists the filters that reject a row, in order, and those that cannot judge it, except the
// one under which the decision lists the row. Details are worked out only on request.
func (a *Alone) Failing(row int, details bool) (failing []RuleFailure, broken []NotEvaluated) {
	first := a.r.firstOf(row)
	a.r.q.Work(verdictSteps)
	for i := range a.rules {
		rule := &a.rules[i]
		name := a.r.q.Profile.Rules[rule.index].Name
		if name == first {
			continue
		}
		if f := a.failure(rule, row, details); f != nil {
			f.Plugin = name
			failing = append(failing, *f)
		} else if why := rule.why(row); why != "" {
			broken = append(broken, NotEvaluated{name, why})
		}
	}
	return failing, broken
}

// why is the error of a rule on a row; empty without.
func (r *ruleAlone) why(row int) string {
	if r.broken != "" {
		return r.broken
	}
	return r.errors[row]
}

// failure is what a rule returns about a row; nil where the row passes. Its verdict with the
// nominated pods comes before its verdict without.
func (a *Alone) failure(rule *ruleAlone, row int, details bool) *RuleFailure {
	on, whole, rej := a.on, rule.whole, &rule.rejected
	if w := rule.with[row]; w != nil {
		on, whole, rej = w.on, w.whole, &w.rejected
	} else if rule.errors[row] != "" {
		return nil
	}
	if whole != nil {
		return &RuleFailure{Code: whole.Code.String(), Reasons: []string{whole.Reason}}
	}
	if len(rej.Reasons) == 0 || !rej.Nodes.Has(row) {
		return nil
	}
	f := &RuleFailure{Code: rej.codeOf(row).String(), Reasons: rej.textsOf(row)}
	if det := on.q.Profile.Rules[rule.index]; det.Details != nil && details {
		f.Details = clipped(det.Details(on.q, on.states[rule.index], row))
	}
	return f
}

// firstOf names the rule under which a row is listed.
func (r *Result) firstOf(row int) string {
	if r.PreFilter != nil {
		return r.PreFilter.Plugin
	}
	for i := range r.Rejected {
		if r.Rejected[i].Nodes.Has(row) {
			return r.Rejected[i].Plugin
		}
	}
	return ""
}

// addAlsoFailing adds the other filters that reject the nodes of a written decision.
func (r *Result) addAlsoFailing(d *Decision) {
	a, err := r.Alone()
	r.CheckContext() // where err is of the caller's context
	defer func() {
		if a != nil && err == nil {
			a.Release()
		}
	}()
	for i := range d.Nodes {
		switch n := &d.Nodes[i]; {
		case n.Feasible:
		case err != nil: // too much work, or the caller is gone
			n.NotJudged = []NotEvaluated{{"every other filter", err.Error()}}
		default:
			n.AlsoFailing, n.NotJudged = a.Failing(r.q.Nodes.Row(n.Name), true)
		}
	}
}
