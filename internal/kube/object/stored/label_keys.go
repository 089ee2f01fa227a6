package stored

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// MergeLabelKeys adds to label selectors the requirements that matchLabelKeys and mismatchLabelKeys
// stand for (upstream pkg/registry/core/pod/strategy.go, mutatePodAffinity and
// mutateTopologySpreadConstraints). An API server does so on create only. With stored, the pod may
// have been through that, and a requirement that its selector has already is not added again.
func MergeLabelKeys(p *corev1.Pod, stored bool) {
	merge := func(sel *metav1.LabelSelector, keys []string, op metav1.LabelSelectorOperator) {
		if sel == nil {
			return
		}
		for _, key := range keys {
			value, ok := p.Labels[key]
			if !ok || stored && slices.ContainsFunc(sel.MatchExpressions, func(r metav1.LabelSelectorRequirement) bool {
				return r.Key == key && r.Operator == op && len(r.Values) == 1 && r.Values[0] == value
			}) {
				continue
			}
			sel.MatchExpressions = append(sel.MatchExpressions, metav1.LabelSelectorRequirement{Key: key, Operator: op, Values: []string{value}})
		}
	}
	eachPodTerm(p.Spec.Affinity, func(t *corev1.PodAffinityTerm) {
		merge(t.LabelSelector, t.MatchLabelKeys, metav1.LabelSelectorOpIn)
		merge(t.LabelSelector, t.MismatchLabelKeys, metav1.LabelSelectorOpNotIn)
	})
	for i := range p.Spec.TopologySpreadConstraints {
		c := &p.Spec.TopologySpreadConstraints[i]
		merge(c.LabelSelector, c.MatchLabelKeys, metav1.LabelSelectorOpIn)
	}
}

// eachPodTerm calls f for each term of pod affinity and anti-affinity.
func eachPodTerm(a *corev1.Affinity, f func(*corev1.PodAffinityTerm)) {
	visit := func(required []corev1.PodAffinityTerm, preferred []corev1.WeightedPodAffinityTerm) {
		for i := range required {
			f(&required[i])
		}
		for i := range preferred {
			f(&preferred[i].PodAffinityTerm)
		}
	}
	if a != nil && a.PodAffinity != nil {
		visit(a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution, a.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	if a != nil && a.PodAntiAffinity != nil {
		visit(a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution, a.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution)
	}
}
