package scenario

import (
	"context"
	"math"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/decision"
	"berth/internal/podlife"
	"berth/internal/world"
)

// LossQuestion is what happens when nodes die, all at second 0.
type LossQuestion struct {
	NodeChoice
	// Each has every zone, or every node, die alone: of the chosen nodes or, where none is chosen,
	// of all.
	Each string `json:"each,omitempty" enums:"zone,node"`
	// RemoveAfterSeconds is when their Node objects are deleted, as a cloud's controller or a
	// person does; absent: they stay, and no pod of theirs is ever gone.
	RemoveAfterSeconds *int64 `json:"removeAfterSeconds,omitempty"`
	// StartSeconds is how long a pod takes until it is ready, where the status of the pod that it
	// replaces does not show it; 10 if absent.
	StartSeconds *int64 `json:"startSeconds,omitempty"`
	// Rates are the settings of the node lifecycle controller, and how fast clients are.
	Rates *LossRates `json:"rates,omitempty"`
	Telling
	Chancing
}

// Loss is what becomes of the pods of nodes that die.
type Loss struct {
	Snapshot string            `json:"snapshot" example:"prod@1042"`
	Nodes    []*world.LostNode `json:"nodes"`
	Zones    []*world.LostZone `json:"zones"`
	// Pods are those that are deleted, in this order.
	Pods []*world.Left `json:"pods"`
	// Staying are pods of lost nodes that are never deleted, and why.
	Staying []PodReason `json:"staying,omitempty"`
	// Others are the pods that waited before, and those that controllers made beside the
	// replacements.
	Others []*world.Replacement `json:"others,omitempty"`
	Totals LossTotals           `json:"totals"`
	// Each is there where zones or nodes die one by one. The lists above are empty then, the totals
	// are the sums, and seconds is the longest.
	Each []*SweepItem `json:"each,omitempty"`
	// Seconds is until the last thing happens that is known of.
	Seconds  int64    `json:"seconds"`
	Warnings []string `json:"warnings,omitempty"`
	// Digest is over the rest of the answer.
	Digest string `json:"digest"`
	Told
	Remedied
	Chanced
} // @name Loss

// LossTotals sum a loss up.
type LossTotals struct {
	Nodes int `json:"nodes"`
	// Pods were on the nodes; Deleted of them are deleted, the others stay.
	Pods    int `json:"pods"`
	Deleted int `json:"deleted"`
	// Ended counts pods on the nodes that had succeeded or failed before. They are deleted as the
	// others are, hold nothing, and are not among Pods.
	Ended     int `json:"ended,omitempty"`
	Preempted int `json:"preempted"`
	// Stay counts the pods that are never deleted and serve no more, without those of DaemonSets
	// and of kubelets' own files.
	Stay int `json:"stay,omitempty"`
	world.Replaced
} // @name LossTotals

// Answer implements Question.
func (q *LossQuestion) Answer(ctx context.Context, s *Stage) (any, error) {
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
	told, remedied := out.Told, out.Remedied
	out.Told, out.Remedied = Told{}, Remedied{}
	if out.Digest, err = digestOf(ctx, "berth-loss-1", out); err != nil {
		return nil, err
	}
	out.Told, out.Remedied = told, remedied
	out.Snapshot, out.Warnings = f.Base().ID(), append(out.Warnings, s.warnings()...) // no part of the digest
	out.Chanced, err = q.chances(ctx, s, out.headline(), func(ctx context.Context, s *Stage) (headline, error) {
		f, err := s.fork(ctx)
		if err != nil {
			return nil, err
		}
		again, _, _, err := q.run(ctx, f)
		if err != nil {
			return nil, hotLoop(err)
		}
		return again.headline(), nil
	})
	return out, err
}

// headline returns the counts that chance may change.
func (l *Loss) headline() (h headline) {
	t := &l.Totals
	h.count("placed", t.Placed)
	h.count("pending", t.Without())
	h.count("preempted", t.Preempted)
	h.count("seconds", int(l.Seconds))
	return h
}

// On has nodes die and lets the control plane act: nodes become not ready, are tainted by zone,
// and their pods are deleted when their tolerations end (pkg/controller/nodelifecycle,
// pkg/controller/tainteviction). No kubelet ends those pods, so that they stay Terminating and keep
// what they hold until the Node object is deleted. The fork is changed; where zones or nodes die
// one by one, each does on a fork of its own of the same base.
func (q *LossQuestion) On(ctx context.Context, f *world.Fork) (*Loss, error) {
	out, l, names, err := q.run(ctx, f)
	if err != nil || l == nil {
		return out, err
	}
	out.Warnings = l.d.Warnings()
	out.Remedies, err = l.d.placing(ctx, l.d.unplaced(), names, "recover", "toleration", "capacity")
	return out, err
}

// run is On without what would help, and returns the nodes that die. There is no run of one world
// where each of them dies alone.
func (q *LossQuestion) run(ctx context.Context, f *world.Fork) (*Loss, *loss, []string, error) {
	names, err := q.names(f.Base())
	if err != nil {
		return nil, nil, nil, err
	}
	rates, err := q.Rates.resolve()
	if err != nil {
		return nil, nil, nil, err
	}
	if len(names) == 0 && q.Each == "" {
		return nil, nil, nil, decision.Errorf(decision.Malformed, "nodes", "want nodes, a selector or a zone")
	}
	if err := checkNumber("removeAfterSeconds", q.RemoveAfterSeconds, math.MaxInt32); err != nil {
		return nil, nil, nil, err
	}
	if q.Each != "" && q.Timeline {
		return nil, nil, nil, decision.Errorf(decision.Malformed, "timeline", "an answer about each zone or node alone has none")
	}
	if q.Each != "" {
		out, err := q.sweep(ctx, f, names, rates)
		return out, nil, nil, err
	}
	l, err := q.lose(ctx, f, names, rates)
	if err != nil {
		return nil, nil, nil, err
	}
	return l.out, l, names, nil
}

// sweep has zones or nodes die one by one.
func (q *LossQuestion) sweep(ctx context.Context, f *world.Fork, names []string, rates world.NodeRates) (*Loss, error) {
	if q.Each != EachZone && q.Each != EachNode {
		return nil, decision.Errorf(decision.Invalid, "each", "want zone or node")
	}
	s, err := sweepOf(ctx, f, q.Each, names)
	if err != nil {
		return nil, err
	}
	err = s.run(ctx, func(ctx context.Context, f *world.Fork, names []string) (*SweepItem, *disruption, error) {
		l, err := q.lose(ctx, f, names, rates)
		if err != nil {
			return nil, nil, err
		}
		return l.item(), l.d, nil
	})
	if err != nil {
		return nil, err
	}
	out := &Loss{Nodes: []*world.LostNode{}, Zones: []*world.LostZone{}, Pods: []*world.Left{}, Each: s.done.Items, Warnings: s.warnings()}
	for _, i := range out.Each {
		t := &out.Totals
		t.Nodes, t.Pods, t.Deleted, t.Ended = t.Nodes+i.Nodes, t.Pods+i.Pods, t.Deleted+i.Deleted, t.Ended+i.Ended
		t.Preempted, t.Stay = t.Preempted+i.Preempted, t.Stay+i.Stay
		t.Replaced.Add(&i.Replaced)
		out.Seconds = max(out.Seconds, i.Seconds)
	}
	return out, nil
}

// loss is a run of lose.
type loss struct {
	d     *disruption
	out   *Loss
	pods  int    // on the nodes when they die
	stays string // the first of the pods that totals count as staying, and why
}

// lose has nodes die together.
func (q *LossQuestion) lose(ctx context.Context, f *world.Fork, names []string, rates world.NodeRates) (*loss, error) {
	d, err := newDisruption(ctx, f, q.StartSeconds, q.Rates.clients())
	if err != nil {
		return nil, err
	}
	d.SetNodeRates(rates)
	if q.Timeline {
		d.Tell()
	}
	l := &loss{d: d, out: &Loss{}}
	for _, n := range names {
		if err := d.Die(n); err != nil {
			return nil, err
		}
		st := d.State()
		l.pods += st.PodsOn(st.Nodes().Row(n)).Len()
	}
	if q.RemoveAfterSeconds != nil {
		d.At(*q.RemoveAfterSeconds, "Nodes", func() error { return d.RemoveObjects(names) })
	}
	if err := d.Finish(); err != nil {
		return nil, err
	}
	l.out.Told = d.told()
	return l, l.report()
}

// item returns the line of a sweep.
func (l *loss) item() *SweepItem {
	t := &l.out.Totals
	i := &SweepItem{
		Nodes: t.Nodes, Pods: t.Pods, Deleted: t.Deleted, Ended: t.Ended, Preempted: t.Preempted, Stay: t.Stay, Replaced: t.Replaced, Seconds: l.out.Seconds,
	}
	if i.because(l.d); i.Why == "" {
		i.Why = l.stays
	}
	i.OK = i.Why == ""
	return i
}

// report sums the loss up.
func (l *loss) report() error {
	d, t := l.d, &l.out.Totals
	l.out.Seconds, l.out.Pods, l.out.Others = d.Seconds(), d.Log(), d.Others()
	l.out.Nodes, l.out.Zones = d.Lost(), d.LostZones()
	t.Nodes, t.Pods = len(l.out.Nodes), l.pods
	t.Deleted, t.Preempted, t.Replaced = d.Totals()
	for _, n := range l.out.Nodes {
		ended, err := d.endedOn(n.Name)
		if err != nil {
			return err
		}
		t.Ended += ended
		err = d.EachOn(n.Name, func(pod *corev1.Pod) error {
			name := world.NameOf(pod)
			if d.Leaving(name) != nil {
				return nil // it is among those that were deleted
			}
			why := "the node is not tainted"
			if pod.DeletionTimestamp != nil {
				why = "it was being deleted before, and stays Terminating: the kubelet of its node does not answer"
			} else if node, err := d.Node(n.Name); err == nil && n.TaintedAfterSeconds != nil {
				why = podlife.DeletionByNode(pod, node, nil, d.Instant()).Rule.Text
			}
			if !world.IsDaemon(pod) && !world.IsMirror(pod) {
				if t.Stay++; l.stays == "" {
					l.stays = "pod " + name.String() + " stays on its dead node: " + why
				}
			}
			l.out.Staying = append(l.out.Staying, PodReason{name.Namespace, name.Name, why, nil})
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
