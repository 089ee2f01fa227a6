package stored

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// GatedCondition returns the condition that a pod with gates is created with (upstream
// pkg/registry/core/pod/strategy.go, applySchedulingGatedCondition).
func GatedCondition(now metav1.Time) corev1.PodCondition {
	return corev1.PodCondition{
		Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonSchedulingGated,
		Message: "Scheduling is blocked due to non-empty scheduling gates", LastTransitionTime: now,
	}
}

// checkGates validates the scheduling gates of a pod (upstream pkg/apis/core/validation,
// validateSchedulingGates).
func checkGates(gates []corev1.PodSchedulingGate, path *field.Path) (errs field.ErrorList) {
	seen := make(map[string]bool, len(gates))
	for i, g := range gates {
		errs = append(errs, checkQualified(g.Name, path.Index(i))...)
		if seen[g.Name] {
			errs = append(errs, field.Duplicate(path.Index(i), g.Name))
		}
		seen[g.Name] = true
	}
	return errs
}

// checkGatesOnlyRemoved refuses gates that the old pod does not have (upstream
// validateOnlyDeletedSchedulingGates). The error for a new name names its last index.
func checkGatesOnlyRemoved(gates, old []corev1.PodSchedulingGate, path *field.Path) (errs field.ErrorList) {
	had, last := make(map[string]bool, len(old)), make(map[string]int, len(gates))
	for _, g := range old {
		had[g.Name] = true
	}
	for i, g := range gates {
		last[g.Name] = i
	}
	for i, g := range gates {
		if !had[g.Name] && last[g.Name] == i {
			errs = append(errs, field.Forbidden(path.Index(i).Child("name"), fmt.Sprintf("only deletion is allowed, but found new scheduling gate '%s'", g.Name)))
		}
	}
	return errs
}

// checkDirectives validates how the node selector and node affinity of a gated pod change, and
// resets them in s to those of the old pod, so that s then differs only by other changes. The
// caller owns s (upstream ValidatePodUpdate, the part for gated pods).
func checkDirectives(s, old *corev1.PodSpec, path *field.Path) (errs field.ErrorList) {
	if !apiequality.Semantic.DeepEqual(s.NodeSelector, old.NodeSelector) {
		for k, v := range old.NodeSelector {
			if now, ok := s.NodeSelector[k]; !ok || now != v {
				errs = append(errs, field.Invalid(path.Child("nodeSelector"), s.NodeSelector, "only additions to spec.nodeSelector are allowed (no mutations or deletions)"))
				break
			}
		}
		s.NodeSelector = old.NodeSelector
	}
	was, is := nodeAffinity(old), nodeAffinity(s)
	if apiequality.Semantic.DeepEqual(was, is) {
		return errs
	}
	errs = append(errs, checkNodeAffinityUpdate(is, was, path.Child("affinity", "nodeAffinity"))...)
	switch a := s.Affinity; {
	case a == nil && was != nil:
		s.Affinity = &corev1.Affinity{NodeAffinity: was}
	case a != nil && old.Affinity == nil && a.PodAffinity == nil && a.PodAntiAffinity == nil:
		s.Affinity = nil
	case a != nil:
		a.NodeAffinity = was
	}
	return errs
}

func nodeAffinity(s *corev1.PodSpec) *corev1.NodeAffinity {
	if s.Affinity == nil {
		return nil
	}
	return s.Affinity.NodeAffinity
}

// checkNodeAffinityUpdate allows required terms if the old pod has none, and allows requirements to
// be appended to each term. Preferred terms may change (upstream validateNodeAffinityMutation).
func checkNodeAffinityUpdate(now, old *corev1.NodeAffinity, path *field.Path) (errs field.ErrorList) {
	if old == nil || old.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return nil
	}
	at := path.Child("requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms")
	were := old.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
	var are []corev1.NodeSelectorTerm
	if now != nil && now.RequiredDuringSchedulingIgnoredDuringExecution != nil {
		are = now.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
	}
	if len(were) > 0 && len(were) != len(are) {
		return field.ErrorList{field.Invalid(at, shownTerms(are), "no additions/deletions to non-empty NodeSelectorTerms list are allowed")}
	}
	for i := range were {
		if !hasOnlyAdditions(are[i], were[i]) {
			errs = append(errs, field.Invalid(at.Index(i), shownTerm(are[i]), "only additions are allowed (no mutations or deletions)"))
		}
	}
	return errs
}

// hasOnlyAdditions reports whether a term begins with the requirements of the old term. An empty
// term, which matches nothing, has to stay empty (upstream
// validateNodeSelectorTermHasOnlyAdditions).
func hasOnlyAdditions(now, old corev1.NodeSelectorTerm) bool {
	if len(old.MatchExpressions) == 0 && len(old.MatchFields) == 0 {
		return len(now.MatchExpressions) == 0 && len(now.MatchFields) == 0
	}
	begins := func(now, old []corev1.NodeSelectorRequirement) bool {
		return len(now) >= len(old) && apiequality.Semantic.DeepEqual(now[:len(old)], old)
	}
	return (len(old.MatchExpressions) == 0 || begins(now.MatchExpressions, old.MatchExpressions)) &&
		(len(old.MatchFields) == 0 || begins(now.MatchFields, old.MatchFields))
}
