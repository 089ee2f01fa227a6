package player

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// heard is something that pods which wait hear of: a pod that came to a node or left one, a node
// that came, went or changed, or a nomination that went, for pods up to a priority. Of a pod that
// is about to end no plugin has a hint, but spreads count it no more.
type heard struct {
	came, left *corev1.Pod
	ends       *corev1.Pod
	was, is    *corev1.Node
	upTo       *int32
}

func (g *game) hear(h heard) { g.heard = append(g.heard, h) }

// helped reports whether something happened since a pod's last attempt that may help it, as the
// hints of the plugins which rejected it have it.
func (g *game) helped(p *pod) bool {
	for _, h := range g.heard[p.seen:] {
		if h.ends != nil || h.upTo != nil && *p.Spec.Priority > *h.upTo {
			continue
		}
		if slices.ContainsFunc(p.by, func(plugin string) bool { return h.helps(p.Pod, plugin) }) || len(p.by) == 0 {
			return true
		}
	}
	return false
}

// tainted reports whether nodes that got taints are all that happened since a pod's last attempt,
// and cannot help it: it does not leave such nodes out of its spreads, these count no pod less, and
// no node is kept for it.
func (g *game) tainted(p *pod) bool {
	return p.failed && len(p.by) > 0 && p.Status.NominatedNodeName == "" && !slices.ContainsFunc(p.Spec.TopologySpreadConstraints, honors) &&
		!slices.ContainsFunc(g.heard[p.seen:], func(h heard) bool {
			if h.ends != nil {
				return slices.Contains(p.by, "PodTopologySpread") && heard{left: h.ends}.helps(p.Pod, "PodTopologySpread")
			}
			got := h.was != nil && h.is != nil && len(h.was.Spec.Taints) < len(h.is.Spec.Taints)
			return !got && slices.ContainsFunc(p.by, func(plugin string) bool { return h.helps(p.Pod, plugin) }) && (h.upTo == nil || *p.Spec.Priority <= *h.upTo)
		})
}

func honors(c corev1.TopologySpreadConstraint) bool {
	return c.WhenUnsatisfiable == corev1.DoNotSchedule && c.NodeTaintsPolicy != nil && *c.NodeTaintsPolicy == corev1.NodeInclusionPolicyHonor
}

// helps is a plugin's hint for a pod that it rejected (its EventsToRegister, and isSchedulableAfter
// functions).
func (h heard) helps(p *corev1.Pod, plugin string) bool {
	switch {
	case h.came != nil || h.left != nil:
		return h.podHelps(p, plugin)
	case h.is == nil: // it went
		return plugin == "PodTopologySpread"
	}
	switch plugin {
	case "NodeUnschedulable":
		return !h.is.Spec.Unschedulable && (h.was == nil || h.was.Spec.Unschedulable)
	case "TaintToleration":
		return !repels(p, h.is) && (h.was == nil || repels(p, h.was))
	}
	// Others that hear of new nodes have no hint for taints (scheduler.go buildQueueingHintMap).
	return true
}

func repels(p *corev1.Pod, n *corev1.Node) bool {
	return slices.ContainsFunc(n.Spec.Taints, func(t corev1.Taint) bool {
		return t.Effect != corev1.TaintEffectPreferNoSchedule && !slices.ContainsFunc(p.Spec.Tolerations, func(by corev1.Toleration) bool {
			return (by.Key == "" || by.Key == t.Key) && (by.Effect == "" || by.Effect == t.Effect) && (by.Operator == corev1.TolerationOpExists || by.Value == t.Value)
		})
	})
}

func (h heard) podHelps(p *corev1.Pod, plugin string) bool {
	of := h.came
	if of == nil {
		of = h.left
	}
	matches := func(s *metav1.LabelSelector) bool {
		selects, err := metav1.LabelSelectorAsSelector(s)
		return err == nil && selects.Matches(labels.Set(of.Labels))
	}
	all := func(terms []corev1.PodAffinityTerm) bool {
		return len(terms) > 0 && !slices.ContainsFunc(terms, func(t corev1.PodAffinityTerm) bool { return !matches(t.LabelSelector) })
	}
	required := func(p *corev1.Pod) (affine, anti []corev1.PodAffinityTerm) {
		if a := p.Spec.Affinity; a != nil && a.PodAffinity != nil {
			affine = a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution
		}
		if a := p.Spec.Affinity; a != nil && a.PodAntiAffinity != nil {
			anti = a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution
		}
		return affine, anti
	}
	switch plugin {
	case "NodeResourcesFit":
		return h.left != nil
	case "NodePorts":
		return h.left != nil && slices.ContainsFunc(p.Spec.Containers[0].Ports, func(port corev1.ContainerPort) bool {
			return slices.ContainsFunc(of.Spec.Containers[0].Ports, func(o corev1.ContainerPort) bool { return o.HostPort == port.HostPort })
		})
	case "PodTopologySpread":
		return slices.ContainsFunc(p.Spec.TopologySpreadConstraints, func(c corev1.TopologySpreadConstraint) bool {
			return c.WhenUnsatisfiable == corev1.DoNotSchedule && matches(c.LabelSelector)
		})
	case "InterPodAffinity":
		affine, anti := required(p)
		if h.came != nil {
			return all(affine)
		}
		if all(anti) {
			return true
		}
		_, theirs := required(of)
		of = p
		return all(theirs)
	}
	return false
}

// flush returns when a pod that is tried in vain now is tried again by time alone: at the first of
// the looks, one each 30 s, more than five minutes later (backend/queue/scheduling_queue.go
// flushUnschedulablePodsLeftover).
func (g *game) flush() int64 { return (g.now+300)/30*30 + 30 }

// schedule tries the pods that wait until nothing could help one: higher priority first, then who
// came or failed last earlier. Who fails waits until all others had their turn.
func (g *game) schedule() error {
	for {
		var turn []*pod
		for _, p := range g.pods {
			if p.waits() && len(p.Spec.SchedulingGates) == 0 && (!p.failed || g.helped(p) || g.now >= p.flush) {
				turn = append(turn, p)
			}
		}
		if len(turn) == 0 {
			return nil
		}
		slices.SortFunc(turn, func(a, b *pod) int {
			return cmp.Or(cmp.Compare(*b.Spec.Priority, *a.Spec.Priority), cmp.Compare(a.order, b.order))
		})
		for _, p := range turn {
			if g.pods[p.Name] != p {
				continue
			}
			if err := g.try(p); err != nil {
				return err
			}
		}
	}
}

// try puts the objects as they are now, has the server decide about a pod, and does what comes of
// it.
func (g *game) try(p *pod) error {
	if g.changed {
		g.count()
		var err error
		if g.snapshot, err = g.client.upload(g.cluster, g.objects()); err != nil {
			return err
		}
		g.changed = false
	}
	g.tries++
	futile := g.tainted(p) && g.now < p.flush
	var d decision
	err := g.client.call("POST", "/v1/decisions", map[string]any{
		"snapshot": g.snapshot, "podRef": podName{p.Namespace, p.Name}, "dryRun": true, "explain": "all", "now": g.time(),
	}, &d)
	if err != nil {
		return err
	}
	g.orders++
	p.failed, p.order, p.flush = true, g.orders, g.flush()
	g.at(p.flush, byKubelet, p.Name, func() {})
	if futile { // the simulation does not make it, and knows no other plugins
		if p.seen = len(g.heard); d.Outcome == "Scheduled" || d.NominatedNode != "" {
			return fmt.Errorf("a taint helped pod %s: %s", p.Name, d.Outcome)
		}
		return nil
	}
	p.by = d.rejectedBy()
	told := d.Message != "" && d.Message != p.told
	p.told = d.Message
	switch {
	case d.Outcome == "Scheduled":
		if told = false; d.Message != "" {
			p.told = ""
		}
		g.bind(p, d.Node)
		p.seen = len(g.heard)
		return nil
	case d.NominatedNode != "":
		// Where all victims are being deleted already there is nothing to prepare
		// (pkg/scheduler/framework/preemption/executor.go prepareCandidateAsync).
		if slices.ContainsFunc(d.Preemption.Victims, func(v podName) bool { return g.pods[v.Name].DeletionTimestamp == nil }) {
			for _, n := range d.Preemption.ClearedNominations {
				g.nominate(g.pods[n.Name], "")
			}
		}
		g.nominate(p, d.NominatedNode)
		p.seen = len(g.heard)
		g.tell(Moment{What: "nominated", Node: d.NominatedNode, Why: d.Message}, p)
		for _, v := range d.Preemption.Victims {
			if of := g.pods[v.Name]; of != nil && of.DeletionTimestamp == nil { // else it went with one before
				of.Status.Conditions = append(of.Status.Conditions, corev1.PodCondition{
					Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: corev1.PodReasonPreemptionByScheduler, LastTransitionTime: metav1.NewTime(g.time()),
				})
				g.leave(of, "preemption by "+p.full())
			}
		}
		return nil
	}
	if told {
		g.tell(Moment{What: "waits", Why: d.Message}, p)
	}
	if d.Preemption == nil || d.Preemption.Eligible {
		g.nominate(p, "")
	}
	p.seen = len(g.heard)
	return nil
}

// nominate changes the node that a pod is nominated to. Others of no higher priority hear of the
// room that it leaves.
func (g *game) nominate(p *pod, node string) {
	was := p.Status.NominatedNodeName
	if was == node {
		return
	}
	if was != "" {
		g.hear(heard{left: p.DeepCopy(), upTo: p.Spec.Priority})
	}
	p.Status.NominatedNodeName, g.changed = node, true
}

// bind puts a pod on its node, whose kubelet starts it.
func (g *game) bind(p *pod, node string) {
	if was := p.Status.NominatedNodeName; was != "" && was != node {
		g.hear(heard{left: p.DeepCopy(), upTo: p.Spec.Priority})
	}
	p.Spec.NodeName, p.Status.NominatedNodeName, g.changed = node, "", true
	g.hear(heard{came: p.Pod})
	g.tell(Moment{What: "bound", Node: node}, p)
	g.judgeTaints(p)
	g.kubelet(p)
}
