package explain

import (
	"berth/internal/engine"
	"berth/internal/engine/state"
)

// Failing lists the filters that reject a row, in order, and those that cannot judge it, except the
// one under which the decision lists the row. Details are worked out only on request.
func (a *Alone) Failing(row int, details bool) (failing []engine.RuleFailure, broken []engine.NotEvaluated) {
	first := ""
	if p := a.r.PreFilter; p != nil {
		first = p.Plugin
	} else if rej := a.r.RejectedBy(row); rej != nil {
		first = rej.Plugin
	}
	a.r.Query.Work(verdictSteps)
	for i := range a.rules {
		rule := &a.rules[i]
		name := a.r.Query.Profile.Rules[rule.index].Name
		if name == first {
			continue
		}
		if f := a.failure(rule, row, details); f != nil {
			f.Plugin = name
			failing = append(failing, *f)
		} else if why := rule.why(row); why != "" {
			broken = append(broken, engine.NotEvaluated{Plugin: name, Reason: why})
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
func (a *Alone) failure(rule *ruleAlone, row int, details bool) *engine.RuleFailure {
	on, whole, rej := a.on, rule.whole, &rule.rejected
	if w := rule.with[row]; w != nil {
		on, whole, rej = w.on, w.whole, &w.rejected
	} else if rule.errors[row] != "" {
		return nil
	}
	if whole != nil {
		f := &engine.RuleFailure{Code: whole.Code.String(), Reasons: []string{whole.Reason}}
		if details && a.named {
			f.Details = preFilterDetails(on.q, on.q.Profile.Rules[rule.index].Name)
		}
		return f
	}
	if len(rej.Reasons) == 0 || !rej.Nodes.Has(row) {
		return nil
	}
	f := &engine.RuleFailure{Code: rej.CodeOf(row).String(), Reasons: rej.ReasonsOf(row)}
	if det := on.q.Profile.Rules[rule.index].Details; det != nil && details {
		f.Details = det(on.q, on.states[rule.index], row)
		if name := on.q.Profile.Rules[rule.index].NameBlockers; a.named && name != nil {
			name(on.q, on.states[rule.index], row, f.Details)
		}
	}
	return f
}

// addAlsoFailing adds the other filters that reject the nodes of a written decision.
func addAlsoFailing(r *engine.Result, d *engine.Decision) {
	a, err := RunAlone(r)
	r.CheckContext() // where err is of the caller's context
	if err == nil {
		a.named = true
		defer a.Release()
	}
	for i := range d.Nodes {
		switch n := &d.Nodes[i]; {
		case n.Feasible:
		case err != nil: // too much work, or the caller is gone
			n.NotJudged = []engine.NotEvaluated{{Plugin: "every other filter", Reason: err.Error()}}
		default:
			n.AlsoFailing, n.NotJudged = a.Failing(r.Nodes().Row(n.Name), true)
		}
	}
}

// Rejects returns the rows that filters reject for given reasons when each is the only one, of
// pairs of a plugin and a reason; nil for none. Pods that are nominated to a node do not count.
func (a *Alone) Rejects(pairs ...string) (rows state.Bits) {
	for i := range a.rules {
		rule := &a.rules[i]
		name := a.r.Query.Profile.Rules[rule.index].Name
		for k := 0; k < len(pairs); k += 2 {
			if pairs[k] != name {
				continue
			}
			for _, reason := range rule.rejected.Reasons {
				if reason.Text != pairs[k+1] {
					continue
				}
				if rows == nil {
					rows = reason.Nodes.Clone()
				} else {
					rows.Or(reason.Nodes)
				}
			}
		}
	}
	return rows
}
