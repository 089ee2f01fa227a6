package world

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/podlife"
)

// NodeRates are the settings of the node lifecycle controller that decide when a lost node is
// tainted (cmd/kube-controller-manager/app/options).
type NodeRates struct {
	// Grace is from the last sign of life until a node counts as not ready.
	Grace time.Duration
	// Normal is between two nodes of a zone that are tainted, Partial that in a zone of which a
	// share of UnhealthyPercent is lost, unless it has LargeZone nodes or fewer, where none is
	// tainted any more. With 0 none is.
	Normal, Partial             time.Duration
	UnhealthyPercent, LargeZone int64
}

// DefaultNodeRates are upstream's.
func DefaultNodeRates() NodeRates {
	return NodeRates{Grace: 50 * time.Second, Normal: 10 * time.Second, Partial: 100 * time.Second, UnhealthyPercent: 55, LargeZone: 50}
}

// LostZone is how the control plane sees a zone that loses nodes.
type LostZone struct {
	Zone string `json:"zone"`
	// Nodes counts its nodes, without those that have the label
	// node.kubernetes.io/exclude-disruption: they do not count for its state.
	Nodes int `json:"nodes"`
	// NotReady counts the lost nodes and those that were not ready before.
	NotReady int `json:"notReady"`
	// State decides how fast nodes are tainted: Normal, PartialDisruption or FullDisruption.
	State string       `json:"state" enums:"Normal,PartialDisruption,FullDisruption"`
	Rule  podlife.Rule `json:"rule"`
} // @name LostZone

// States of a zone (pkg/controller/nodelifecycle).
const (
	zoneNormal  = "Normal"
	zonePartial = "PartialDisruption"
	zoneFull    = "FullDisruption"
)

// nodeZone is a zone with its nodes that wait for their taint, by name: upstream's order is chance.
type nodeZone struct {
	LostZone
	worst   *LostZone // as it was with most nodes lost; nil: none was
	every   time.Duration
	rate    time.Duration // every, as its queue has it
	waiting []string
	next    time.Duration // when the next one may be tainted
	due     time.Duration // when the next look at it is scheduled
}

func (z *nodeZone) insert(name string) {
	if i, found := slices.BinarySearch(z.waiting, name); !found {
		z.waiting = slices.Insert(z.waiting, i, name)
	}
}

func (z *nodeZone) remove(name string) {
	if i, found := slices.BinarySearch(z.waiting, name); found {
		z.waiting = slices.Delete(z.waiting, i, i+1)
	}
}

// excluded reports whether a node is kept out of its zone's state (node_lifecycle_controller.go
// labelNodeDisruptionExclusion).
func excluded(node *corev1.Node) bool {
	_, has := node.Labels["node.kubernetes.io/exclude-disruption"]
	return has
}

// zoneOf is the key of a node's zone (k8s.io/component-helpers/node/topology GetZoneKey).
func zoneOf(labels map[string]string) string {
	label := func(old, key string) string {
		if v, ok := labels[old]; ok {
			return v
		}
		return labels[key]
	}
	region, zone := label(corev1.LabelFailureDomainBetaRegion, corev1.LabelTopologyRegion), label(corev1.LabelFailureDomainBetaZone, corev1.LabelTopologyZone)
	if region == "" {
		return zone
	}
	return region + ":" + zone
}

// read counts the nodes of each zone.
func (c *nodeLifecycle) read() error {
	if c.zones != nil {
		return nil
	}
	c.zones = map[string]*nodeZone{}
	nodes := c.w.State().Nodes()
	for row := range nodes.Alive().All() {
		if err := c.w.steps.Take(1); err != nil {
			return err
		}
		node, err := c.w.Node(nodes.Node(row).Name)
		if err != nil {
			return err
		}
		c.count(node)
	}
	c.full = c.judge()
	return nil
}

// count adds a node to its zone.
func (c *nodeLifecycle) count(node *corev1.Node) {
	key := zoneOf(node.Labels)
	z := c.zones[key]
	if z == nil {
		z = &nodeZone{LostZone: LostZone{Zone: key}, rate: c.rates.Normal}
		c.zones[key] = z
	}
	if excluded(node) {
		return
	}
	if z.Nodes++; podlife.NodeStateOf(node) != podlife.NodeHealthy {
		z.NotReady++
	}
}

// pass schedules a look at the zones, once for all that changes at one instant.
func (c *nodeLifecycle) pass() {
	if !c.due {
		c.due = true
		c.w.due.schedule(c.w.now, syncs, "Zone", c.handleDisruption) // before a zone's turn
	}
}

// handleDisruption works the states of the zones out, and how fast their nodes are tainted
// (ComputeZoneState, setLimiterInZone, handleDisruption). Where all zones are fully disrupted, the
// control plane takes itself to be cut off: it takes the taints off.
func (c *nodeLifecycle) handleDisruption() error {
	c.due = false
	if err := c.markPodsNotReady(); err != nil {
		return err
	}
	was := c.full
	if c.full = c.judge(); c.full && !was {
		for _, n := range c.w.Lost() {
			if c.lost[n.Name] != n || n.TaintedAfterSeconds == nil || n.RemovedAfterSeconds != nil {
				continue
			}
			n.TaintedAfterSeconds = nil
			if err := c.w.untaint(n.Name, corev1.Taint{Key: corev1.TaintNodeUnreachable, Effect: corev1.TaintEffectNoExecute}); err != nil {
				return err
			}
			c.zones[n.Zone].insert(n.Name)
		}
	}
	for _, z := range c.sorted() {
		if len(z.waiting) == 0 {
			continue
		}
		if err := c.taintSome(z); err != nil {
			return err
		}
	}
	return nil
}

func (c *nodeLifecycle) sorted() []*nodeZone {
	return slices.SortedFunc(maps.Values(c.zones), func(a, b *nodeZone) int { return cmp.Compare(a.Zone, b.Zone) })
}

// judge works out each zone's state and rate, and reports whether all are fully disrupted.
func (c *nodeLifecycle) judge() bool {
	full, zones := 0, 0
	for _, z := range c.zones {
		c.judgeZone(z)
		if z.Nodes == 0 {
			continue
		}
		if zones++; z.State == zoneFull {
			full++
		}
	}
	all := full > 0 && full == zones
	for _, z := range c.zones {
		if all {
			z.every = 0
			z.Rule = podlife.Rule{ID: "zone/all-lost", Text: "All zones are fully disrupted, so that the control plane blames itself: it takes the taints off and evicts nothing."}
		}
		z.swap(c.w.now)
		if z.worst == nil || z.NotReady >= z.worst.NotReady {
			at := z.LostZone
			z.worst = &at
		}
	}
	return all
}

// swap has the queue of a zone go on at another rate: what has not waited long enough, or not at
// all, waits anew (pkg/controller/nodelifecycle/scheduler/rate_limited_queue.go SwapLimiter).
func (z *nodeZone) swap(now time.Duration) {
	if z.every == z.rate {
		return
	}
	if z.every > 0 && (z.rate == 0 || now < z.next) {
		z.next = now + z.every
	}
	z.rate = z.every
}

func (c *nodeLifecycle) judgeZone(z *nodeZone) {
	r := c.rates
	share := float32(z.NotReady) / float32(z.Nodes)
	partial := z.NotReady > 2 && share >= float32(r.UnhealthyPercent)/100
	switch {
	case z.NotReady == z.Nodes && z.Nodes > 0:
		z.State, z.every = zoneFull, r.Normal
		z.Rule = podlife.Rule{ID: "zone/full", Text: fmt.Sprintf("None of the %d nodes is ready; %s.", z.Nodes, tainted(r.Normal))}
	case partial && int64(z.Nodes) > r.LargeZone:
		z.State, z.every = zonePartial, r.Partial
		z.Rule = podlife.Rule{ID: "zone/partial", Text: fmt.Sprintf("%d of %d nodes are not ready, %d percent or more; %s.", z.NotReady, z.Nodes, r.UnhealthyPercent, tainted(r.Partial))}
	case partial:
		z.State, z.every = zonePartial, 0
		z.Rule = podlife.Rule{ID: "zone/partial-small", Text: fmt.Sprintf("%d of %d nodes are not ready, %d percent or more, and the zone has no more than %d nodes; none is tainted.", z.NotReady, z.Nodes, r.UnhealthyPercent, r.LargeZone)}
	default:
		z.State, z.every = zoneNormal, r.Normal
		z.Rule = podlife.Rule{ID: "zone/normal", Text: fmt.Sprintf("%d of %d nodes are not ready; %s.", z.NotReady, z.Nodes, tainted(r.Normal))}
	}
}

// tainted tells a rate.
func tainted(every time.Duration) string {
	if every == 0 {
		return "none is tainted"
	}
	return fmt.Sprintf("one is tainted every %d s", seconds(every))
}

// taintSome taints the nodes of a zone whose turn it is, and looks again when the next one's is.
func (c *nodeLifecycle) taintSome(z *nodeZone) error {
	w := c.w
	for len(z.waiting) > 0 && z.every > 0 && z.next <= w.now {
		name := w.oneOf(z)
		z.next = w.now + z.every
		if err := c.taint(name); err != nil {
			return err
		}
	}
	if len(z.waiting) > 0 && z.every > 0 && z.due != z.next {
		z.due = z.next
		w.due.schedule(z.next, syncs, "Zone/"+z.Zone, func() error { return c.taintSome(z) })
	}
	return nil
}

// oneOf takes a node of a zone that waits for its taint: upstream takes them in no order, as each
// pass of the monitor puts them in anew (node_lifecycle_controller.go markNodeForTainting).
func (w *World) oneOf(z *nodeZone) string {
	w.Choice(ChosenTaint, "zone "+z.Zone, "nodes", 1, len(z.waiting))
	if !w.o.Chance.Salted() {
		name := z.waiting[0]
		z.waiting = z.waiting[1:]
		return name
	}
	name := slices.MinFunc(z.waiting, func(a, b string) int { return cmp.Compare(w.o.Chance.Hash(a), w.o.Chance.Hash(b)) })
	z.remove(name)
	return name
}

// LostZones returns the zones in which nodes died, as they were with most nodes lost.
func (w *World) LostZones() []*LostZone {
	list := []*LostZone{}
	for _, z := range w.nodes.sorted() {
		if slices.ContainsFunc(w.nodes.all, func(n *LostNode) bool { return n.Zone == z.Zone }) {
			list = append(list, z.worst)
		}
	}
	return list
}

// SetNodeRates has lost nodes be given up and tainted at other rates than upstream's.
func (w *World) SetNodeRates(r NodeRates) { w.nodes.rates = r }
