package web

import (
	"net/url"

	"berth/internal/decision/record"
	"berth/internal/engine"
)

// decisionView is a recorded decision, worked out again.
type decisionView struct {
	record.Recorded
	Verdict *verdictView
	// Rejected are the nodes that the answer lists with what rejected them, Hidden the others.
	Rejected []engine.NodeVerdict
	Hidden   int
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
			view.Rejected = append(view.Rejected, view.Nodes[i])
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
	return name + " for " + view.Decision.Pod.Name, view, nil
}
