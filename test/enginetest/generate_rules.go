package enginetest

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// requirement draws a node selector requirement, now and then one that does not
// parse.
func (g *generator) requirement() corev1.NodeSelectorRequirement {
	switch g.r.IntN(9) {
	case 0:
		return Expr("disk", corev1.NodeSelectorOpIn, "ssd", "nvme")
	case 1:
		return Expr("disk", corev1.NodeSelectorOpNotIn, g.of("ssd", "hdd"))
	case 2:
		return Expr(g.of("disk", "rack", "cores"), corev1.NodeSelectorOpExists)
	case 3:
		return Expr(g.of("disk", "rack"), corev1.NodeSelectorOpDoesNotExist)
	case 4:
		return Expr("cores", corev1.NodeSelectorOpGt, g.of("4", "-5", "8"))
	case 5:
		return Expr("cores", corev1.NodeSelectorOpLt, g.of("9", "16"))
	case 6:
		return Expr(corev1.LabelTopologyZone, corev1.NodeSelectorOpIn, g.of("z1", "z2"), "z3")
	case 7:
		if g.in(3) {
			return Expr("cores", corev1.NodeSelectorOpGt, "many") // does not parse
		}
		return Expr("rack", corev1.NodeSelectorOpNotIn, "a", "b")
	default:
		return Expr("rack", corev1.NodeSelectorOpIn, g.of("a", "b"), g.of("c", "d"))
	}
}

func (g *generator) term() corev1.NodeSelectorTerm {
	var t corev1.NodeSelectorTerm
	for range g.r.IntN(3) {
		t.MatchExpressions = append(t.MatchExpressions, g.requirement())
	}
	if g.in(4) {
		t.MatchFields = append(t.MatchFields, g.field())
	}
	return t
}

func (g *generator) field() corev1.NodeSelectorRequirement {
	return Expr("metadata.name", corev1.NodeSelectorOperator(g.of("In", "In", "NotIn")), g.aNode())
}

func (g *generator) nodeAffinity(p *corev1.Pod) {
	if g.in(4) {
		Selects("disk", g.of("ssd", "hdd"))(p)
	}
	switch g.r.IntN(6) {
	case 0: // every term names nodes, which narrows
		var terms []corev1.NodeSelectorTerm
		for range 1 + g.r.IntN(3) {
			t := FieldTerm(Expr("metadata.name", corev1.NodeSelectorOpIn, g.aNode()))
			if g.in(4) {
				t.MatchFields = append(t.MatchFields, Expr("metadata.name", corev1.NodeSelectorOpIn, g.aNode()))
			}
			if g.in(3) {
				t.MatchExpressions = append(t.MatchExpressions, g.requirement())
			}
			terms = append(terms, t)
		}
		RequireNodes(terms...)(p)
	case 1, 2:
		var terms []corev1.NodeSelectorTerm
		for range 1 + g.r.IntN(3) {
			terms = append(terms, g.term())
		}
		RequireNodes(terms...)(p)
	}
	for g.in(2) {
		PreferNodes(int32(1+g.r.IntN(100)), g.term())(p)
	}
}

// podSelector draws a label selector over pods, nil and empty ones included.
func (g *generator) podSelector() *metav1.LabelSelector {
	one := func() metav1.LabelSelectorRequirement {
		switch g.r.IntN(4) {
		case 0:
			return metav1.LabelSelectorRequirement{Key: "tier", Operator: metav1.LabelSelectorOpIn, Values: []string{"front", "back"}}
		case 1:
			return metav1.LabelSelectorRequirement{Key: "app", Operator: metav1.LabelSelectorOpNotIn, Values: []string{g.of("a", "b")}}
		case 2:
			return metav1.LabelSelectorRequirement{Key: g.of("app", "rev"), Operator: metav1.LabelSelectorOpExists}
		default:
			return metav1.LabelSelectorRequirement{Key: "rev", Operator: metav1.LabelSelectorOpDoesNotExist}
		}
	}
	switch g.r.IntN(10) {
	case 0:
		return nil
	case 1:
		return &metav1.LabelSelector{}
	case 2, 3:
		return &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{one()}}
	case 4:
		return &metav1.LabelSelector{MatchLabels: map[string]string{"app": g.of("a", "b", "c")}, MatchExpressions: []metav1.LabelSelectorRequirement{one()}}
	default:
		return Match("app", g.of("a", "b", "c"))
	}
}

func (g *generator) topologyKey() string {
	return g.of(corev1.LabelHostname, corev1.LabelTopologyZone, corev1.LabelTopologyZone, corev1.LabelTopologyRegion, "rack", "nowhere")
}

func (g *generator) podTerm() corev1.PodAffinityTerm {
	t := PodTerm(g.topologyKey(), g.podSelector())
	switch g.r.IntN(8) {
	case 0:
		t.Namespaces = []string{g.of("default", "dev"), g.of("prod", "ghost")}
	case 1:
		t.NamespaceSelector = &metav1.LabelSelector{}
	case 2:
		t.NamespaceSelector = Match("team", g.of("red", "blue"))
	case 3:
		t.Namespaces = []string{g.of("default", "dev")}
		t.NamespaceSelector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
			{Key: "team", Operator: metav1.LabelSelectorOperator(g.of("Exists", "DoesNotExist"))},
		}}
	}
	return t
}

// interPod adds inter-pod affinity terms of all kinds; a higher number makes
// required ones rarer.
func (g *generator) interPod(p *corev1.Pod, rare int) {
	if g.in(3 * rare) {
		for range 1 + g.r.IntN(2) {
			Near(g.podTerm())(p)
		}
	}
	if g.in(3 * rare) {
		for range 1 + g.r.IntN(2) {
			Away(g.podTerm())(p)
		}
	}
	for g.in(2) {
		weight := int32(1 + g.r.IntN(100))
		if g.in(2) {
			weight = -weight
		}
		PreferNear(weight, g.podTerm())(p)
	}
}

func (g *generator) spread(p *corev1.Pod) {
	for range 1 + g.r.IntN(3) {
		when := corev1.UnsatisfiableConstraintAction(g.of("DoNotSchedule", "ScheduleAnyway"))
		var opts []SpreadOption
		if when == corev1.DoNotSchedule && g.in(4) {
			opts = append(opts, MinDomains(int32(1+g.r.IntN(4))))
		}
		if g.in(3) {
			opts = append(opts, Policies(corev1.NodeInclusionPolicy(g.of("Honor", "Ignore")), corev1.NodeInclusionPolicy(g.of("Honor", "Ignore"))))
		}
		if g.in(4) {
			opts = append(opts, func(c *corev1.TopologySpreadConstraint) { c.MatchLabelKeys = []string{"rev", "pod-template-hash"} })
		}
		Spread(g.topologyKey(), int32(1+g.r.IntN(3)), when, g.podSelector(), opts...)(p)
	}
}
