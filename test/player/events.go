package player

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
)

// Event is an event of a scenario, of which one field beside At is set.
type Event struct {
	At          string    `json:"at"`
	Delete      *podName  `json:"delete,omitempty"`
	Evict       *podName  `json:"evict,omitempty"`
	Ungate      *podName  `json:"ungate,omitempty"`
	Scale       *scale    `json:"scale,omitempty"`
	Create      *create   `json:"create,omitempty"`
	Cordon      *nodes    `json:"cordon,omitempty"`
	Uncordon    *nodes    `json:"uncordon,omitempty"`
	NodesDie    *nodes    `json:"nodesDie,omitempty"`
	NodesReturn *nodes    `json:"nodesReturn,omitempty"`
	RemoveNodes *nodes    `json:"removeNodes,omitempty"`
	AddNodes    *addNodes `json:"addNodes,omitempty"`
	Taint       *taintOf  `json:"taint,omitempty"`
	Untaint     *taintOf  `json:"untaint,omitempty"`
	Drain       *drainOf  `json:"drain,omitempty"`
	second      int64
}

type scale struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Replicas  int    `json:"replicas"`
}

type create struct {
	Pod   *corev1.Pod `json:"pod"`
	Count int         `json:"count"`
}

type nodes struct {
	Nodes []string `json:"nodes"`
}

type addNodes struct {
	Template *corev1.Node `json:"template"`
	Count    int          `json:"count"`
}

type taintOf struct {
	nodes
	Key    string             `json:"key"`
	Value  string             `json:"value,omitempty"`
	Effect corev1.TaintEffect `json:"effect"`
}

type drainOf struct {
	nodes
	Force          bool `json:"force,omitempty"`
	RespectBudgets bool `json:"respectBudgets"`
}

// happen does what an event says.
func (g *game) happen(e *Event) {
	switch {
	case e.Delete != nil:
		g.onPod("delete", e.Delete.Name, func(p *pod) string { g.leave(p, "deletion"); return "" })
	case e.Evict != nil:
		g.onPod("evict", e.Evict.Name, func(p *pod) string { return g.evict(p, "eviction") })
	case e.Ungate != nil:
		g.ungate(e.Ungate.Name)
	case e.Scale != nil:
		of := e.Scale.Kind + "/" + e.Scale.Name
		g.tell(Moment{What: "scaled", Owner: of, Why: fmt.Sprintf("to %d replicas", e.Scale.Replicas)}, nil)
		if s := g.sets[e.Scale.Name]; e.Scale.Kind == "StatefulSet" {
			s.wants = e.Scale.Replicas
			g.syncSet(s)
		} else if why := g.scaleSet(e.Scale.Name, e.Scale.Replicas); why != "" {
			g.tell(Moment{What: "refused", Owner: of, Why: "scale: " + why}, nil)
		}
	case e.Create != nil:
		p := &pod{Pod: e.Create.Pod.DeepCopy(), took: g.start}
		if p.Name += "-0"; g.pods[p.Name] != nil {
			g.tell(Moment{What: "refused", Pod: "default/" + p.Name, Why: fmt.Sprintf("create: pods %q already exists", p.Name)}, nil)
			return
		}
		g.create(p)
	case e.AddNodes != nil:
		n := &node{Node: e.AddNodes.Template.DeepCopy()}
		g.nodes[n.Name], g.changed = n, true
		g.hear(heard{is: n.Node})
		g.tell(Moment{What: "nodeAdded", Node: n.Name}, nil)
		g.lookAtZones()
	case e.Drain != nil:
		g.drain(e.Drain)
	default:
		g.onNodes(e)
	}
}

func (g *game) onPod(what, name string, do func(*pod) (refused string)) {
	why := fmt.Sprintf("pods %q not found", name)
	if p := g.pods[name]; p != nil {
		why = do(p)
	}
	if why != "" {
		g.tell(Moment{What: "refused", Pod: "default/" + name, Why: what + ": " + why}, nil)
	}
}

func (g *game) ungate(name string) {
	p := g.pods[name]
	switch {
	case p == nil || !p.waits():
		g.tell(Moment{What: "refused", Pod: "default/" + name, Why: fmt.Sprintf("ungate: no pod %q waits", name)}, nil)
	case len(p.Spec.SchedulingGates) == 0:
		g.tell(Moment{What: "refused", Pod: "default/" + name, Why: "ungate: it has no such gate"}, nil)
	default:
		p.Spec.SchedulingGates, p.failed, g.changed = nil, false, true
		g.tell(Moment{What: "ungated"}, p)
	}
}

// evict evicts a pod unless a budget refuses (pkg/registry/core/pod/storage/eviction.go Create).
func (g *game) evict(p *pod, why string) (refused string) {
	g.count()
	of := slices.DeleteFunc(slices.Clone(g.budgets), func(b *policyv1.PodDisruptionBudget) bool { return !selects(b, p) })
	switch {
	case len(of) == 0, p.over(), p.DeletionTimestamp != nil, p.Status.Phase == corev1.PodPending:
	case len(of) > 1:
		return "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."
	case !p.isReady() && of[0].Status.CurrentHealthy >= of[0].Status.DesiredHealthy && of[0].Status.DesiredHealthy > 0:
	case of[0].Status.DisruptionsAllowed == 0:
		return "Cannot evict pod as it would violate the pod's disruption budget."
	}
	g.leave(p, why)
	return ""
}

// onNodes does what an event about nodes that are there says.
func (g *game) onNodes(e *Event) {
	names := &nodes{}
	for _, of := range []*nodes{e.Cordon, e.Uncordon, e.NodesDie, e.NodesReturn, e.RemoveNodes} {
		if of != nil {
			names = of
		}
	}
	for _, of := range []*taintOf{e.Taint, e.Untaint} {
		if of != nil {
			names = &of.nodes
		}
	}
	var there []*node
	for _, name := range names.Nodes {
		if n := g.nodes[name]; n != nil {
			there = append(there, n)
			continue
		}
		g.tell(Moment{What: "refused", Node: name, Why: fmt.Sprintf("change: nodes %q not found", name)}, nil)
	}
	switch {
	case e.NodesReturn != nil:
		g.comeBack(there)
		return
	case e.RemoveNodes != nil:
		g.remove(there)
		return
	}
	for _, n := range there {
		switch {
		case e.NodesDie != nil:
			g.die(n)
		case e.Taint != nil:
			g.personTaints(n, e.Taint)
		case e.Untaint != nil:
			t := corev1.Taint{Key: e.Untaint.Key, Value: e.Untaint.Value, Effect: e.Untaint.Effect}
			g.tell(Moment{What: "untainted", Node: n.Name, Why: t.ToString()}, nil)
			g.untaint(n, func(has corev1.Taint) bool { return has.MatchTaint(&t) })
		default:
			g.cordon(n, e.Cordon != nil)
		}
	}
}

func (g *game) personTaints(n *node, of *taintOf) {
	t := corev1.Taint{Key: of.Key, Value: of.Value, Effect: of.Effect}
	g.tell(Moment{What: "tainted", Node: n.Name, Why: t.ToString()}, nil)
	g.taint(n, t)
	if t.Effect == corev1.TaintEffectNoExecute {
		for _, p := range g.on(n.Name) {
			g.judgeTaints(p)
		}
	}
}

// drain cordons nodes and drains one after the other, as kubectl does: what a budget refuses is
// tried again every five seconds.
func (g *game) drain(of *drainOf) {
	var names []string
	for _, name := range of.Nodes {
		names = append(names, name)
		if n := g.nodes[name]; n != nil {
			g.cordon(n, true)
		}
	}
	g.drainNext(of, names)
}

func (g *game) drainNext(of *drainOf, names []string) {
	if len(names) == 0 {
		return
	}
	name := names[0]
	g.tell(Moment{What: "drainBegins", Node: name}, nil)
	var todo []*pod // none of a node that is gone
	if g.nodes[name] != nil {
		todo = g.on(name)
	}
	for _, p := range todo {
		if kind, _ := p.owner(); kind == "" && !of.Force && !p.over() {
			g.tell(Moment{What: "drainEnds", Node: name, Why: "refused: " + p.Name + ": no controller manages it (use --force to delete it for good)"}, nil)
			g.drainNext(of, names[1:])
			return
		}
	}
	blocked, last := "", g.now
	var pass func(todo []*pod)
	pass = func(todo []*pod) {
		var later []*pod
		for _, p := range todo {
			switch {
			case g.pods[p.Name] != p:
				continue
			case p.DeletionTimestamp == nil && of.RespectBudgets && g.evict(p, "eviction") != "":
				later = append(later, p)
				continue
			case p.DeletionTimestamp == nil && g.pods[p.Name] == p:
				g.leave(p, "deletion")
			}
			if g.pods[p.Name] != p {
				continue
			}
			if g.answers(name) {
				last = max(last, p.endsAt)
			} else if blocked == "" {
				blocked = "blocked: " + p.Name + ": it stays Terminating: the kubelet of its node does not answer, and nothing else removes it while the Node object exists"
			}
		}
		if len(later) > 0 {
			g.at(g.now+5, byDrain, name, func() { pass(later) })
			return
		}
		g.at(last, byDrain, name, func() {
			if g.tell(Moment{What: "drainEnds", Node: name, Why: blocked}, nil); blocked == "" {
				g.drainNext(of, names[1:])
			}
		})
	}
	pass(todo)
}
