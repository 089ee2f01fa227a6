package player

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// node is a node with what the control plane knows of it.
type node struct {
	*corev1.Node
	dead    bool // its kubelet has stopped
	lives   int  // how often it has stopped
	givenUp bool
	evicts  bool // it has the taint that evicts
}

// zone is a zone with its nodes that wait for the taint that evicts.
type zone struct {
	name    string
	waiting []string
	next    int64 // when the next one may be tainted
	rate    int64 // seconds between two of them, as its queue has it; 0: none is tainted
}

func zoneOf(n *node) string { return n.Labels[corev1.LabelTopologyZone] }

// taint adds a taint to a node.
func (g *game) taint(n *node, t corev1.Taint) {
	was := n.DeepCopy()
	if !slices.ContainsFunc(n.Spec.Taints, func(has corev1.Taint) bool { return has.MatchTaint(&t) }) {
		now := metav1.NewTime(g.time())
		if t.Key != corev1.TaintNodeUnschedulable {
			t.TimeAdded = &now
		}
		n.Spec.Taints = append(n.Spec.Taints, t)
	}
	g.changed = true
	g.hearChange(was, n)
}

// hearChange has pods hear of a node whose taints changed, or that is cordoned no more.
func (g *game) hearChange(was *corev1.Node, n *node) {
	if len(was.Spec.Taints) != len(n.Spec.Taints) || was.Spec.Unschedulable && !n.Spec.Unschedulable {
		g.hear(heard{was: was, is: n.DeepCopy()})
	}
}

// untaint takes taints off a node.
func (g *game) untaint(n *node, goes func(corev1.Taint) bool) { g.untaintFrom(n.DeepCopy(), n, goes) }

func (g *game) untaintFrom(was *corev1.Node, n *node, goes func(corev1.Taint) bool) {
	n.Spec.Taints, g.changed = slices.DeleteFunc(n.Spec.Taints, goes), true
	g.hearChange(was, n)
	for _, p := range g.on(n.Name) {
		g.judgeTaints(p)
	}
}

func (g *game) cordon(n *node, on bool) {
	was := n.DeepCopy()
	if n.Spec.Unschedulable = on; on {
		g.tell(Moment{What: "cordoned", Node: n.Name}, nil)
		g.taint(n, corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule})
		return
	}
	g.tell(Moment{What: "uncordoned", Node: n.Name}, nil)
	g.untaintFrom(was, n, func(t corev1.Taint) bool { return t.Key == corev1.TaintNodeUnschedulable })
}

// on are the pods of a node, by name.
func (g *game) on(name string) (list []*pod) {
	for _, p := range sorted(g.pods) {
		if p.Spec.NodeName == name {
			list = append(list, p)
		}
	}
	return list
}

// judgeTaints has the pods of a node with NoExecute taints be evicted that do not tolerate them
// (pkg/controller/tainteviction/taint_eviction.go processPodOnNode).
func (g *game) judgeTaints(p *pod) {
	in := g.tolerates(p)
	if p.DeletionTimestamp != nil || in > 0 && p.counts > 0 && p.since < g.now {
		return
	}
	p.counts = 0
	if in < 0 {
		return
	}
	g.counts++
	nth := g.counts
	p.counts, p.since = nth, g.now
	g.at(g.now+in, byKubelet, p.full()+"~taint", func() {
		if g.pods[p.Name] == p && p.DeletionTimestamp == nil && p.counts == nth {
			g.leave(p, "taint")
		}
	})
}

// tolerates is how many seconds a pod tolerates the taints of its node from now on; below 0: for
// ever.
func (g *game) tolerates(p *pod) int64 {
	n := g.nodes[p.Spec.NodeName]
	if n == nil {
		return -1
	}
	least := int64(-1)
	for _, t := range n.Spec.Taints {
		if t.Effect != corev1.TaintEffectNoExecute {
			continue
		}
		i := slices.IndexFunc(p.Spec.Tolerations, func(of corev1.Toleration) bool {
			return (of.Effect == "" || of.Effect == t.Effect) && (of.Key == "" || of.Key == t.Key) && (of.Operator == corev1.TolerationOpExists || of.Value == t.Value)
		})
		if i < 0 {
			return 0
		}
		if s := p.Spec.Tolerations[i].TolerationSeconds; s != nil && (least < 0 || *s < least) {
			least = *s
		}
	}
	return least
}

// die has the kubelet of a node stop. The control plane notices 50 seconds later.
func (g *game) die(n *node) {
	if n.dead {
		return
	}
	n.dead = true
	n.lives++
	life := n.lives
	g.tell(Moment{What: "nodeDied", Node: n.Name}, nil)
	g.at(g.now+50, byNode, n.Name, func() {
		if g.nodes[n.Name] != n || !n.dead || n.lives != life {
			return
		}
		n.givenUp = true
		n.setReady(corev1.ConditionUnknown, metav1.NewTime(g.time()))
		g.taint(n, corev1.Taint{Key: corev1.TaintNodeUnreachable, Effect: corev1.TaintEffectNoSchedule})
		g.tell(Moment{What: "nodeNotReady", Node: n.Name}, nil)
		g.zoneOf(n).waiting = append(g.zoneOf(n).waiting, n.Name)
		g.unreadied = append(g.unreadied, n.Name)
		g.lookAtZones()
	})
}

func (n *node) setReady(to corev1.ConditionStatus, at metav1.Time) {
	for i := range n.Status.Conditions {
		if c := &n.Status.Conditions[i]; c.Type == corev1.NodeReady {
			c.Status, c.LastTransitionTime = to, at
		}
	}
}

func (g *game) zoneOf(n *node) *zone {
	name := zoneOf(n)
	if g.zones[name] == nil {
		g.zones[name] = &zone{name: name, rate: 10}
	}
	return g.zones[name]
}

func (g *game) lookAtZones() {
	if !g.zonesDue {
		g.zonesDue = true
		g.at(g.now, byController, "Zone", g.judgeZones)
	}
}

// every is how many seconds lie between two nodes of a zone that are tainted; 0: none is
// (node_lifecycle_controller.go ComputeZoneState, setLimiterInZone).
func (g *game) every(name string) int64 {
	all, lost := 0, 0
	for _, n := range g.nodes {
		if zoneOf(n) == name {
			if all++; n.givenUp {
				lost++
			}
		}
	}
	if lost > 2 && lost < all && float32(lost)/float32(all) >= 0.55 {
		return 0
	}
	return 10
}

// judgeZones has nodes be tainted that were given up. Where all zones are lost none is.
func (g *game) judgeZones() {
	g.zonesDue = false
	for _, name := range g.unreadied {
		for _, p := range g.on(name) {
			if p.isReady() {
				g.setPodReady(p, corev1.ConditionFalse)
			}
		}
	}
	g.unreadied = nil
	was := g.allLost
	g.allLost = len(g.nodes) > 0
	for _, n := range g.nodes {
		g.allLost = g.allLost && n.givenUp
	}
	if g.allLost && !was {
		for _, n := range sorted(g.nodes) {
			if n.evicts {
				n.evicts = false
				g.untaint(n, func(t corev1.Taint) bool {
					return t.Key == corev1.TaintNodeUnreachable && t.Effect == corev1.TaintEffectNoExecute
				})
				g.zoneOf(n).waiting = append(g.zoneOf(n).waiting, n.Name)
			}
		}
	}
	for _, z := range sorted(g.zones) {
		g.swap(z)
	}
	for _, z := range sorted(g.zones) {
		g.taintSome(z)
	}
}

// swap has a zone go on at another rate (scheduler/rate_limited_queue.go SwapLimiter).
func (g *game) swap(z *zone) {
	every := g.every(z.name)
	if g.allLost {
		every = 0
	}
	if every != z.rate && every > 0 && (z.rate == 0 || g.now < z.next) {
		z.next = g.now + every
	}
	z.rate = every
}

func (g *game) taintSome(z *zone) {
	slices.Sort(z.waiting)
	if z.rate == 0 {
		return
	}
	for len(z.waiting) > 0 && z.next <= g.now {
		n := g.nodes[z.waiting[0]]
		z.waiting, z.next, n.evicts = z.waiting[1:], g.now+z.rate, true
		g.taint(n, corev1.Taint{Key: corev1.TaintNodeUnreachable, Effect: corev1.TaintEffectNoExecute})
		g.tell(Moment{What: "nodeTainted", Node: n.Name, Why: "node.kubernetes.io/unreachable:NoExecute"}, nil)
		for _, p := range g.on(n.Name) {
			g.judgeTaints(p)
		}
	}
	if len(z.waiting) > 0 {
		g.at(z.next, byController, "Zone/"+z.name, func() { g.taintSome(z) })
	}
}

// setPodReady has a pod lose its readiness with its node, or be ready again.
func (g *game) setPodReady(p *pod, to corev1.ConditionStatus) {
	c := p.ready()
	c.Status, c.LastTransitionTime, g.changed = to, metav1.NewTime(g.time()), true
	what := "ready"
	if p.unreadied = to != corev1.ConditionTrue; p.unreadied {
		what = "unready"
	}
	g.tell(Moment{What: what, Node: p.Spec.NodeName}, p)
	if !p.unreadied {
		g.syncOf(p)
	}
}

// comeBack has the kubelets of nodes answer again: what was not deleted stays.
func (g *game) comeBack(list []*node) {
	var back []*node
	for _, n := range list {
		if !n.dead {
			continue
		}
		n.dead = false
		back = append(back, n)
		g.tell(Moment{What: "nodeBack", Node: n.Name}, nil)
		if n.givenUp {
			n.givenUp, n.evicts = false, false
			n.setReady(corev1.ConditionTrue, metav1.NewTime(g.time()))
			g.untaint(n, func(t corev1.Taint) bool { return t.Key == corev1.TaintNodeUnreachable })
			z := g.zoneOf(n)
			z.waiting = slices.DeleteFunc(z.waiting, func(name string) bool { return name == n.Name })
			g.lookAtZones()
		}
	}
	for _, n := range back {
		for _, p := range g.on(n.Name) {
			switch {
			case p.DeletionTimestamp != nil:
				g.ends(p, *p.DeletionGracePeriodSeconds)
			case p.ready() == nil:
				g.kubelet(p)
			case p.unreadied:
				g.setPodReady(p, corev1.ConditionTrue)
			}
		}
	}
}

// remove deletes Node objects. PodGC deletes the pods of each a minute later.
func (g *game) remove(list []*node) {
	for _, n := range list {
		orphans := g.on(n.Name)
		delete(g.nodes, n.Name)
		n.dead, g.changed = true, true
		z := g.zoneOf(n)
		z.waiting = slices.DeleteFunc(z.waiting, func(name string) bool { return name == n.Name })
		g.tell(Moment{What: "nodeRemoved", Node: n.Name}, nil)
		g.hear(heard{was: n.Node})
		g.at(g.now+60, byNode, n.Name, func() {
			for _, p := range orphans {
				switch {
				case g.pods[p.Name] != p:
				case p.DeletionTimestamp != nil:
					g.gone(p)
				default:
					g.leave(p, "orphaned")
				}
			}
		})
	}
	g.lookAtZones()
}
