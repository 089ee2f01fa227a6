package explain

import (
	"berth/internal/engine"
	"berth/internal/engine/digest"
	"berth/internal/engine/preemption"
)

// bestListed is how many feasible nodes ExplainFailures lists.
const bestListed = 10

// sharedNodes is up to how many nodes a decision lists that is shared.
const sharedNodes = 64

// The levels at which decisions are shared: the others list all nodes.
var sharedNone, sharedFailures any = engine.ExplainNone, engine.ExplainFailures

// Decision writes a result at a level. What it points to is not to be written: the answers to equal
// questions share it.
func Decision(r *engine.Result, level engine.Explain) *engine.Decision {
	key := sharedNone
	switch level {
	case engine.ExplainNone, engine.ExplainGroups:
		level = engine.ExplainNone
	case engine.ExplainFailures:
		key = sharedFailures
	default:
		return write(r, level)
	}
	d := *engine.Shared(r, key, func() (*engine.Decision, bool) {
		d := write(r, level)
		return d, len(d.Nodes) <= sharedNodes
	})
	d.Digest = digest.Of(r) // which may be asked for in another form
	return &d
}

func write(r *engine.Result, level engine.Explain) *engine.Decision {
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
	candidates, listed := r.Query.Candidates, r.Query.Bits()
	if level == engine.ExplainFailures {
		room := bestListed
		if r.Row >= 0 { // among equals it may come late by name, and is the best all the same
			listed.Set(r.Row)
			room--
		}
		for _, row := range r.BestRows(bestListed) {
			if room > 0 && !listed.Has(int(row)) {
				listed.Set(int(row))
				room--
			}
		}
	} else {
		listed.Or(r.Feasible)
	}
	listed.And(candidates)
	if !r.Nominated { // otherwise they were never judged: the nominated node was taken at once
		rejected := r.Query.Bits()
		rejected.Or(candidates)
		rejected.AndNot(r.Feasible)
		listed.Or(rejected)
	}
	n := listed.Count()
	if d.NodesOmitted = candidates.Count() - n; n == 0 {
		return
	}
	d.Nodes = make([]engine.NodeVerdict, 0, n)
	for row := range r.Nodes().ByName(listed) {
		if r.Feasible.Has(row) {
			d.Nodes = append(d.Nodes, feasibleVerdict(r, row))
		} else {
			d.Nodes = append(d.Nodes, Verdict(r, row))
		}
	}
}
