package explain

import (
	"slices"

	"berth/internal/engine"
)

// verdictSteps is about how many steps of Work the explanation of one row takes.
const verdictSteps = 64

// Verdict explains one row, without the objects that cause its details.
func Verdict(r *engine.Result, row int) engine.NodeVerdict { return verdict(r, row, false) }

// NamedVerdict explains one row, with them.
func NamedVerdict(r *engine.Result, row int) engine.NodeVerdict { return verdict(r, row, true) }

func verdict(r *engine.Result, row int, names bool) engine.NodeVerdict {
	r.Query.Work(verdictSteps)
	if r.Feasible.Has(row) {
		return feasibleVerdict(r, row, nil)
	}
	v := engine.NodeVerdict{Name: r.Nodes().Node(row).Name}
	if r.PreFilter == nil && r.RejectedBy(row) == nil {
		return v
	}
	why := r.RejectionOf(row)
	v.Plugin, v.Code, v.Reasons = why.Plugin, why.Code.String(), why.Reasons
	switch {
	case r.PreFilter != nil:
		v.Stage = engine.StagePreFilter
		if names {
			v.Details = preFilterDetails(r.Query, v.Plugin)
		}
	case r.Narrowed && r.Rejected[0].Nodes.Has(row):
		v.Stage = engine.StageNarrowing
		v.Details = []engine.Detail{{Kind: "narrowed", Name: v.Plugin}}
		if rule := r.Query.Profile.RuleNamed(v.Plugin); names && rule != nil && rule.NameBlockers != nil {
			rule.NameBlockers(r.Query, nil, row, v.Details)
		}
	default:
		v.Stage = engine.StageFilter
		for i, rule := range r.Query.Profile.Rules {
			if rule.Name == v.Plugin && rule.Details != nil {
				v.Details = details(r, i, row, names)
			}
		}
	}
	return v
}

// preFilterDetails describes the objects for which a plugin rejects the pod on every node.
func preFilterDetails(q *engine.Query, plugin string) []engine.Detail {
	if rule := q.Profile.RuleNamed(plugin); rule != nil && rule.PreFilterDetails != nil {
		return rule.PreFilterDetails(q)
	}
	return nil
}

// details returns those of a rule about a row. Where only the pods nominated to the node take the
// room, they are those with these pods on it.
func details(r *engine.Result, i, row int, names bool) []engine.Detail {
	rule, on, kept := r.Query.Profile.Rules[i], r.Query, r.States[i]
	out := rule.Details(on, kept, row)
	if len(out) == 0 && rule.Try != nil && on.State.NominatedPods().Len() > 0 {
		if pods := on.NominatedRows()[row]; len(pods) > 0 {
			with := newTrial(on.WithPods(pods, int32(row)))
			if whole, broken, skip := with.preFilter(i); whole == nil && broken == "" && !skip {
				on, kept = with.q, with.states[i]
				out = rule.Details(on, kept, row)
			}
		}
	}
	if names && rule.NameBlockers != nil {
		rule.NameBlockers(on, kept, row, out)
	}
	return out
}

// feasibleVerdict writes the scores to room, which may be nil.
func feasibleVerdict(r *engine.Result, row int, room []engine.PluginScore) engine.NodeVerdict {
	v := engine.NodeVerdict{Name: r.Nodes().Node(row).Name, Feasible: true}
	if !r.Scored {
		return v
	}
	total := r.Total(row)
	v.Score = &total
	v.Scores = slices.Grow(room[:0:len(room)], len(r.Scores))
	for k := range r.Scores {
		s := &r.Scores[k]
		raw, norm := s.At(row)
		v.Scores = append(v.Scores, engine.PluginScore{
			Plugin: r.Query.Profile.Rules[s.Rule].Name, Raw: raw, Normalized: norm, Weight: s.Weight, Weighted: norm * s.Weight,
		})
	}
	return v
}

// TopScores returns up to n of the best feasible nodes, best first.
func TopScores(r *engine.Result, n int) []engine.NodeVerdict {
	rows := r.BestRows(n)
	out := make([]engine.NodeVerdict, 0, len(rows))
	for _, row := range rows {
		out = append(out, feasibleVerdict(r, int(row), nil))
	}
	return out
}
