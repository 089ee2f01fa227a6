package enginetest

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Expr is one requirement of a node selector term.
func Expr(key string, op corev1.NodeSelectorOperator, values ...string) corev1.NodeSelectorRequirement {
	return corev1.NodeSelectorRequirement{Key: key, Operator: op, Values: values}
}

// FieldTerm is a node selector term of fields.
func FieldTerm(fields ...corev1.NodeSelectorRequirement) corev1.NodeSelectorTerm {
	return corev1.NodeSelectorTerm{MatchFields: fields}
}

func nodeAffinity(p *corev1.Pod) *corev1.NodeAffinity {
	if p.Spec.Affinity == nil {
		p.Spec.Affinity = &corev1.Affinity{}
	}
	if p.Spec.Affinity.NodeAffinity == nil {
		p.Spec.Affinity.NodeAffinity = &corev1.NodeAffinity{}
	}
	return p.Spec.Affinity.NodeAffinity
}

// RequireNodes sets the required node affinity: terms are alternatives.
func RequireNodes(terms ...corev1.NodeSelectorTerm) PodOption {
	return func(p *corev1.Pod) {
		nodeAffinity(p).RequiredDuringSchedulingIgnoredDuringExecution = &corev1.NodeSelector{NodeSelectorTerms: terms}
	}
}

// PreferNodes adds a preferred node affinity term.
func PreferNodes(weight int32, term corev1.NodeSelectorTerm) PodOption {
	return func(p *corev1.Pod) {
		a := nodeAffinity(p)
		a.PreferredDuringSchedulingIgnoredDuringExecution = append(a.PreferredDuringSchedulingIgnoredDuringExecution,
			corev1.PreferredSchedulingTerm{Weight: weight, Preference: term})
	}
}

// Match is a label selector of labels, given as key, value, key, value; without
// any it selects everything.
func Match(kv ...string) *metav1.LabelSelector {
	s := &metav1.LabelSelector{}
	for i := 0; i < len(kv); i += 2 {
		if s.MatchLabels == nil {
			s.MatchLabels = map[string]string{}
		}
		s.MatchLabels[kv[i]] = kv[i+1]
	}
	return s
}

// PodTerm is an inter-pod affinity term over the pod's own namespace.
func PodTerm(topologyKey string, sel *metav1.LabelSelector) corev1.PodAffinityTerm {
	return corev1.PodAffinityTerm{TopologyKey: topologyKey, LabelSelector: sel}
}

// Near adds required pod affinity.
func Near(t corev1.PodAffinityTerm) PodOption {
	return func(p *corev1.Pod) {
		a := podAffinity(p)
		a.RequiredDuringSchedulingIgnoredDuringExecution = append(a.RequiredDuringSchedulingIgnoredDuringExecution, t)
	}
}

// Away adds required pod anti-affinity.
func Away(t corev1.PodAffinityTerm) PodOption {
	return func(p *corev1.Pod) {
		a := podAntiAffinity(p)
		a.RequiredDuringSchedulingIgnoredDuringExecution = append(a.RequiredDuringSchedulingIgnoredDuringExecution, t)
	}
}

// PreferNear adds preferred pod affinity; a negative weight stands for
// anti-affinity of that weight.
func PreferNear(weight int32, t corev1.PodAffinityTerm) PodOption {
	return func(p *corev1.Pod) {
		if weight < 0 {
			a := podAntiAffinity(p)
			a.PreferredDuringSchedulingIgnoredDuringExecution = append(a.PreferredDuringSchedulingIgnoredDuringExecution,
				corev1.WeightedPodAffinityTerm{Weight: -weight, PodAffinityTerm: t})
			return
		}
		a := podAffinity(p)
		a.PreferredDuringSchedulingIgnoredDuringExecution = append(a.PreferredDuringSchedulingIgnoredDuringExecution,
			corev1.WeightedPodAffinityTerm{Weight: weight, PodAffinityTerm: t})
	}
}

func podAffinity(p *corev1.Pod) *corev1.PodAffinity {
	if p.Spec.Affinity == nil {
		p.Spec.Affinity = &corev1.Affinity{}
	}
	if p.Spec.Affinity.PodAffinity == nil {
		p.Spec.Affinity.PodAffinity = &corev1.PodAffinity{}
	}
	return p.Spec.Affinity.PodAffinity
}

func podAntiAffinity(p *corev1.Pod) *corev1.PodAntiAffinity {
	if p.Spec.Affinity == nil {
		p.Spec.Affinity = &corev1.Affinity{}
	}
	if p.Spec.Affinity.PodAntiAffinity == nil {
		p.Spec.Affinity.PodAntiAffinity = &corev1.PodAntiAffinity{}
	}
	return p.Spec.Affinity.PodAntiAffinity
}

// SpreadOption changes a spread constraint that is being built.
type SpreadOption func(*corev1.TopologySpreadConstraint)

// Spread adds a topology spread constraint.
func Spread(key string, maxSkew int32, when corev1.UnsatisfiableConstraintAction, sel *metav1.LabelSelector, opts ...SpreadOption) PodOption {
	return func(p *corev1.Pod) {
		c := corev1.TopologySpreadConstraint{TopologyKey: key, MaxSkew: maxSkew, WhenUnsatisfiable: when, LabelSelector: sel}
		for _, o := range opts {
			o(&c)
		}
		p.Spec.TopologySpreadConstraints = append(p.Spec.TopologySpreadConstraints, c)
	}
}

// MinDomains sets a constraint's minDomains.
func MinDomains(n int32) SpreadOption {
	return func(c *corev1.TopologySpreadConstraint) { c.MinDomains = &n }
}

// Policies sets a constraint's node inclusion policies.
func Policies(affinity, taints corev1.NodeInclusionPolicy) SpreadOption {
	return func(c *corev1.TopologySpreadConstraint) {
		c.NodeAffinityPolicy, c.NodeTaintsPolicy = &affinity, &taints
	}
}
