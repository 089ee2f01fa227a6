package gen

import (
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func (m *maker) nodeRequirement() v1.NodeSelectorRequirement {
	r := v1.NodeSelectorRequirement{Key: pick(m, v1.LabelTopologyZone, "disk", "gen", "rack", "nowhere")}
	r.Operator = pick(m, v1.NodeSelectorOpIn, v1.NodeSelectorOpIn, v1.NodeSelectorOpNotIn, v1.NodeSelectorOpExists, v1.NodeSelectorOpDoesNotExist, v1.NodeSelectorOpGt, v1.NodeSelectorOpLt)
	switch r.Operator {
	case v1.NodeSelectorOpIn, v1.NodeSelectorOpNotIn:
		r.Values = []string{pick(m, "z0", "z1", "z2"), pick(m, "ssd", "hdd"), pick(m, "1", "2", "10", "x"), pick(m, "k0", "k1", "k2")}
		if m.chance(30) {
			r.Values = r.Values[:1]
		}
	case v1.NodeSelectorOpGt, v1.NodeSelectorOpLt:
		r.Key = "gen"
		r.Values = []string{pick(m, "0", "1", "4", "007")}
	}
	return r
}

func (m *maker) nodeTerm() v1.NodeSelectorTerm {
	var t v1.NodeSelectorTerm
	if m.chance(6) {
		return t
	}
	for range pick(m, 1, 1, 1, 2) {
		t.MatchExpressions = append(t.MatchExpressions, m.nodeRequirement())
	}
	return t
}

func (m *maker) byName(t *v1.NodeSelectorTerm) {
	var names []string
	for range m.between(1, 3) {
		if len(m.nodes) == 0 || m.chance(15) {
			names = append(names, "nobody")
		} else {
			names = append(names, m.nodes[m.IntN(len(m.nodes))].Name)
		}
	}
	// The API allows one value in a matchFields requirement.
	t.MatchFields = []v1.NodeSelectorRequirement{{Key: "metadata.name", Operator: pick(m, v1.NodeSelectorOpIn, v1.NodeSelectorOpIn, v1.NodeSelectorOpIn, v1.NodeSelectorOpNotIn), Values: names[:1]}}
}

func (m *maker) nodeAffinity() *v1.NodeAffinity {
	a := &v1.NodeAffinity{}
	if m.on["matchFields"] {
		s := &v1.NodeSelector{}
		for range m.between(1, 3) {
			var t v1.NodeSelectorTerm
			if m.chance(30) {
				t = m.nodeTerm()
			}
			if m.chance(90) {
				m.byName(&t)
			}
			s.NodeSelectorTerms = append(s.NodeSelectorTerms, t)
		}
		a.RequiredDuringSchedulingIgnoredDuringExecution = s
	} else if m.chance(50) {
		s := &v1.NodeSelector{}
		for range m.between(1, 3) {
			s.NodeSelectorTerms = append(s.NodeSelectorTerms, m.nodeTerm())
		}
		a.RequiredDuringSchedulingIgnoredDuringExecution = s
	}
	if m.chance(65) {
		for range m.between(1, 3) {
			a.PreferredDuringSchedulingIgnoredDuringExecution = append(a.PreferredDuringSchedulingIgnoredDuringExecution,
				v1.PreferredSchedulingTerm{Weight: int32(m.between(1, 100)), Preference: m.nodeTerm()})
		}
	}
	return a
}

func (m *maker) tolerations() []v1.Toleration {
	var out []v1.Toleration
	for range m.IntN(4) {
		t := v1.Toleration{Key: pick(m, "dedicated", "spot", "broken"), Effect: pick(m, v1.TaintEffect(""), v1.TaintEffectNoSchedule, v1.TaintEffectPreferNoSchedule, v1.TaintEffectNoExecute)}
		switch m.IntN(3) {
		case 0:
			t.Operator = v1.TolerationOpExists
		case 1:
			t.Operator, t.Value = v1.TolerationOpEqual, pick(m, "a", "b")
		case 2:
			t.Value = pick(m, "", "a", "b")
		}
		out = append(out, t)
	}
	if m.chance(10) {
		out = append(out, v1.Toleration{Operator: v1.TolerationOpExists})
	}
	if m.chance(15) {
		out = append(out, v1.Toleration{Key: v1.TaintNodeUnschedulable, Operator: v1.TolerationOpExists, Effect: v1.TaintEffectNoSchedule})
	}
	return out
}

func (m *maker) affinityTerm() v1.PodAffinityTerm {
	t := v1.PodAffinityTerm{TopologyKey: m.topologyKey(), LabelSelector: m.selector()}
	switch m.IntN(6) {
	case 0:
		t.Namespaces = []string{pick(m, "default", "team", "ops")}
	case 1:
		t.NamespaceSelector = &metav1.LabelSelector{}
	case 2:
		t.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"env": pick(m, "prod", "dev")}}
		if m.chance(40) {
			t.Namespaces = []string{"team"}
		}
	}
	if t.LabelSelector != nil && m.chance(25) {
		// A key may stand in only one of the lists and not in the selector too.
		if m.chance(50) {
			t.MatchLabelKeys = []string{pick(m, "version", "absent")}
		} else {
			t.MismatchLabelKeys = []string{"version"}
		}
		t.LabelSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": pick(m, apps...)}}
	}
	return t
}

// podAffinity draws any of the four kinds.
func (m *maker) podAffinity(a *v1.Affinity) {
	weighted := func() []v1.WeightedPodAffinityTerm {
		var out []v1.WeightedPodAffinityTerm
		for range m.between(1, 2) {
			out = append(out, v1.WeightedPodAffinityTerm{Weight: int32(m.between(1, 100)), PodAffinityTerm: m.affinityTerm()})
		}
		return out
	}
	if m.chance(50) {
		a.PodAffinity = &v1.PodAffinity{}
		if m.chance(45) {
			for range pick(m, 1, 1, 2) {
				a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution = append(a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution, m.affinityTerm())
			}
		}
		if m.chance(60) {
			a.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution = weighted()
		}
	}
	if m.chance(55) {
		a.PodAntiAffinity = &v1.PodAntiAffinity{}
		if m.chance(50) {
			for range pick(m, 1, 1, 2) {
				a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution = append(a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution, m.affinityTerm())
			}
		}
		if m.chance(60) {
			a.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution = weighted()
		}
	}
}

func (m *maker) spread() []v1.TopologySpreadConstraint {
	var out []v1.TopologySpreadConstraint
	seen := map[string]bool{}
	for range m.between(1, 3) {
		c := v1.TopologySpreadConstraint{MaxSkew: int32(pick(m, 1, 1, 1, 2, 3)), TopologyKey: m.spreadKey(), WhenUnsatisfiable: pick(m, v1.DoNotSchedule, v1.ScheduleAnyway), LabelSelector: m.selector()}
		if id := c.TopologyKey + string(c.WhenUnsatisfiable); seen[id] {
			continue
		} else {
			seen[id] = true
		}
		if c.WhenUnsatisfiable == v1.DoNotSchedule && m.chance(30) {
			n := int32(m.between(1, 4))
			c.MinDomains = &n
		}
		policies := []v1.NodeInclusionPolicy{v1.NodeInclusionPolicyHonor, v1.NodeInclusionPolicyIgnore}
		if m.chance(35) {
			p := pick(m, policies...)
			c.NodeAffinityPolicy = &p
		}
		if m.chance(35) {
			p := pick(m, policies...)
			c.NodeTaintsPolicy = &p
		}
		if c.LabelSelector != nil && m.chance(25) {
			c.LabelSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": pick(m, apps...)}}
			c.MatchLabelKeys = []string{pick(m, "version", "absent")}
		}
		out = append(out, c)
	}
	return out
}
