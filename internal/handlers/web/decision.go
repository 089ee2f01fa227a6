package web

import (
	"net/url"

	"berth/internal/decision/record"
	"berth/internal/engine"
	"berth/internal/engine/rules"
)

// decisionView is a recorded decision, worked out again.
type decisionView struct {
	record.Recorded
	Verdict *verdictView
	// Rejected are the nodes that the answer lists with what rejected them, Hidden the others.
	Rejected []rejection
	Hidden   int
}

// rejection is a node with the first rule that rejects it and what is in the way, with numbers.
type rejection struct {
	Name, Rule string
	InTheWay   []string
}

// wordsOf writes what a rule has against a node, with numbers where the rule has them.
func wordsOf(details []engine.Detail, reasons []string) []string {
	out := make([]string, 0, len(details))
	for i := range details {
		out = append(out, rules.DetailWords(&details[i], amounts))
	}
	if len(out) == 0 {
		return reasons
	}
	return out
}

// shownNodes is how many rejected nodes a page lists unless the URL wants all.
const shownNodes = 50

func decisionData(v *visit) string { return "/v1/decisions/" + url.PathEscape(v.param("id")) }

func loadDecision(v *visit) (string, any, error) {
	view := &decisionView{}
	if err := v.get(decisionData(v), &view.Recorded); err != nil {
		return "", nil, err
	}
	v.cluster = view.Cluster
	view.Verdict = verdictOf(&view.Answer)
	for i := range view.Nodes {
		if !view.Nodes[i].Feasible {
			n := &view.Nodes[i]
			view.Rejected = append(view.Rejected, rejection{n.Name, n.Plugin, wordsOf(n.Details, n.Reasons)})
		}
	}
	if n := len(view.Rejected); n > shownNodes && v.query.Get("nodes") != "all" {
		view.Rejected, view.Hidden = view.Rejected[:shownNodes], n-shownNodes
	}
	return view.Pod.Namespace + "/" + view.Pod.Name + " " + shortID(view.ID), view, nil
}

// nodeView is what one node has to do with a decision.
type nodeView struct {
	Decision record.Recorded
	Node     engine.NodeVerdict
	Chosen   *engine.NodeVerdict
	// Rules are those that reject the node, the first one first.
	Rules []rejection
}

func loadNode(v *visit) (string, any, error) {
	view := &nodeView{}
	if err := v.get(decisionData(v), &view.Decision); err != nil {
		return "", nil, err
	}
	v.cluster = view.Decision.Cluster
	name, found := v.param("node"), false
	for i := range view.Decision.Nodes {
		n := &view.Decision.Nodes[i]
		if n.Name == name {
			view.Node, found = *n, true
		}
		if n.Name == view.Decision.Node {
			view.Chosen = n
		}
	}
	if !found {
		return "", nil, &problem{
			Status: 404, Title: "Not found",
			Detail: "the decision does not list node " + name + ": it was none of the best ten, or it is not in " + view.Decision.Snapshot,
		}
	}
	if !view.Node.Feasible {
		view.Rules = append(view.Rules, rejection{name, view.Node.Plugin, wordsOf(view.Node.Details, view.Node.Reasons)})
	}
	for i := range view.Node.AlsoFailing {
		f := &view.Node.AlsoFailing[i]
		view.Rules = append(view.Rules, rejection{name, "also " + f.Plugin, wordsOf(f.Details, f.Reasons)})
	}
	return name + " for " + view.Decision.Pod.Name, view, nil
}
