package explain

import (
	"fmt"
	"iter"
	"maps"
	"slices"

	"berth/internal/engine"
	"berth/internal/engine/state"
)

// Alone holds what each filter returns about the rejected nodes of a decision when
// it is the only one, as RunFilterPluginsWithNominatedPods would return with no
// other plugin enabled (pkg/scheduler/framework/runtime/framework.go). It is worked
// out on a query of its own, so the decision that it is about stays as it is. It
// holds scratch memory: Release it, once.
type Alone struct {
	r     *engine.Result
	on    *trial // the same question with states of its own; nil where nothing ran
	rules []ruleAlone
	named bool // Failing names the objects, too
}

// ruleAlone is one filter's verdicts.
type ruleAlone struct {
	index    int
	whole    *engine.PreFilterRejection // a verdict on the pod: it holds on every node
	broken   string                     // why PreFilter could not judge the pod; empty: it could
	rejected engine.Rejected
	errors   map[int]string // by row
	with     map[int]*rowWith
}

// rowWith is a verdict on a row with the pods nominated to it.
type rowWith struct {
	on       *trial
	whole    *engine.PreFilterRejection
	rejected engine.Rejected
}

// trial is a question with PreFilter states, by rule.
type trial struct {
	q      *engine.Query
	states []any
}

func newTrial(q *engine.Query) *trial { return &trial{q, make([]any, len(q.Profile.Rules))} }

// RunAlone runs every filter on each rejected node, whichever other filter rejects it. Each rule's
// PreFilter runs by itself too, so a rule is judged even where another one rejects the pod before
// any node is judged. A decision that judged no node has nothing to run.
func RunAlone(r *engine.Result) (a *Alone, err error) {
	a = &Alone{r: r}
	if r.Outcome == engine.Gated || r.Nominated || r.Query.Options.Victims != nil {
		return a, nil
	}
	q, err := engine.NewQuery(r.Query.State, r.Query.Pod, r.Query.Profile, r.Query.Options)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			q.Release()
		}
	}()
	a.on = newTrial(q)
	return a, a.run()
}

func (a *Alone) run() (err error) {
	q := a.on.q
	rows := q.Bits()
	copy(rows, q.Candidates)
	rows.AndNot(a.r.Feasible)
	pods := q.NominatedRows()
	maps.DeleteFunc(pods, func(row int, _ []*state.Pod) bool { return !rows.Has(row) })
	nominated := map[int]*trial{}
	defer q.Caught(&err)
	defer func() { // details are not stopped
		for _, on := range nominated {
			on.q.Answered()
		}
	}()
	for _, i := range filtering(q.Profile) {
		rule := ruleAlone{index: i}
		var skip bool
		rule.whole, rule.broken, skip = a.on.preFilter(i)
		if !skip && rule.whole == nil && rule.broken == "" {
			for row := range a.on.rejectedWith(i, pods) {
				if nominated[row] == nil {
					nominated[row] = newTrial(q.WithPods(pods[row], int32(row)))
				}
				rule.judgeWith(nominated[row], row)
			}
			if rule.rejected, err = a.on.filter(i, rows); err != nil {
				rule.rejected = q.FilterEach(q.Profile.Rules[i], a.on.states[i], rows, func(row int, err error) { rule.fail(row, err.Error()) })
				err = nil
			}
		}
		if err := q.Context().Err(); err != nil {
			return fmt.Errorf("run every filter: %w", err)
		}
		a.rules = append(a.rules, rule)
	}
	return nil
}

// rejectedWith returns the rows that a filter rejects, or cannot judge, with the pods nominated to
// them. Only a filter with a trial reads pods.
func (t *trial) rejectedWith(i int, pods map[int][]*state.Pod) iter.Seq[int] {
	return func(yield func(row int) bool) {
		f := t.q.Profile.Rules[i]
		if f.Try == nil || len(pods) == 0 {
			return
		}
		on := f.Try(t.q, t.states[i])
		for row, list := range pods {
			on.Begin(int32(row), list)
			if code, _ := on.Verdict(); code != engine.Success && !yield(row) {
				return
			}
		}
	}
}

// judgeWith judges a row with the pods nominated to it, for its details.
func (r *ruleAlone) judgeWith(on *trial, row int) {
	w := &rowWith{on: on}
	var why string
	var passes bool
	// A rule that skips without the pods is skipped with them too.
	if w.whole, why, passes = on.preFilter(r.index); passes {
		return
	}
	if w.whole == nil && why == "" {
		one := on.q.Bits()
		one.Set(row)
		var err error
		if w.rejected, err = on.filter(r.index, one); err != nil {
			why = err.Error()
		}
	}
	switch {
	case why != "":
		r.fail(row, why)
	case w.whole != nil || !w.rejected.Nodes.Empty():
		if r.with == nil {
			r.with = map[int]*rowWith{}
		}
		r.with[row] = w
	}
}

// filtering lists the rules that can reject a node: the filters in order, after the rules that only
// have a PreFilter.
func filtering(p *engine.Profile) []int {
	var out []int
	for _, i := range p.PreFilter {
		if p.Rules[i].PreFilter != nil && !slices.Contains(p.Filter, i) {
			out = append(out, i)
		}
	}
	return append(out, p.Filter...)
}

// preFilter runs the PreFilter of one rule.
func (t *trial) preFilter(i int) (whole *engine.PreFilterRejection, broken string, skip bool) {
	p := t.q.Profile
	f := p.Rules[i]
	if f.PreFilter == nil || !slices.Contains(p.PreFilter, i) {
		return nil, "", false
	}
	state, res := f.PreFilter(t.q)
	t.states[i] = state
	switch res.Code {
	case engine.Success:
		return nil, "", res.Skip
	case engine.Error:
		return nil, res.Reason, false
	default:
		return &engine.PreFilterRejection{Plugin: f.Name, Code: res.Code, Reason: res.Reason}, "", false
	}
}

// filter runs one filter over rows, which it leaves as they are.
func (t *trial) filter(i int, rows state.Bits) (engine.Rejected, error) {
	p := t.q.Profile
	if p.Rules[i].Filter == nil || !slices.Contains(p.Filter, i) {
		return engine.Rejected{}, nil
	}
	return t.q.FilterBy(p.Rules[i], t.states[i], rows)
}

func (r *ruleAlone) fail(row int, why string) {
	if r.errors == nil {
		r.errors = map[int]string{}
	}
	if r.errors[row] == "" {
		r.errors[row] = why
	}
}

// Release gives back the scratch memory.
func (a *Alone) Release() {
	if a.on != nil {
		a.on.q.Release()
	}
}
