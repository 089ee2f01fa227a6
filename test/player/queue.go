package player

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// heard is something that may help pods that wait: all of them, those up to a priority, those that
// count on tainted nodes, or those that a pod which was bound may help.
type heard struct {
	upTo    *int32
	tainted bool
	bound   *pod
}

func (g *game) hear(h heard) { g.heard = append(g.heard, h) }

// helped reports whether something happened since a pod's last attempt that may help it.
func (g *game) helped(p *pod) bool {
	for _, h := range g.heard[p.seen:] {
		switch {
		case h.upTo != nil && *p.Spec.Priority > *h.upTo:
		case h.tainted && !slices.ContainsFunc(p.Spec.TopologySpreadConstraints, honors):
		case h.bound != nil && !hint(p, h.bound):
		default:
			return true
		}
	}
	return false
}

func honors(c corev1.TopologySpreadConstraint) bool {
	return c.WhenUnsatisfiable == corev1.DoNotSchedule && c.NodeTaintsPolicy != nil && *c.NodeTaintsPolicy == corev1.NodeInclusionPolicyHonor
}

// hint reports whether a pod that was bound may help another one: by a hard spread constraint that
// counts it (podtopologyspread/plugin.go isSchedulableAfterPodChange), or by required affinity
// terms that all match it (interpodaffinity/plugin.go isSchedulableAfterPodChange).
func hint(p, bound *pod) bool {
	matches := func(s *metav1.LabelSelector) bool {
		of, err := metav1.LabelSelectorAsSelector(s)
		return err == nil && of.Matches(labels.Set(bound.Labels))
	}
	for _, c := range p.Spec.TopologySpreadConstraints {
		if c.WhenUnsatisfiable == corev1.DoNotSchedule && matches(c.LabelSelector) {
			return true
		}
	}
	a := p.Spec.Affinity
	if a == nil || a.PodAffinity == nil || len(a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution) == 0 {
		return false
	}
	for _, t := range a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
		if !matches(t.LabelSelector) {
			return false
		}
	}
	return true
}

// schedule tries the pods that wait until nothing could help one: higher priority first, then who
// came or failed last earlier. Who fails waits until all others had their turn.
func (g *game) schedule() error {
	for {
		var turn []*pod
		for _, p := range g.pods {
			if p.waits() && len(p.Spec.SchedulingGates) == 0 && (!p.failed || g.helped(p)) {
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
	var d decision
	err := g.client.call("POST", "/v1/decisions", map[string]any{
		"snapshot": g.snapshot, "podRef": podName{p.Namespace, p.Name}, "dryRun": true, "explain": "none", "now": g.time(),
	}, &d)
	if err != nil {
		return err
	}
	g.orders++
	p.failed, p.order = true, g.orders
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
			if of := g.pods[v.Name]; of.DeletionTimestamp == nil {
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
	if was := p.Status.NominatedNodeName; was != "" && was != node {
		g.hear(heard{upTo: p.Spec.Priority})
	}
	p.Status.NominatedNodeName, g.changed = node, true
}

// bind puts a pod on its node, whose kubelet starts it.
func (g *game) bind(p *pod, node string) {
	if was := p.Status.NominatedNodeName; was != "" && was != node {
		g.hear(heard{upTo: p.Spec.Priority})
	}
	p.Spec.NodeName, p.Status.NominatedNodeName, g.changed = node, "", true
	g.hear(heard{bound: p})
	g.tell(Moment{What: "bound", Node: node}, p)
	g.judgeTaints(p)
	g.kubelet(p)
}
