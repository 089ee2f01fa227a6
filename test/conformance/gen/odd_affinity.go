package gen

import (
	"slices"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var affinityMutators = []mutator{
	{"nodeAffinity", (*odd).oddNodeAffinity},
	{"podAffinity", (*odd).oddPodAffinity},
	{"namespaces", (*odd).namespaceLabels},
}

// Bounds of Gt and Lt. An apiserver takes the others too: a required term with one matches no node,
// a preferred one fails the cycle, and a configuration with one is refused.
var (
	integers = []string{"0", "1", "007", "9223372036854775807", "9223372036854775806"}
	bounds   = append([]string{"99999999999999999999", "1.0", ""}, integers...)
)

// matchedKeys are the labels that selectors and match label keys draw from; no pod has the last.
var matchedKeys = []string{"tier", "version", "app", "absent"}

// labelSelector draws up to four expressions over few values, so that they contradict or repeat one
// another, and values that are empty: a label of no value is not an absent one.
func (o *odd) labelSelector() *metav1.LabelSelector {
	switch o.IntN(10) {
	case 0:
		return nil
	case 1:
		return &metav1.LabelSelector{}
	case 2:
		return &metav1.LabelSelector{MatchLabels: map[string]string{"app": ""}}
	}
	s := &metav1.LabelSelector{}
	if o.chance(40) {
		s.MatchLabels = map[string]string{"app": pick(o.maker, apps...)}
		if o.chance(30) {
			s.MatchLabels["tier"] = pick(o.maker, tiers...)
		}
	}
	for range o.IntN(4) {
		e := metav1.LabelSelectorRequirement{
			Key:      pick(o.maker, "app", "tier", "version", "none"),
			Operator: pick(o.maker, metav1.LabelSelectorOpIn, metav1.LabelSelectorOpNotIn, metav1.LabelSelectorOpExists, metav1.LabelSelectorOpDoesNotExist),
		}
		if e.Operator == metav1.LabelSelectorOpIn || e.Operator == metav1.LabelSelectorOpNotIn {
			for range o.between(1, 4) {
				e.Values = append(e.Values, pick(o.maker, "web", "db", "a", "b", "1", "2", ""))
			}
		}
		s.MatchExpressions = append(s.MatchExpressions, e)
	}
	return s
}

// freeKeys returns the keys that a selector does not name, which validation lets stand beside it.
func freeKeys(s *metav1.LabelSelector) []string {
	return slices.DeleteFunc(slices.Clone(matchedKeys), func(k string) bool {
		_, named := s.MatchLabels[k]
		return named || slices.ContainsFunc(s.MatchExpressions, func(e metav1.LabelSelectorRequirement) bool { return e.Key == k })
	})
}

// boundedTerm draws a term of fields, expressions or both, or of nothing, which matches no node. Gt
// and Lt compare with the given bounds.
func (o *odd) boundedTerm(bounds []string) v1.NodeSelectorTerm {
	var t v1.NodeSelectorTerm
	if o.chance(8) {
		return t
	}
	if o.chance(35) {
		for range o.between(1, 2) {
			t.MatchFields = append(t.MatchFields, v1.NodeSelectorRequirement{
				Key:      "metadata.name",
				Operator: pick(o.maker, v1.NodeSelectorOpIn, v1.NodeSelectorOpIn, v1.NodeSelectorOpNotIn),
				Values:   []string{o.nodeName(15)},
			})
		}
		if o.chance(50) {
			return t
		}
	}
	for range o.between(1, 3) {
		r := v1.NodeSelectorRequirement{
			Key:      pick(o.maker, v1.LabelTopologyZone, "disk", "gen", "rack", "nowhere", v1.LabelHostname),
			Operator: pick(o.maker, v1.NodeSelectorOpIn, v1.NodeSelectorOpNotIn, v1.NodeSelectorOpExists, v1.NodeSelectorOpDoesNotExist, v1.NodeSelectorOpGt, v1.NodeSelectorOpLt),
		}
		switch r.Operator {
		case v1.NodeSelectorOpIn, v1.NodeSelectorOpNotIn:
			for range o.between(1, 3) {
				r.Values = append(r.Values, pick(o.maker, "z0", "z1", "ssd", "hdd", "k0", "k1", "", "n01", "n02", "1"))
			}
		case v1.NodeSelectorOpGt, v1.NodeSelectorOpLt:
			r.Key = pick(o.maker, "gen", "gen", "disk")
			r.Values = []string{pick(o.maker, bounds...)}
		}
		t.MatchExpressions = append(t.MatchExpressions, r)
	}
	return t
}

// oddNodeAffinity compares labels with bounds at the ends of 63 bits, with leading zeros and beyond
// them, repeats names of nodes in fields, and weighs terms that match every node or none.
func (o *odd) oddNodeAffinity() {
	for _, n := range o.nodes {
		if o.chance(60) {
			n.Labels["gen"] = pick(o.maker, "0", "1", "010", "9223372036854775807", "9223372036854775806", "9223372036854775808", "1.5", "abc", "")
		}
	}
	a := &v1.NodeAffinity{}
	if o.chance(70) {
		s := &v1.NodeSelector{}
		for range o.between(1, 4) {
			s.NodeSelectorTerms = append(s.NodeSelectorTerms, o.boundedTerm(bounds))
		}
		a.RequiredDuringSchedulingIgnoredDuringExecution = s
	}
	if o.chance(70) {
		for range o.between(1, 5) {
			a.PreferredDuringSchedulingIgnoredDuringExecution = append(a.PreferredDuringSchedulingIgnoredDuringExecution,
				v1.PreferredSchedulingTerm{Weight: int32(pick(o.maker, 1, 1, 50, 50, 99, 100)), Preference: o.boundedTerm(integers)})
		}
	}
	affinityOf(o.incoming).NodeAffinity = a
}

// affinityOf returns a pod's affinity, so that it can be changed.
func affinityOf(p *v1.Pod) *v1.Affinity {
	if p.Spec.Affinity == nil {
		p.Spec.Affinity = &v1.Affinity{}
	}
	return p.Spec.Affinity
}

// oddKey draws topology keys that few nodes have, or that make a domain of each value of a label.
func (o *odd) oddKey() string {
	return pick(o.maker, v1.LabelTopologyZone, v1.LabelTopologyZone, v1.LabelHostname, v1.LabelTopologyRegion, "disk", "rack", "gen")
}

// podTerm draws namespaces twice, by name and by labels, and match label keys of both kinds.
func (o *odd) podTerm() v1.PodAffinityTerm {
	t := v1.PodAffinityTerm{TopologyKey: o.oddKey(), LabelSelector: o.labelSelector()}
	switch o.IntN(6) {
	case 0:
		t.Namespaces = []string{pick(o.maker, "default", "team", "ops", "ghost"), pick(o.maker, "default", "team", "ops")}
	case 1:
		t.NamespaceSelector = &metav1.LabelSelector{}
	case 2, 3:
		e := metav1.LabelSelectorRequirement{
			Key:      pick(o.maker, "env", "team", "empty", v1.LabelMetadataName),
			Operator: pick(o.maker, metav1.LabelSelectorOpExists, metav1.LabelSelectorOpDoesNotExist),
		}
		if o.chance(50) {
			e.Operator = pick(o.maker, metav1.LabelSelectorOpIn, metav1.LabelSelectorOpNotIn)
			e.Values = []string{pick(o.maker, "prod", "default", ""), pick(o.maker, "dev", "team")}
		}
		t.NamespaceSelector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{e}}
		if o.chance(40) {
			t.Namespaces = []string{pick(o.maker, "team", "ops", "default")}
		}
	}
	if t.LabelSelector != nil && o.chance(45) {
		for _, k := range freeKeys(t.LabelSelector) {
			switch o.IntN(4) {
			case 0:
				t.MatchLabelKeys = append(t.MatchLabelKeys, k)
			case 1:
				t.MismatchLabelKeys = append(t.MismatchLabelKeys, k)
			}
		}
	}
	return t
}

// oddPodAffinity draws up to three required and four preferred terms of each kind, for pods on
// nodes too: some are empty lists, some contradict one another, and weights add up.
func (o *odd) oddPodAffinity() {
	required := func() (out []v1.PodAffinityTerm) {
		for range o.IntN(4) {
			out = append(out, o.podTerm())
		}
		return out
	}
	preferred := func() (out []v1.WeightedPodAffinityTerm) {
		for range o.IntN(5) {
			out = append(out, v1.WeightedPodAffinityTerm{Weight: int32(pick(o.maker, 1, 50, 50, 100)), PodAffinityTerm: o.podTerm()})
		}
		return out
	}
	o.pods(40, func(p *v1.Pod) {
		a := affinityOf(p)
		a.PodAffinity, a.PodAntiAffinity = nil, nil
		if o.chance(60) {
			a.PodAffinity = &v1.PodAffinity{PreferredDuringSchedulingIgnoredDuringExecution: preferred()}
			if o.chance(50) {
				a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution = required()
			}
		}
		if o.chance(60) {
			a.PodAntiAffinity = &v1.PodAntiAffinity{PreferredDuringSchedulingIgnoredDuringExecution: preferred()}
			if o.chance(40) {
				a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution = required()
			}
		}
	})
}

// namespaceLabels gives namespaces labels without a value, and another's name as the label that
// bears their own, under terms that select by these.
func (o *odd) namespaceLabels() {
	for _, object := range o.objs {
		ns, ok := object.(*v1.Namespace)
		if !ok {
			continue
		}
		ns.Labels = map[string]string{}
		for _, k := range []string{"env", "team", "empty"} {
			if o.chance(50) {
				ns.Labels[k] = pick(o.maker, "prod", "dev", "")
			}
		}
		if o.chance(30) {
			ns.Labels[v1.LabelMetadataName] = pick(o.maker, "other", ns.Name)
		}
	}
	o.oddPodAffinity()
}
