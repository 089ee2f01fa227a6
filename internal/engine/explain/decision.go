package explain

import (
	"berth/internal/engine"
	"berth/internal/engine/digest"
	"berth/internal/engine/preemption"
	"berth/internal/engine/state"
)

// bestListed is how many feasible nodes ExplainFailures lists.
const bestListed = 10

// Decision writes a result at a level.
func Decision(r *engine.Result, level engine.Explain) *engine.Decision {
	if level == engine.ExplainGroups {
		level = engine.ExplainNone
	}
	every := level == engine.ExplainAll
	if every {
		level = engine.ExplainFull
	}
	q := r.Query
	d := &engine.Decision{
		Outcome: r.Outcome, Node: r.Node(), NominatedNode: r.NominatedNode(), Message: Message(r), Profile: q.Profile.Name,
		Priority: q.Priority(), Gates: r.Gates, Counts: engine.Counts{Nodes: r.Considered(), Feasible: r.Feasible.Count()},
		Failures: Failures(r), NotEvaluated: notEvaluated(q),
	}
	if r.Outcome == engine.Scheduled {
		d.Best = best(r)
		if second, ok := r.Second(); ok {
			margin := r.Top - second
			d.Margin = &margin
		}
		d.Volumes = r.Volumes()
	}
	d.Devices = r.Devices()
	if r.Outcome != engine.Gated {
		for _, rule := range q.Profile.Rules {
			if rule.Spread != nil {
				d.Spread = rule.Spread(q)
			}
		}
	}
	if level != engine.ExplainNone && r.Outcome != engine.Gated && q.Options.Victims == nil {
		writeNodes(r, d, level)
	}
	if every {
		addAlsoFailing(r, d)
	}
	d.Preemption = preemption.Explain(r, level)
	d.Digest = digest.Of(r)
	return d
}

// best lists the nodes that share the best total, by name. After a choice without scoring it is the
// chosen one.
func best(r *engine.Result) []string {
	if r.Row < 0 {
		return nil
	}
	if !r.Scored {
		return []string{r.Node()}
	}
	out := make([]string, 0, r.Best.Count())
	for row := range r.Nodes().ByName(r.Best) {
		out = append(out, r.Nodes().Node(row).Name)
	}
	return out
}

// notEvaluated lists what could not be judged.
func notEvaluated(q *engine.Query) []engine.NotEvaluated {
	var out []engine.NotEvaluated
	for _, rule := range q.Profile.Rules {
		if rule.NotEvaluated == nil {
			continue
		}
		if reason, yes := rule.NotEvaluated(q); yes {
			out = append(out, engine.NotEvaluated{Plugin: rule.Name, Reason: reason})
		}
	}
	return out
}

func writeNodes(r *engine.Result, d *engine.Decision, level engine.Explain) {
	var shown state.Bits
	if level == engine.ExplainFailures {
		shown = r.Query.Bits()
		listed := 0
		if r.Row >= 0 { // among equals it may come late by name, and is the best all the same
			shown.Set(r.Row)
			listed = 1
		}
		for _, row := range r.BestRows(bestListed) {
			if listed == bestListed {
				break
			}
			if !shown.Has(int(row)) {
				shown.Set(int(row))
				listed++
			}
		}
	}
	for _, row := range r.Nodes().Order() {
		i := int(row)
		feasible := r.Feasible.Has(i)
		switch {
		case !r.Query.Candidates.Has(i):
		case feasible && shown != nil && !shown.Has(i):
			d.NodesOmitted++
		case feasible:
			d.Nodes = append(d.Nodes, feasibleVerdict(r, i))
		case r.Nominated: // never judged: the nominated node was taken at once
			d.NodesOmitted++
		default:
			d.Nodes = append(d.Nodes, Verdict(r, i))
		}
	}
}
