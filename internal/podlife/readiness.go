package podlife

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// gatedCondition is what a pod with gates is created with
// (strategy.go applySchedulingGatedCondition).
func gatedCondition(now metav1.Time) corev1.PodCondition {
	return corev1.PodCondition{
		Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonSchedulingGated,
		Message: "Scheduling is blocked due to non-empty scheduling gates", LastTransitionTime: now,
	}
}

// CreatedConditions returns the conditions that a pod is created with: those that it
// comes with, or that it is gated (strategy.go applySchedulingGatedCondition).
func CreatedConditions(p *corev1.Pod, now time.Time) []corev1.PodCondition {
	if len(p.Spec.SchedulingGates) == 0 {
		return p.Status.Conditions
	}
	return []corev1.PodCondition{gatedCondition(metav1.NewTime(now.UTC().Truncate(time.Second)))}
}

// checkGates judges the gates of a pod by themselves
// (pkg/apis/core/validation validateSchedulingGates).
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

// checkGatesOnlyGo lets gates go, in any order, and none come
// (validateOnlyDeletedSchedulingGates). Of a new name that is there twice the
// last place is told.
func checkGatesOnlyGo(gates, old []corev1.PodSchedulingGate, path *field.Path) (errs field.ErrorList) {
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

// tighten judges what may change in the directives of a pod that had gates, and
// returns the spec with these directives as they were, so that whatever else
// differs stands out. The spec is the caller's own
// (ValidatePodUpdate, its part for gated pods).
func tighten(s, old *corev1.PodSpec, path *field.Path) (errs field.ErrorList) {
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
	errs = append(errs, tightenNodeAffinity(is, was, path.Child("affinity", "nodeAffinity"))...)
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

// tightenNodeAffinity lets required terms come where there were none, and each
// gain requirements behind those that it had. Preferred terms are free
// (validateNodeAffinityMutation).
func tightenNodeAffinity(now, old *corev1.NodeAffinity, path *field.Path) (errs field.ErrorList) {
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
		if !gainsOnly(are[i], were[i]) {
			errs = append(errs, field.Invalid(at.Index(i), shownTerm(are[i]), "only additions are allowed (no mutations or deletions)"))
		}
	}
	return errs
}

// gainsOnly reports whether a term has everything in front that it had. One that was
// empty, and so matched nothing, stays empty
// (validateNodeSelectorTermHasOnlyAdditions).
func gainsOnly(now, old corev1.NodeSelectorTerm) bool {
	if len(old.MatchExpressions) == 0 && len(old.MatchFields) == 0 {
		return len(now.MatchExpressions) == 0 && len(now.MatchFields) == 0
	}
	begins := func(now, old []corev1.NodeSelectorRequirement) bool {
		return len(now) >= len(old) && apiequality.Semantic.DeepEqual(now[:len(old)], old)
	}
	return (len(old.MatchExpressions) == 0 || begins(now.MatchExpressions, old.MatchExpressions)) &&
		(len(old.MatchFields) == 0 || begins(now.MatchFields, old.MatchFields))
}
