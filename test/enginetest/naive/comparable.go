package naive

import (
	"slices"
	"sort"

	"berth/internal/engine"
)

// Comparable is a decision without what the naive twin leaves out: details, the
// ledger, the digest, and the pick among equals.
func Comparable(d *engine.Decision) *engine.Decision {
	out := *d
	out.Digest, out.Spread, out.NotEvaluated = "", nil, nil
	if len(out.Best) > 1 {
		out.Node, out.Devices = "", nil
		if slices.Contains(out.Best, d.Node) {
			out.Node = "one of the best"
		}
	}
	out.Preemption, out.NominatedNode = searched(d), ""
	if d.Outcome == engine.Preempting {
		out.Best = nil
	}
	out.Nodes = slices.Clone(d.Nodes)
	for i := range out.Nodes {
		out.Nodes[i].Details = nil
		if len(out.Nodes[i].Scores) == 0 {
			out.Nodes[i].Scores = nil
		}
	}
	out.Failures = slices.Clone(d.Failures)
	sort.Slice(out.Failures, func(i, j int) bool {
		a, b := out.Failures[i], out.Failures[j]
		return a.Plugin+a.Code+a.Reason < b.Plugin+b.Code+b.Reason
	})
	return &out
}

// searched is a search for victims without its explanations: every candidate by
// name, with its victims in order.
func searched(d *engine.Decision) *engine.Preemption {
	p := d.Preemption
	if p == nil {
		return nil
	}
	out := &engine.Preemption{Eligible: p.Eligible, Reason: p.Reason}
	for _, c := range p.Candidates {
		short := engine.PreemptionCandidate{Node: c.Node, NumPDBViolations: c.NumPDBViolations}
		for _, v := range c.Victims {
			short.Victims = append(short.Victims, engine.Victim{Namespace: v.Namespace, Name: v.Name, UID: v.UID, Priority: v.Priority, ViolatesPDB: v.ViolatesPDB})
		}
		out.Candidates = append(out.Candidates, short)
	}
	sort.Slice(out.Candidates, func(i, j int) bool { return out.Candidates[i].Node < out.Candidates[j].Node })
	return out
}
