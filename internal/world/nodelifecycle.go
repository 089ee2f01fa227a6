package world

import (
	"cmp"
	"errors"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth/internal/podlife"
)

// LostNode is what the control plane does about a node whose kubelet does not answer.
type LostNode struct {
	Name string `json:"name" example:"worker-7"`
	Zone string `json:"zone,omitempty" example:"eu-1a"`
	// DiedAfterSeconds is when its kubelet stopped; absent: at the start.
	DiedAfterSeconds int64 `json:"diedAfterSeconds,omitempty"`
	// NotReadyAfterSeconds is when its pods lose Ready and no pod is placed on it any more.
	NotReadyAfterSeconds int64 `json:"notReadyAfterSeconds"`
	// TaintedAfterSeconds is when it gets the taint that evicts its pods; absent: never.
	TaintedAfterSeconds *int64 `json:"taintedAfterSeconds,omitempty"`
	// RemovedAfterSeconds is when its object is deleted; absent: never.
	RemovedAfterSeconds *int64 `json:"removedAfterSeconds,omitempty"`
	// BackAfterSeconds is when its kubelet answers again; absent: never.
	BackAfterSeconds *int64 `json:"backAfterSeconds,omitempty"`
} // @name LostNode

// nodeLifecycle is the node lifecycle controller: it gives nodes up whose kubelets do not answer,
// and taints them zone by zone, at a rate that depends on how much of the zone is lost
// (pkg/controller/nodelifecycle/node_lifecycle_controller.go monitorNodeHealth, handleDisruption,
// doNoExecuteTaintingPass). Heartbeats are arithmetic: a node is not ready a grace period after its
// last one.
type nodeLifecycle struct {
	w     *World
	rates NodeRates
	lost  map[string]*LostNode // those that are dead now, by name
	all   []*LostNode          // those that died, in this order
	zones map[string]*nodeZone // nil: not read yet
	full  bool                 // all zones are fully disrupted
	// givenUp are nodes whose pods are still to lose their readiness.
	givenUp []string
	due     bool // a pass over the zones is scheduled
}

// Die has the kubelet of a node stop: it ends and starts no pod any more. A node that was given up
// before is so from the start, and its taints count on.
func (w *World) Die(name string) error { return w.die(name, NodeDied) }

func (w *World) die(name, what string) error {
	c := w.nodes
	node, err := w.Node(name)
	if err != nil || c.lost[name] != nil {
		return err
	}
	if err := c.read(); err != nil {
		return err
	}
	at := w.Seconds()
	n := &LostNode{Name: name, Zone: zoneOf(node.Labels), DiedAfterSeconds: at, NotReadyAfterSeconds: at + seconds(c.rates.Grace)}
	for _, t := range node.Spec.Taints {
		if t.Key != corev1.TaintNodeUnreachable {
			continue
		}
		if n.NotReadyAfterSeconds = at; t.Effect == corev1.TaintEffectNoExecute {
			n.TaintedAfterSeconds = &at
		}
	}
	c.lost[name], c.all = n, append(c.all, n)
	w.tell(Moment{What: what, Node: name})
	w.At(n.NotReadyAfterSeconds, "Node/"+name, func() error { return c.notReady(n) })
	if n.TaintedAfterSeconds != nil {
		w.At(at, "Node/"+name, func() error { return w.evictByTaints(name, true) })
	}
	return nil
}

// NodesBefore has the control plane go on with what it does about nodes at the start: those whose
// kubelets do not answer are dead, and taints that evict pods count.
func (w *World) NodesBefore() error {
	nodes := w.State().Nodes()
	var dead, tainted []string
	for row := range nodes.Alive().All() {
		n := nodes.Node(row)
		if n.Health.State == podlife.NodeNotReady {
			dead = append(dead, n.Name)
		}
		if evicts(n.Taints) {
			tainted = append(tainted, n.Name)
		}
	}
	slices.Sort(dead)
	slices.Sort(tainted)
	for _, name := range dead {
		node, err := w.Node(name)
		if err != nil {
			return err
		}
		switch {
		case podlife.OutOfService(node):
			w.collect(name)
		case !podlife.EndsPods(node): // it does not say so itself
			if err := w.Die(name); err != nil {
				return err
			}
		}
	}
	for _, name := range tainted {
		if err := w.evictByTaints(name, true); err != nil {
			return err
		}
	}
	return nil
}

// Dead reports whether a node's kubelet does not answer.
func (w *World) Dead(node string) bool { return w.nodes.lost[node] != nil }

// Lost returns the nodes that died, by zone and name.
func (w *World) Lost() []*LostNode {
	list := slices.Clone(w.nodes.all)
	slices.SortStableFunc(list, func(a, b *LostNode) int {
		return cmp.Or(cmp.Compare(a.Zone, b.Zone), cmp.Compare(a.Name, b.Name))
	})
	return list
}

// notReady has the node monitor give a node up: it gets the taint that keeps pods away, and its
// pods are ready no more (MarkPodsNotReady).
func (c *nodeLifecycle) notReady(n *LostNode) error {
	w := c.w
	node, err := w.Node(n.Name)
	if err != nil || c.lost[n.Name] != n {
		return nil // removed before, or back
	}
	z, was := c.zones[n.Zone], podlife.NodeStateOf(node) == podlife.NodeHealthy
	since := metav1.NewTime(w.Instant())
	err = w.Taint(n.Name, corev1.Taint{Key: corev1.TaintNodeUnreachable, Effect: corev1.TaintEffectNoSchedule, TimeAdded: &since}, func(node *corev1.Node) {
		for i := range node.Status.Conditions {
			if c := &node.Status.Conditions[i]; c.Type == corev1.NodeReady && c.Status != corev1.ConditionUnknown {
				c.Status, c.LastTransitionTime = corev1.ConditionUnknown, since
			}
		}
	})
	if err != nil {
		return err
	}
	w.tell(Moment{What: NodeNotReady, Node: n.Name})
	if was && !excluded(node) {
		z.NotReady++
	}
	if n.TaintedAfterSeconds == nil {
		z.insert(n.Name)
	}
	c.givenUp = append(c.givenUp, n.Name)
	if now, err := w.Node(n.Name); err == nil && podlife.OutOfService(now) {
		w.collect(n.Name)
	}
	c.pass()
	return nil
}

// markPodsNotReady has the pods of the nodes be ready no more that were given up at this instant.
// To look at the pods of a node costs as much as there are nodes where one has just changed.
func (c *nodeLifecycle) markPodsNotReady() error {
	names := c.givenUp
	c.givenUp = nil
	for _, name := range names {
		err := c.w.EachOn(name, func(pod *corev1.Pod) error {
			if !IsReady(pod) {
				return nil
			}
			return c.w.unready(pod)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// taint adds the taint to a node that evicts its pods.
func (c *nodeLifecycle) taint(name string) error {
	n, at, since := c.lost[name], c.w.Seconds(), metav1.NewTime(c.w.Instant())
	n.TaintedAfterSeconds = &at
	if err := c.w.Taint(name, corev1.Taint{Key: corev1.TaintNodeUnreachable, Effect: corev1.TaintEffectNoExecute, TimeAdded: &since}, nil); err != nil {
		return err
	}
	c.w.tell(Moment{What: NodeTainted, Node: name, Why: corev1.TaintNodeUnreachable + ":NoExecute"})
	return c.w.evictByTaints(name, false)
}

// Return has the kubelets of dead nodes answer again, with their containers still running. The
// controller takes the nodes' taints off (markNodeAsReachable), so that the pods that were not
// deleted yet stay; the kubelets end those that were, each within its grace period.
func (w *World) Return(names []string) error { return w.comeBack(names, w.resume) }

// comeBack has the kubelets of dead nodes answer again, and go on with each of their pods.
func (w *World) comeBack(names []string, on func(pod *corev1.Pod, gaveUp bool) error) error {
	c := w.nodes
	gaveUp := map[string]bool{}
	for _, name := range names {
		n := c.lost[name]
		if n == nil || n.RemovedAfterSeconds != nil {
			continue
		}
		at := w.Seconds()
		n.BackAfterSeconds = &at
		delete(c.lost, name)
		w.tell(Moment{What: NodeBack, Node: name})
		node, err := w.Node(name)
		if err != nil {
			return err
		}
		if gaveUp[name] = podlife.NodeStateOf(node) != podlife.NodeHealthy; gaveUp[name] {
			if err := c.reachable(n, node); err != nil {
				return err
			}
		}
	}
	for _, name := range names {
		if gave, back := gaveUp[name]; back {
			if err := w.EachOn(name, func(pod *corev1.Pod) error { return on(pod, gave) }); err != nil {
				return err
			}
		}
	}
	return nil
}

// reachable takes the taints off a node that was given up.
func (c *nodeLifecycle) reachable(n *LostNode, node *corev1.Node) error {
	since := metav1.NewTime(c.w.Instant())
	err := c.w.changeNode(n.Name, func(node *corev1.Node) {
		node.Spec.Taints = slices.DeleteFunc(node.Spec.Taints, func(t corev1.Taint) bool {
			return t.Key == corev1.TaintNodeUnreachable || t.Key == corev1.TaintNodeNotReady
		})
		for i := range node.Status.Conditions {
			if c := &node.Status.Conditions[i]; c.Type == corev1.NodeReady {
				c.Status, c.LastTransitionTime = corev1.ConditionTrue, since
			}
		}
	})
	z := c.zones[n.Zone]
	if z.remove(n.Name); !excluded(node) {
		z.NotReady--
	}
	c.pass()
	return errors.Join(err, c.w.evictByTaints(n.Name, false))
}

// resume has a kubelet that is back go on with a pod of its node.
func (w *World) resume(pod *corev1.Pod, gaveUp bool) error {
	name := NameOf(pod)
	rec := w.leaving[name]
	switch c := w.created[name]; {
	case pod.DeletionTimestamp != nil:
		if rec == nil {
			rec = &Left{} // it was being deleted before the start
		}
		after := w.endsAfter(pod, podlife.GracePeriod(pod))
		ends := w.Seconds() + after
		kept(w, rec).GoneAfterSeconds = &ends
		w.due.schedule(w.now+time.Duration(after)*time.Second, writes, name.String(), func() error {
			if now, err := w.Pod(name.Namespace, name.Name); err != nil || now.UID != pod.UID || rec.GoneAfterSeconds == nil || *rec.GoneAfterSeconds != ends {
				return nil
			}
			if w.Dead(pod.Spec.NodeName) {
				kept(w, rec).GoneAfterSeconds = nil
				return nil
			}
			return w.Gone(pod, rec)
		})
	case c != nil && c.rec.ReadyAfterSeconds == nil:
		return w.volumes.starts(c, pod)
	case w.led[name] != nil:
		delete(w.unreadied, name)
		return w.stepOf(w.led[name])
	case gaveUp && w.unreadied[name]:
		delete(w.unreadied, name)
		return w.setReady(pod, corev1.ConditionTrue)
	}
	return nil
}

// RemoveObjects deletes the objects of nodes, as a cloud's controller does whose machines are gone.
// PodGC deletes their pods once it misses the nodes.
func (w *World) RemoveObjects(names []string) error {
	if err := w.nodes.read(); err != nil {
		return err
	}
	orphans := make([][]PodName, len(names))
	for i, name := range names {
		var err error
		if orphans[i], err = w.PodsOn(name); err != nil {
			return err
		}
	}
	for i, name := range names {
		node, err := w.Node(name)
		if err != nil {
			continue // gone before
		}
		w.nodes.removed(node)
		w.tell(Moment{What: NodeRemoved, Node: name})
		w.At(w.Seconds()+orphanSeconds, "Node/"+name, func() error { return w.orphaned(name, orphans[i]) })
		if err := w.removeNode(name, orphans[i]); err != nil {
			return err
		}
	}
	w.nodes.pass()
	return nil
}

// removed notes that a node's object is gone.
func (c *nodeLifecycle) removed(node *corev1.Node) {
	at := c.w.Seconds()
	n := c.lost[node.Name]
	if n == nil {
		n = &LostNode{Name: node.Name, Zone: zoneOf(node.Labels), DiedAfterSeconds: at, NotReadyAfterSeconds: at}
		c.lost[node.Name], c.all = n, append(c.all, n)
	}
	n.RemovedAfterSeconds = &at
	z := c.zones[n.Zone]
	if z == nil {
		return
	}
	if z.remove(node.Name); excluded(node) {
		return
	}
	if z.Nodes--; podlife.NodeStateOf(node) != podlife.NodeHealthy {
		z.NotReady--
	}
}

// unready has a pod lose its readiness, as the node monitor does to those of a lost node
// (pkg/controller/util/node/controller_utils.go MarkPodsNotReady).
func (w *World) unready(pod *corev1.Pod) error {
	w.unreadied[NameOf(pod)] = true
	return w.setReady(pod, corev1.ConditionFalse)
}

// setReady changes the condition Ready of a pod that has one.
func (w *World) setReady(pod *corev1.Pod, to corev1.ConditionStatus) error {
	p := *pod
	p.Status.Conditions = slices.Clone(p.Status.Conditions)
	if c := ReadyCondition(&p); c != nil {
		c.Status, c.LastTransitionTime = to, metav1.NewTime(w.Instant())
	}
	return w.setStatus(pod, &p)
}
