package scenario

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/decision"
	"berth/internal/engine/state"
	"berth/internal/podlife"
	"berth/internal/revision"
	"berth/internal/world"
)

// DrainQuestion is what a drain of nodes does.
type DrainQuestion struct {
	NodeChoice
	// Each has every node drained alone: of the chosen ones or, where none is chosen, of all.
	Each string `json:"each,omitempty" enums:"node"`
	// Find looks for as many nodes as can be emptied, among those chosen or, where none is, among
	// all that are not cordoned. 0: the chosen nodes are drained.
	Find int `json:"find,omitempty"`
	// RespectBudgets false deletes pods instead of evicting them, as kubectl drain
	// --disable-eviction does.
	RespectBudgets *bool `json:"respectBudgets,omitempty" default:"true"`
	// GracePeriodSeconds is used instead of the pods' own.
	GracePeriodSeconds *int64 `json:"gracePeriodSeconds,omitempty"`
	// IgnoreDaemonSets leaves pods of DaemonSets where they are. With false one of them stops the
	// drain of its node, as in kubectl drain without the flag of this name.
	IgnoreDaemonSets *bool `json:"ignoreDaemonSets,omitempty" default:"true"`
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
	// Rates are how fast clients are.
	Rates *ClientRates `json:"rates,omitempty"`
	Telling
	Chancing
}

// Drain is what becomes of the pods of drained nodes.
type Drain struct {
	Snapshot string         `json:"snapshot" example:"prod@1042"`
	Nodes    []*DrainedNode `json:"nodes"`
	// Pods left their nodes, in this order.
	Pods []*world.Left `json:"pods"`
	// Others are the pods that waited before, and those that controllers made beside the
	// replacements.
	Others []*world.Replacement `json:"others,omitempty"`
	Totals DrainTotals          `json:"totals"`
	// Each is there where nodes are drained one by one. The lists above are empty then, the totals
	// are the sums, and seconds is the longest.
	Each []*SweepItem `json:"each,omitempty"`
	// Seconds is until the last pod of the last node is gone at the latest; replacements may still
	// be starting.
	Seconds int64 `json:"seconds"`
	// Find is there where nodes that can be emptied were looked for: Nodes are those found.
	Find *Find `json:"find,omitempty"`
	// Warnings name what the answer had to assume.
	Warnings []string `json:"warnings,omitempty"`
	// Digest is over the rest of the answer.
	Digest string `json:"digest"`
	Told
	Remedied
	Chanced
} // @name Drain

// DrainTotals sum a drain up.
type DrainTotals struct {
	NodesDrained int `json:"nodesDrained"`
	// Evicted pods left drained nodes; Preempted ones others, for a replacement of higher priority.
	Evicted   int `json:"evicted"`
	Preempted int `json:"preempted"`
	// Daemons counts the pods of DaemonSets that stay.
	Daemons int `json:"daemons,omitempty"`
	world.Replaced
} // @name DrainTotals

// DrainedNode is how the drain of one node goes.
type DrainedNode struct {
	Name string `json:"name" example:"worker-7"`
	// Outcome is drained; refused, where a pod stops the drain before anything is evicted; or
	// blocked, where a pod is left that may never be evicted.
	Outcome string `json:"outcome" enums:"drained,refused,blocked"`
	Evicted int    `json:"evicted"`
	// Ended counts the pods that had succeeded or failed before: kubectl drain deletes them too,
	// whatever their budgets, and nothing takes their place.
	Ended int `json:"ended,omitempty"`
	// Waves are the rounds in which budgets let pods go.
	Waves int `json:"waves"`
	// StartSeconds and Seconds are when its drain begins, and until its pods are gone.
	StartSeconds int64 `json:"startSeconds"`
	Seconds      int64 `json:"seconds"`
	// Skipped pods stay; Refused ones stop the drain; Blocked ones may not be evicted.
	Skipped []PodReason `json:"skipped,omitempty"`
	Refused []PodReason `json:"refused,omitempty"`
	Blocked []PodReason `json:"blocked,omitempty"`
	// Removed is set where the node was deleted after its drain.
	Removed bool `json:"removed,omitempty"`
	daemons int
} // @name DrainedNode

// PodReason is a pod and why it stays.
type PodReason struct {
	Namespace string `json:"namespace" example:"prod"`
	Name      string `json:"name" example:"web-0"`
	Reason    string `json:"reason" example:"it is managed by a DaemonSet"`
	// Remedy is a change of its budget after which it may be evicted, which was tried.
	Remedy *podlife.EvictionRemedy `json:"remedy,omitempty"`
} // @name PodReason

// Outcomes of a node's drain.
const (
	NodeDrained = "drained"
	NodeRefused = "refused"
	NodeBlocked = "blocked"
)

// retrySeconds is how long kubectl drain waits after a refusal
// (k8s.io/kubectl/pkg/cmd/drain, EvictErrorRetryDelay).
const retrySeconds = 5

// Answer implements Question.
func (q *DrainQuestion) Answer(ctx context.Context, s *Stage) (any, error) {
	if err := q.checkChance(); err != nil {
		return nil, err
	}
	s = q.counting(s)
	f, err := s.fork(ctx)
	if err != nil {
		return nil, err
	}
	out, err := q.On(ctx, f)
	if err != nil {
		return nil, hotLoop(err)
	}
	if out.Digest, err = digestOf(ctx, "berth-drain-1", out.withoutReasons()); err != nil {
		return nil, err
	}
	out.Snapshot, out.Warnings = f.Base().ID(), append(out.Warnings, s.warnings()...) // no part of the digest
	out.Chanced, err = q.chances(ctx, s, out.headline(), func(ctx context.Context, s *Stage) (headline, error) {
		f, err := s.fork(ctx)
		if err != nil {
			return nil, err
		}
		again, _, err := q.run(ctx, f)
		if err != nil {
			return nil, hotLoop(err)
		}
		return again.headline(), nil
	})
	return out, err
}

// headline returns the counts that chance may change.
func (d *Drain) headline() (h headline) {
	t := &d.Totals
	h.count("placed", t.Placed)
	h.count("pending", t.Without())
	h.count("preempted", t.Preempted)
	h.count("drained", t.NodesDrained)
	h.count("seconds", int(d.Seconds))
	return h
}

// nodes returns the nodes that the question is about.
func (q *DrainQuestion) nodes(v *revision.View) ([]string, error) {
	names, err := q.names(v)
	if err != nil {
		return nil, err
	}
	switch {
	case q.Each != "" && q.Timeline:
		return nil, decision.Errorf(decision.Malformed, "timeline", "an answer about each node alone has none")
	case q.Each != "" && q.Each != EachNode:
		return nil, decision.Errorf(decision.Invalid, "each", "want node")
	case q.Each != "" && q.Find != 0:
		return nil, decision.Errorf(decision.Malformed, "each", "want each or find, and only one of them")
	case len(names) == 0 && q.Find == 0 && q.Each == "":
		return nil, decision.Errorf(decision.Malformed, "nodes", "want nodes, a selector, a zone, each or find")
	case q.Find < 0:
		return nil, decision.Errorf(decision.Invalid, "find", "want a number above 0")
	case q.GracePeriodSeconds != nil && *q.GracePeriodSeconds < 0:
		return nil, decision.Errorf(decision.Invalid, "gracePeriodSeconds", "want 0 or more")
	case len(names) == 0 && q.Each == "":
		return nodesWith(v, func(n *state.Node) bool { return !n.Unschedulable }), nil
	}
	return names, nil
}

// removes reports whether nodes are deleted once they are drained.
func (q *DrainQuestion) removes() bool {
	if q.Remove == nil {
		return q.Find > 0
	}
	return *q.Remove
}

// On cordons nodes and then drains them one after the other, as kubectl drain does
// (k8s.io/kubectl/pkg/cmd/drain/drain.go RunDrain, pkg/drain/drain.go evictPods), or finds those
// that can be emptied. The controllers of the pods create others, which are tried on the fork. The
// fork is changed; where each node is drained alone, it is on a fork of its own of the same base.
func (q *DrainQuestion) On(ctx context.Context, f *world.Fork) (*Drain, error) {
	out, d, err := q.run(ctx, f)
	if err != nil || d == nil {
		return out, err
	}
	out.Warnings = d.Warnings()
	if q.Find == 0 {
		err = q.remedy(ctx, d, out)
	}
	return out, err
}

// run is On without what would help. There is no world where each node is drained alone.
func (q *DrainQuestion) run(ctx context.Context, f *world.Fork) (*Drain, *disruption, error) {
	names, err := q.nodes(f.Base())
	if err != nil {
		return nil, nil, err
	}
	if q.Each != "" {
		out, err := q.sweep(ctx, f, names)
		return out, nil, err
	}
	return q.drain(ctx, f, names)
}

// drain drains nodes, or finds those that can be emptied.
func (q *DrainQuestion) drain(ctx context.Context, f *world.Fork, names []string) (*Drain, *disruption, error) {
	d, err := newDisruption(ctx, f, q.StartSeconds, q.Rates)
	if err != nil {
		return nil, nil, err
	}
	if q.Timeline {
		d.Tell()
	}
	out := &Drain{Nodes: []*DrainedNode{}}
	if q.Find > 0 {
		err = d.find(names, q, out)
	} else {
		err = d.drainAll(names, q, out)
	}
	if err != nil {
		return nil, nil, err
	}
	d.report(out)
	out.Told = d.told()
	return out, d, nil
}

func (d *disruption) drainAll(names []string, q *DrainQuestion, out *Drain) error {
	var err error
	if out.Nodes, err = d.drainEach(names, q); err != nil {
		return err
	}
	out.Seconds = d.Seconds()
	return d.Finish()
}

// drainEach cordons nodes and drains one after the other, until the last one is drained or could be
// drained by no waiting.
func (d *disruption) drainEach(names []string, q *DrainQuestion) ([]*DrainedNode, error) {
	x := &draining{d: d, q: q, names: names, anyway: true}
	d.drains = []*draining{x}
	defer func() { d.drains = nil }()
	err := x.begin()
	if err == nil {
		err = d.World.Advance(d.Seconds()) // the scheduler and controllers see what was evicted
	}
	for err == nil && !x.over {
		err = x.goOn()
		d.Options().Watch.Progressed("nodes", len(x.nodes), len(names))
	}
	return x.nodes, err
}

// sort lists the pods of a node that a drain takes, by namespace and name: kubectl evicts them at
// the same time, in no order.
func (d *disruption) sort(node string, q *DrainQuestion, out *DrainedNode) (todo []world.PodName, err error) {
	err = d.EachOn(node, func(pod *corev1.Pod) error {
		n := world.NameOf(pod)
		switch v, why := q.judge(pod); v {
		case drainTakes:
			todo = append(todo, n)
		case drainSkips:
			out.skips(pod, why)
		case drainRefuses:
			out.Refused = append(out.Refused, PodReason{n.Namespace, n.Name, why, nil})
		}
		return nil
	})
	return todo, err
}

// remove deletes a node, with what is left on it.
func (d *disruption) remove(node string) error {
	names, err := d.PodsOn(node)
	if err != nil {
		return err
	}
	for _, n := range names {
		if err := d.Delete(n.Namespace, n.Name); err != nil {
			return err
		}
	}
	d.Note(world.Moment{What: world.NodeRemoved, Node: node})
	if err := d.RemoveNode(node); err != nil {
		return err
	}
	return d.Schedule()
}

// report sums a disruption up.
func (d *disruption) report(out *Drain) {
	out.Pods, out.Others = d.Log(), d.Others()
	t := &out.Totals
	for _, n := range out.Nodes {
		if n.Outcome == NodeDrained {
			t.NodesDrained++
		}
		t.Daemons += n.daemons
	}
	t.Evicted, t.Preempted, t.Replaced = d.Totals()
}
