package engine

import (
	"berth/internal/engine/state"
)

// bestListed is how many feasible nodes ExplainFailures lists.
const bestListed = 10

// Decision writes the result: every explanation comes from the columns, so two results with the
// same columns have the same explanation, byte for byte.
func (r *Result) Decision(level Explain) *Decision {
	if level == ExplainGroups {
		level = ExplainNone
	}
	every := level == ExplainAll
	if every {
		level = ExplainFull
	}
	d := &Decision{
		Outcome: r.Outcome, Node: r.Node(), NominatedNode: r.NominatedNode(), Message: r.Message(), Profile: r.q.Profile.Name,
		Gates: r.gates, Counts: Counts{Nodes: r.Considered(), Feasible: r.Feasible.Count()},
		Failures: r.Failures(), NotEvaluated: r.NotEvaluated(),
	}
	if r.q.Pod.Spec.Priority != nil {
		d.Priority = *r.q.Pod.Spec.Priority
	}
	if r.Outcome == Scheduled {
		d.Best = r.Best()
		if m, ok := r.Margin(); ok {
			d.Margin = &m
		}
		d.Volumes = r.Volumes()
	}
	d.Devices = r.Devices()
	if r.Outcome != Gated {
		for _, rule := range r.q.Profile.Rules {
			if rule.Spread != nil {
				d.Spread = rule.Spread(r.q)
			}
		}
	}
	if level != ExplainNone && r.Outcome != Gated && r.q.Options.Victims == nil {
		r.writeNodes(d, level)
	}
	if every {
		r.addAlsoFailing(d)
	}
	d.Preemption = r.explainPreemption(level)
	d.Digest = r.Digest()
	return d
}

// Best lists the nodes that share the best total, by name. After a choice without scoring it is the
// chosen one.
func (r *Result) Best() []string {
	if r.Row < 0 {
		return nil
	}
	if !r.scored {
		return []string{r.Node()}
	}
	var out []string
	for _, row := range r.q.Nodes.Order() {
		if r.best.Has(int(row)) {
			out = append(out, r.q.Nodes.Node(int(row)).Name)
		}
	}
	return out
}

// Volumes lists what the pod's waiting claims would get on the chosen node; nil without a choice or
// without such claims.
func (r *Result) Volumes() []VolumeBinding {
	if r.Row < 0 || r.Outcome != Scheduled {
		return nil
	}
	for i, rule := range r.q.Profile.Rules {
		if rule.Volumes != nil {
			return rule.Volumes(r.q, r.states[i], r.Row)
		}
	}
	return nil
}

// Margin is the difference between the best total and the next lower one; ok is false where there
// is none.
func (r *Result) Margin() (int64, bool) {
	if !r.scored {
		return 0, false
	}
	second, ok := int64(0), false
	for row := range r.Feasible.All() {
		if t := r.totalOf(row); t < r.top && (!ok || t > second) {
			second, ok = t, true
		}
	}
	return r.top - second, ok
}

// Devices lists what the pod's claims would get on the chosen node, claim by
// claim and in the order in which they are found.
func (r *Result) Devices() []AllottedDevice {
	if r.Row < 0 {
		return nil
	}
	for i, rule := range r.q.Profile.Rules {
		if rule.Devices != nil && i < len(r.states) {
			return rule.Devices(r.q, r.states[i], r.Row)
		}
	}
	return nil
}

// NotEvaluated lists what could not be judged.
func (r *Result) NotEvaluated() []NotEvaluated {
	var out []NotEvaluated
	for _, rule := range r.q.Profile.Rules {
		if rule.NotEvaluated == nil {
			continue
		}
		if reason, yes := rule.NotEvaluated(r.q); yes {
			out = append(out, NotEvaluated{rule.Name, reason})
		}
	}
	return out
}

func (r *Result) writeNodes(d *Decision, level Explain) {
	var shown state.Bits
	if level == ExplainFailures {
		shown = r.q.Bits()
		listed := 0
		if r.Row >= 0 { // among equals it may come late by name, and is the best all the same
			shown.Set(r.Row)
			listed = 1
		}
		for _, row := range r.bestRows(bestListed) {
			if listed == bestListed {
				break
			}
			if !shown.Has(int(row)) {
				shown.Set(int(row))
				listed++
			}
		}
	}
	omitted := 0
	for _, row := range r.q.Nodes.Order() {
		i := int(row)
		if !r.q.Candidates.Has(i) {
			continue
		}
		if r.Feasible.Has(i) {
			if shown != nil && !shown.Has(i) {
				omitted++
				continue
			}
			d.Nodes = append(d.Nodes, r.feasibleVerdict(i))
			continue
		}
		if r.Nominated {
			omitted++ // never judged: the nominated node was taken at once
			continue
		}
		d.Nodes = append(d.Nodes, r.Verdict(i))
	}
	d.NodesOmitted = omitted
}

func (r *Result) feasibleVerdict(row int) NodeVerdict {
	v := NodeVerdict{Name: r.q.Nodes.Node(row).Name, Feasible: true}
	if !r.scored {
		return v
	}
	total := r.totalOf(row)
	v.Score = &total
	v.Scores = r.ScoresOf(row)
	return v
}

// ScoresOf returns a feasible row's scores, rule by rule.
func (r *Result) ScoresOf(row int) []PluginScore {
	out := make([]PluginScore, 0, len(r.scores))
	for k := range r.scores {
		w := r.scoreRules[k]
		raw, norm := r.scores[k].at(row)
		out = append(out, PluginScore{
			Plugin: r.q.Profile.Rules[w.Rule].Name, Raw: raw, Normalized: norm,
			Weight: w.Weight, Weighted: norm * w.Weight,
		})
	}
	return out
}

// TopScores returns up to n of the best feasible nodes, best first.
func (r *Result) TopScores(n int) []NodeVerdict {
	rows := r.bestRows(n)
	out := make([]NodeVerdict, 0, len(rows))
	for _, row := range rows {
		out = append(out, r.feasibleVerdict(int(row)))
	}
	return out
}

// Words returns the text that write makes of a part of the question, made once per decision.
func (q *Query) Words(of any, write func() string) string {
	text, known := q.words[of]
	if !known {
		if q.words == nil {
			q.words = map[any]string{}
		}
		text = write()
		q.words[of] = text
	}
	return text
}

// verdictSteps is about how many steps of Work the explanation of one row takes.
const verdictSteps = 64

// Verdict explains one row.
func (r *Result) Verdict(row int) NodeVerdict {
	r.q.Work(verdictSteps)
	if r.Feasible.Has(row) {
		return r.feasibleVerdict(row)
	}
	v := NodeVerdict{Name: r.q.Nodes.Node(row).Name}
	if r.PreFilter != nil {
		v.Plugin, v.Code, v.Reasons = r.PreFilter.Plugin, r.PreFilter.Code.String(), []string{r.PreFilter.Reason}
		return v
	}
	for i := range r.Rejected {
		rej := &r.Rejected[i]
		if !rej.Nodes.Has(row) {
			continue
		}
		v.Plugin, v.Code, v.Reasons = rej.Plugin, rej.codeOf(row).String(), rej.textsOf(row)
		if i == 0 && r.narrowed {
			v.Details = []Detail{{Kind: "narrowed", Name: v.Plugin}}
		} else if k := r.q.Profile.ruleNamed(v.Plugin); k >= 0 {
			if det := r.q.Profile.Rules[k]; det.Details != nil {
				v.Details = clipped(det.Details(r.q, r.states[k], row))
			}
		}
		return v
	}
	return v
}
