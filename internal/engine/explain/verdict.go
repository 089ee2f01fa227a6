package explain

import "berth/internal/engine"

// verdictSteps is about how many steps of Work the explanation of one row takes.
const verdictSteps = 64

// Verdict explains one row.
func Verdict(r *engine.Result, row int) engine.NodeVerdict {
	r.Query.Work(verdictSteps)
	if r.Feasible.Has(row) {
		return feasibleVerdict(r, row)
	}
	v := engine.NodeVerdict{Name: r.Nodes().Node(row).Name}
	if r.PreFilter == nil && r.RejectedBy(row) == nil {
		return v
	}
	why := r.RejectionOf(row)
	v.Plugin, v.Code, v.Reasons = why.Plugin, why.Code.String(), why.Reasons
	switch {
	case r.PreFilter != nil:
	case r.Narrowed && r.Rejected[0].Nodes.Has(row):
		v.Details = []engine.Detail{{Kind: "narrowed", Name: v.Plugin}}
	default:
		for i, rule := range r.Query.Profile.Rules {
			if rule.Name == v.Plugin && rule.Details != nil {
				v.Details = rule.Details(r.Query, r.States[i], row)
			}
		}
	}
	return v
}

func feasibleVerdict(r *engine.Result, row int) engine.NodeVerdict {
	v := engine.NodeVerdict{Name: r.Nodes().Node(row).Name, Feasible: true}
	if !r.Scored {
		return v
	}
	total := r.Total(row)
	v.Score = &total
	v.Scores = make([]engine.PluginScore, 0, len(r.Scores))
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
		out = append(out, feasibleVerdict(r, int(row)))
	}
	return out
}
