package scenario

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/decision"
	"berth/internal/engine/state"
	"berth/internal/memory"
	"berth/internal/world"
)

// What a sweep takes one by one.
const (
	EachZone = "zone"
	EachNode = "node"
)

// SweepItem is what the loss or the drain of one zone or node does, as the question about it alone
// answers.
type SweepItem struct {
	Name  string `json:"name" example:"eu-1a"`
	Nodes int    `json:"nodes"`
	// Pods were on the nodes of a loss, or are evicted by a drain.
	Pods int `json:"pods"`
	// Deleted, Ended and Stay are as in the totals of a loss, and Ended counts the pods of a
	// drained node that had ended before.
	Deleted   int `json:"deleted,omitempty"`
	Ended     int `json:"ended,omitempty"`
	Preempted int `json:"preempted"`
	Stay      int `json:"stay,omitempty"`
	world.Replaced
	// Outcome is how the drain goes; absent for a loss.
	Outcome string `json:"outcome,omitempty" enums:"drained,refused,blocked"`
	Seconds int64  `json:"seconds"`
	// OK reports that no pod is left without a node: all that controllers make instead can run,
	// none stays on a dead node, and the drain is done. Pods that no controller makes again are
	// counted in notReplaced alone.
	OK bool `json:"ok"`
	// Why is the first pod for which that is not so, and what is said of it.
	Why string `json:"why,omitempty" example:"pod prod/web-0 is left without a node: 0/3 nodes are available: 3 Insufficient cpu."`
} // @name SweepItem

// because notes the first pod whose place stays without a running one.
func (i *SweepItem) because(d *disruption) {
	if pod, why := d.FirstUnserved(); pod != "" {
		i.Why = "pod " + pod + " is left without a node: " + why
	}
}

// sweep is one question about each of several zones or nodes alone.
type sweep struct {
	on     *world.Options // of which Watch follows the sweep
	forks  *world.Forks
	each   string
	groups []sweepGroup
	apart  int // nodes without a zone, which no group has
	done   swept
}

// sweepGroup is the nodes of one item.
type sweepGroup struct {
	name  string
	nodes []string
}

// swept is what is done of a sweep, or a part of it as a Watch keeps it.
type swept struct {
	Items   []*SweepItem
	Assumed world.Assumptions
	Noted   world.Noted
}

// sweepOf groups nodes, or all where none is named, by name or by zone.
func sweepOf(ctx context.Context, f *world.Fork, each string, names []string) (*sweep, error) {
	v, s := f.Base(), &sweep{on: f.Options(), each: each}
	if len(names) == 0 {
		names = nodesWith(v, func(*state.Node) bool { return true })
	}
	if len(names) == 0 {
		return nil, decision.Errorf(decision.Invalid, "each", "%s has no nodes", v.ID())
	}
	zones := map[string][]string{}
	for _, n := range names {
		if each == EachNode {
			s.groups = append(s.groups, sweepGroup{n, []string{n}})
			continue
		}
		nodes := v.State.Nodes()
		if zone := nodes.Node(nodes.Row(n)).Labels[corev1.LabelTopologyZone]; zone != "" {
			zones[zone] = append(zones[zone], n)
		} else {
			s.apart++
		}
	}
	for zone, nodes := range zones {
		s.groups = append(s.groups, sweepGroup{zone, nodes})
	}
	if len(s.groups) == 0 {
		return nil, decision.Errorf(decision.Invalid, "each", "want node: none of the nodes has the label %s", corev1.LabelTopologyZone)
	}
	slices.SortFunc(s.groups, func(a, b sweepGroup) int { return strings.Compare(a.name, b.name) })
	o := *s.on
	o.Watch = nil
	var err error
	s.forks, err = world.ForksOf(ctx, v, o)
	return s, err
}

// keptNodes is after how many nodes what is done is kept; each zone is kept alone.
const keptNodes = 16

// run answers the question about each group, on a fork of its own that is given back before the
// next one.
func (s *sweep) run(ctx context.Context, one func(context.Context, *world.Fork, []string) (*SweepItem, *disruption, error)) error {
	watch, every := s.on.Watch, 1
	if s.each == EachNode {
		every = keptNodes
	}
	for at := 0; at < len(s.groups); at = len(s.done.Items) {
		part, err := s.load(watch, at)
		if err == nil && part == nil {
			part = &swept{}
			for _, g := range s.groups[at:min(at+every, len(s.groups))] {
				if err := s.answer(ctx, g, part, one); err != nil {
					return fmt.Errorf("%s %s: %w", s.each, g.name, err)
				}
				watch.Progressed(s.each+"s", at+len(part.Items), len(s.groups))
			}
			err = s.save(watch, at, part)
		}
		if err != nil {
			return err
		}
		s.done.Items = append(s.done.Items, part.Items...)
		s.done.Assumed.Add(&part.Assumed)
	}
	return nil
}

// answer adds the answer about one group.
func (s *sweep) answer(ctx context.Context, g sweepGroup, to *swept, one func(context.Context, *world.Fork, []string) (*SweepItem, *disruption, error)) error {
	ctx, free := memory.Within(ctx)
	defer free()
	item, d, err := one(ctx, s.forks.New(), g.nodes)
	if err != nil {
		return err
	}
	item.Name = g.name
	to.Items = append(to.Items, item)
	assumed := d.Assumed()
	to.Assumed.Add(&assumed)
	return nil
}

// load returns what is kept of the items from one on; nil for nothing.
func (s *sweep) load(w *world.Watch, from int) (*swept, error) {
	if w == nil || w.Load == nil {
		return nil, nil
	}
	part := &swept{}
	if there, err := w.Load(s.part(from), part); err != nil || !there {
		return nil, err
	}
	s.on.Strangers.Add(part.Noted)
	w.Progressed(s.each+"s", from+len(part.Items), len(s.groups))
	return part, nil
}

// save keeps items from one on, unless the sweep has no others.
func (s *sweep) save(w *world.Watch, from int, part *swept) error {
	if w == nil || w.Save == nil || len(part.Items) == len(s.groups) {
		return nil
	}
	part.Noted = s.on.Strangers.Noted()
	return w.Save(s.part(from), part)
}

// part is the name of what is kept of the items from one on.
func (s *sweep) part(from int) string { return "each/" + strconv.Itoa(from) }

// warnings has what was assumed, and the nodes that no item has.
func (s *sweep) warnings() []string {
	list := s.done.Assumed.Warnings()
	if s.apart > 0 {
		list = append(list, fmt.Sprintf("nodes without the label %s, which are in no zone here: %d", corev1.LabelTopologyZone, s.apart))
	}
	return list
}

// sweep drains each of the nodes alone.
func (q *DrainQuestion) sweep(ctx context.Context, f *world.Fork, names []string) (*Drain, error) {
	s, err := sweepOf(ctx, f, q.Each, names)
	if err != nil {
		return nil, err
	}
	err = s.run(ctx, func(ctx context.Context, f *world.Fork, names []string) (*SweepItem, *disruption, error) {
		d, on, err := q.drain(ctx, f, names)
		if err != nil {
			return nil, nil, err
		}
		return d.item(on), on, nil
	})
	if err != nil {
		return nil, err
	}
	out := &Drain{Nodes: []*DrainedNode{}, Pods: []*world.Left{}, Each: s.done.Items, Warnings: s.warnings()}
	for _, i := range out.Each {
		t := &out.Totals
		if i.Outcome == NodeDrained {
			t.NodesDrained++
		}
		t.Evicted, t.Preempted = t.Evicted+i.Pods, t.Preempted+i.Preempted
		t.Replaced.Add(&i.Replaced)
		out.Seconds = max(out.Seconds, i.Seconds)
	}
	return out, nil
}

// item returns the line of a sweep for a drain of one node.
func (d *Drain) item(on *disruption) *SweepItem {
	t, n := &d.Totals, d.Nodes[0]
	i := &SweepItem{
		Nodes: 1, Pods: t.Evicted, Ended: n.Ended, Preempted: t.Preempted, Replaced: t.Replaced, Outcome: n.Outcome, Seconds: d.Seconds,
	}
	for _, list := range [][]PodReason{n.Refused, n.Blocked} {
		if len(list) > 0 && i.Why == "" {
			i.Why = "pod " + list[0].Namespace + "/" + list[0].Name + ": " + list[0].Reason
		}
	}
	if i.Why == "" {
		i.because(on)
	}
	i.OK = i.Why == ""
	return i
}
