package audit

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/engine"
	"berth/internal/objects"
)

// Suggestion is one change after which a pod that fits nowhere would fit
// somewhere. It has been tried: Fits and Nodes are what the engine said of the
// pod, or the cluster, with the change in place.
type Suggestion struct {
	Kind   string   `json:"kind"`   // gate, toleration, resource, topologySpread, nodeSelector, nodeAffinity, podAffinity, podAntiAffinity, hostPort; uncordon, capacity, label
	Change string   `json:"change"` // in words
	Target string   `json:"target"` // pod or node
	Node   string   `json:"node,omitempty"`
	Fits   int      `json:"fits"`  // nodes that would be feasible
	Nodes  []string `json:"nodes"` // up to five of them, by name
}

const (
	maxTried     = 48 // changes that are tried for one question
	maxSuggested = 10
	maxExamples  = 5
)

// change is a suggestion that is still to be tried: another pod, or another
// node.
type change struct {
	Suggestion
	cost int
	pod  *corev1.Pod
	node *corev1.Node
}

// What kinds of changes cost, in the order that they are offered: what the
// pod's owner decides alone comes before what an operator has to do.
const (
	costGate = iota
	costToleration
	costResource
	costSpread
	costSelector
	costAffinity
	costPort
	costNode
)

// suggest gives the single changes that would let the pod fit, cheapest first.
// There is nothing to suggest for a pod that fits.
func (c *matter) suggest(r *engine.Result) []Suggestion {
	if r.Outcome == engine.Scheduled {
		return nil
	}
	tried := c.changes(r)
	slices.SortStableFunc(tried, func(a, b change) int { return cmp.Or(a.cost-b.cost, cmp.Compare(a.Change, b.Change)) })
	tried = slices.CompactFunc(tried, func(a, b change) bool { return a.Change == b.Change })
	if len(tried) > maxTried {
		tried = tried[:maxTried]
	}
	worked := tried[:0]
	for _, t := range tried {
		if c.try(&t) {
			worked = append(worked, t)
		}
	}
	slices.SortStableFunc(worked, func(a, b change) int { return cmp.Or(a.cost-b.cost, b.Fits-a.Fits) })
	out := make([]Suggestion, 0, maxSuggested)
	for _, t := range worked {
		if len(out) < maxSuggested {
			out = append(out, t.Suggestion)
		}
	}
	return out
}

// try decides again with the change in place. One that cannot be judged is no
// help.
func (c *matter) try(t *change) bool {
	state, pod := c.state, c.pod
	if t.pod != nil {
		pod = t.pod
	}
	if t.node != nil {
		e := state.Edit()
		if err := e.Put(t.node); err != nil {
			return false
		}
		state = e.Done()
	}
	r, err := engine.Decide(state, pod, c.profile, engine.Options{Candidates: c.names, Now: c.q.Now, NoScores: true, NoPreemption: true})
	if err != nil {
		return false
	}
	defer r.Release()
	if t.Fits = r.Feasible.Count(); t.Fits == 0 {
		return false
	}
	for _, row := range r.Nodes().Order() {
		if len(t.Nodes) < maxExamples && r.Feasible.Has(int(row)) {
			t.Nodes = append(t.Nodes, r.Nodes().Node(int(row)).Name)
		}
	}
	return true
}

// nodeObject gives a node of the snapshot to change; nil for one that only the
// question knows.
func (c *matter) nodeObject(name string) *corev1.Node {
	js, ok := c.view.Object(objects.Key{Kind: "Node", Name: name})
	if !ok {
		return nil
	}
	o, err := objects.FromCanonical("Node", js)
	if err != nil {
		return nil
	}
	n, _ := o.Value.(*corev1.Node)
	return n
}
