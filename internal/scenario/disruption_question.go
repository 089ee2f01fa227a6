package scenario

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/cluster"
	"berth/internal/decision"
	"berth/internal/engine/state"
	"berth/internal/steps"
)

// NodeChoice is which nodes a question is about: by name, by labels or by zone.
type NodeChoice struct {
	Nodes    []string `json:"nodes,omitempty" example:"worker-7"`
	Selector string   `json:"selector,omitempty" example:"pool=batch"`
	Zone     string   `json:"zone,omitempty" example:"eu-1a"`
}

// names returns the chosen nodes, each once; none chosen is no error.
func (c *NodeChoice) names(v *cluster.View) ([]string, error) {
	given := 0
	for _, is := range []bool{len(c.Nodes) > 0, c.Selector != "", c.Zone != ""} {
		if is {
			given++
		}
	}
	switch {
	case given > 1:
		return nil, decision.Errorf(decision.Malformed, "nodes", "want nodes, a selector or a zone, and only one of them")
	case c.Selector != "":
		return selected(v, "selector", c.Selector)
	case c.Zone != "":
		out := nodesWith(v, func(n *state.Node) bool { return n.Labels[corev1.LabelTopologyZone] == c.Zone })
		if len(out) == 0 {
			return nil, decision.Errorf(decision.Invalid, "zone", "%s has no node in zone %.253q", v.ID(), c.Zone)
		}
		return out, nil
	}
	var out []string
	seen := map[string]bool{}
	for i, n := range c.Nodes {
		if v.State.Nodes().Row(n) < 0 {
			return nil, decision.Errorf(decision.Invalid, fmt.Sprintf("nodes[%d]", i), "%s has no node %.253q", v.ID(), n)
		}
		if !seen[n] {
			out, seen[n] = append(out, n), true
		}
	}
	return out, nil
}

// DrainQuestion is what a drain of nodes does.
type DrainQuestion struct {
	NodeChoice
	// Find looks for as many nodes as can be emptied, among those chosen or, where none is, among
	// all that are not cordoned. 0: the chosen nodes are drained.
	Find int `json:"find,omitempty"`
	// RespectBudgets false deletes pods instead of evicting them, as kubectl drain
	// --disable-eviction does.
	RespectBudgets *bool `json:"respectBudgets,omitempty" default:"true"`
	// GracePeriodSeconds is used instead of the pods' own.
	GracePeriodSeconds *int64 `json:"gracePeriodSeconds,omitempty"`
	// IgnoreDaemonSets leaves pods of DaemonSets where they are; without it one of them stops the
	// drain of its node, as in kubectl drain.
	IgnoreDaemonSets bool `json:"ignoreDaemonSets,omitempty"`
	// DeleteEmptyDirData takes pods with local data, which is lost.
	DeleteEmptyDirData bool `json:"deleteEmptyDirData,omitempty"`
	// Force takes pods that no controller manages, which do not come back.
	Force bool `json:"force,omitempty"`
	// Remove deletes each node once it is drained; true if absent where nodes are looked for. One
	// that stays is still a domain of spreads.
	Remove *bool `json:"remove,omitempty"`
	// StartSeconds is how long a pod takes until it is ready, where the status of the pod that it
	// replaces does not show it; 10 if absent.
	StartSeconds *int64 `json:"startSeconds,omitempty"`
}

// Drain answers a question about a view.
func (q *DrainQuestion) Drain(ctx context.Context, v *cluster.View, o Options) (*Drain, error) {
	names, err := q.names(v)
	if err != nil {
		return nil, err
	}
	if len(names) == 0 && q.Find > 0 {
		cordoned := v.State.Nodes().Cordoned()
		names = nodesWith(v, func(n *state.Node) bool { return !cordoned.Has(v.State.Nodes().Row(n.Name)) })
	}
	switch {
	case len(names) == 0 && q.Find == 0:
		return nil, decision.Errorf(decision.Malformed, "nodes", "want nodes, a selector, a zone, or find")
	case q.Find < 0:
		return nil, decision.Errorf(decision.Invalid, "find", "want a number above 0")
	case q.GracePeriodSeconds != nil && *q.GracePeriodSeconds < 0:
		return nil, decision.Errorf(decision.Invalid, "gracePeriodSeconds", "want 0 or more")
	}
	start, err := startGiven(q.StartSeconds)
	if err != nil {
		return nil, err
	}
	opts := DrainOptions{
		DrainFlags: DrainFlags{q.IgnoreDaemonSets, q.DeleteEmptyDirData, q.Force}, Nodes: names,
		IgnoreBudgets: q.RespectBudgets != nil && !*q.RespectBudgets, GracePeriodSeconds: q.GracePeriodSeconds,
		StartSeconds: start, Remove: q.Remove != nil && *q.Remove || q.Remove == nil && q.Find > 0,
	}
	f := NewFork(v, o)
	var out *Drain
	if q.Find > 0 {
		out, err = f.Find(ctx, opts, q.Find)
	} else {
		out, err = f.Drain(ctx, opts)
	}
	if err != nil {
		return nil, err
	}
	out.Digest, err = digestOf(ctx, "berth-drain-1", out)
	out.Snapshot = v.ID() // which is no part of the digest
	return out, err
}

// LossQuestion is what happens when nodes die.
type LossQuestion struct {
	NodeChoice
	// RemoveAfterSeconds is when their Node objects are deleted; absent: they stay, and no pod of
	// theirs is ever gone.
	RemoveAfterSeconds *int64 `json:"removeAfterSeconds,omitempty"`
	// StartSeconds is how long a pod takes until it is ready, where the status of the pod that it
	// replaces does not show it; 10 if absent.
	StartSeconds *int64 `json:"startSeconds,omitempty"`
	// Rates are the settings of the node lifecycle controller; upstream's if absent.
	Rates *LossRates `json:"rates,omitempty"`
}

// Lose answers a question about a view.
func (q *LossQuestion) Lose(ctx context.Context, v *cluster.View, o Options) (*Loss, error) {
	names, err := q.names(v)
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, decision.Errorf(decision.Malformed, "nodes", "want nodes, a selector or a zone")
	}
	start, err := startGiven(q.StartSeconds)
	if err != nil {
		return nil, err
	}
	opts := LoseOptions{Nodes: names, RemoveAfterSeconds: q.RemoveAfterSeconds, StartSeconds: start, Rates: DefaultLossRates()}
	if q.Rates != nil {
		opts.Rates = *q.Rates
	}
	out, err := NewFork(v, o).Lose(ctx, opts)
	if err != nil {
		return nil, err
	}
	out.Digest, err = digestOf(ctx, "berth-loss-1", out)
	out.Snapshot = v.ID() // which is no part of the digest
	return out, err
}

// startGiven returns the start that a question names, or the default.
func startGiven(seconds *int64) (int64, error) {
	switch {
	case seconds == nil:
		return DefaultStart, nil
	case *seconds < 0 || *seconds > maxStart:
		return 0, decision.Errorf(decision.Invalid, "startSeconds", "want 0 to %d", maxStart)
	}
	return *seconds, nil
}

// digestOf is over an answer whose digest is still empty.
func digestOf(ctx context.Context, kind string, answer any) (string, error) {
	js, err := steps.Marshal(ctx, answer)
	if err != nil {
		return "", fmt.Errorf("digest: %w", err)
	}
	s := newSum(kind)
	s.add(string(js))
	return s.text(), nil
}
