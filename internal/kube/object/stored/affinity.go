package stored

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const (
	required  = "requiredDuringSchedulingIgnoredDuringExecution"
	preferred = "preferredDuringSchedulingIgnoredDuringExecution"
)

// checkAffinity is validateAffinity.
func checkAffinity(a *corev1.Affinity, path *field.Path) (errs field.ErrorList) {
	if a == nil {
		return nil
	}
	if n := a.NodeAffinity; n != nil {
		at := path.Child("nodeAffinity")
		if s := n.RequiredDuringSchedulingIgnoredDuringExecution; s != nil {
			errs = append(errs, checkNodeSelector(s, at.Child(required))...)
		}
		for i, t := range n.PreferredDuringSchedulingIgnoredDuringExecution {
			errs = append(errs, checkWeight(t.Weight, at.Child(preferred).Index(i))...)
			errs = append(errs, checkNodeTerm(t.Preference, true, at.Child(preferred).Index(i).Child("preference"))...)
		}
	}
	pods := func(r []corev1.PodAffinityTerm, p []corev1.WeightedPodAffinityTerm, at *field.Path) {
		for i := range r {
			errs = append(errs, checkPodTerm(&r[i], at.Child(required).Index(i))...)
		}
		for i := range p {
			errs = append(errs, checkWeight(p[i].Weight, at.Child(preferred).Index(i))...)
			errs = append(errs, checkPodTerm(&p[i].PodAffinityTerm, at.Child(preferred).Index(i).Child("podAffinityTerm"))...)
		}
	}
	if p := a.PodAffinity; p != nil {
		pods(p.RequiredDuringSchedulingIgnoredDuringExecution, p.PreferredDuringSchedulingIgnoredDuringExecution, path.Child("podAffinity"))
	}
	if p := a.PodAntiAffinity; p != nil {
		pods(p.RequiredDuringSchedulingIgnoredDuringExecution, p.PreferredDuringSchedulingIgnoredDuringExecution, path.Child("podAntiAffinity"))
	}
	return errs
}

// validateNodeSelector returns what an API server refuses in a node selector, such as that of a
// PersistentVolume. nil passes.
func validateNodeSelector(s *corev1.NodeSelector, path *field.Path) field.ErrorList {
	if s == nil {
		return nil
	}
	return checkNodeSelector(s, path)
}

func checkNodeSelector(s *corev1.NodeSelector, path *field.Path) (errs field.ErrorList) {
	terms := path.Child("nodeSelectorTerms")
	if len(s.NodeSelectorTerms) == 0 {
		return field.ErrorList{field.Required(terms, "must have at least one node selector term")}
	}
	for i, t := range s.NodeSelectorTerms {
		errs = append(errs, checkNodeTerm(t, false, terms.Index(i))...)
	}
	return errs
}

func checkWeight(w int32, path *field.Path) field.ErrorList {
	if w > 0 && w <= 100 {
		return nil
	}
	return field.ErrorList{field.Invalid(path.Child("weight"), w, "must be in the range 1-100")}
}

// checkNodeTerm is ValidateNodeSelectorTerm. With anyValue, values pass that no label can have, as
// in preferred terms. Upstream does not check that Gt and Lt have an integer: the scheduler drops
// such a term.
func checkNodeTerm(t corev1.NodeSelectorTerm, anyValue bool, path *field.Path) (errs field.ErrorList) {
	for i, r := range t.MatchExpressions {
		at := path.Child("matchExpressions").Index(i)
		values := at.Child("values")
		switch r.Operator {
		case corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn:
			if len(r.Values) == 0 {
				errs = append(errs, field.Required(values, "must be specified when `operator` is 'In' or 'NotIn'"))
			}
		case corev1.NodeSelectorOpExists, corev1.NodeSelectorOpDoesNotExist:
			if len(r.Values) > 0 {
				errs = append(errs, field.Forbidden(values, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"))
			}
		case corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt:
			if len(r.Values) != 1 {
				errs = append(errs, field.Required(values, "must be specified single value when `operator` is 'Lt' or 'Gt'"))
			}
		default:
			errs = append(errs, field.Invalid(at.Child("operator"), r.Operator, "not a valid selector operator"))
		}
		errs = append(errs, metavalidation.ValidateLabelName(r.Key, at.Child("key"))...)
		for j, v := range r.Values {
			if anyValue {
				break
			}
			for _, msg := range validation.IsValidLabelValue(v) {
				errs = append(errs, field.Invalid(values.Index(j), v, msg))
			}
		}
	}
	for i, r := range t.MatchFields {
		errs = append(errs, checkFieldRequirement(r, path.Child("matchFields").Index(i))...)
	}
	return errs
}

// checkFieldRequirement is ValidateNodeFieldSelectorRequirement.
func checkFieldRequirement(r corev1.NodeSelectorRequirement, at *field.Path) (errs field.ErrorList) {
	switch r.Operator {
	case corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn:
		if len(r.Values) != 1 {
			errs = append(errs, field.Required(at.Child("values"), "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"))
		}
	default:
		errs = append(errs, field.Invalid(at.Child("operator"), r.Operator, "not a valid selector operator"))
	}
	if r.Key != metav1.ObjectNameField {
		return append(errs, field.Invalid(at.Child("key"), r.Key, "not a valid field selector key"))
	}
	for j, v := range r.Values {
		for _, msg := range apivalidation.NameIsDNSSubdomain(v, false) {
			errs = append(errs, field.Invalid(at.Child("values").Index(j), v, msg))
		}
	}
	return errs
}

// checkPodTerm is validatePodAffinityTerm.
func checkPodTerm(t *corev1.PodAffinityTerm, path *field.Path) field.ErrorList {
	errs := checkSelector(t.LabelSelector, path.Child("labelSelector"))
	errs = append(errs, checkSelector(t.NamespaceSelector, path.Child("namespaceSelector"))...)
	for _, ns := range t.Namespaces {
		for _, msg := range apivalidation.ValidateNamespaceName(ns, false) {
			errs = append(errs, field.Invalid(path.Child("namespace"), ns, msg))
		}
	}
	errs = append(errs, checkLabelKeys(path, t.MatchLabelKeys, t.MismatchLabelKeys, t.LabelSelector)...)
	if t.TopologyKey == "" {
		errs = append(errs, field.Required(path.Child("topologyKey"), "can not be empty"))
	}
	return append(errs, metavalidation.ValidateLabelName(t.TopologyKey, path.Child("topologyKey"))...)
}

// checkLabelKeys is ValidateMatchLabelKeysAndMismatchLabelKeys. It runs after the merge, so that
// the selector's expressions hold each key once already. The path of an error for a key that the
// selector holds twice lacks the field's name, as upstream's does.
func checkLabelKeys(path *field.Path, match, mismatch []string, sel *metav1.LabelSelector) (errs field.ErrorList) {
	check := func(keys []string, at *field.Path) {
		if len(keys) > 0 && sel == nil {
			errs = append(errs, field.Forbidden(at, "must not be specified when labelSelector is not set"))
			return
		}
		for i, key := range keys {
			errs = append(errs, metavalidation.ValidateLabelName(key, at.Index(i))...)
		}
	}
	check(match, path.Child("matchLabelKeys"))
	check(mismatch, path.Child("mismatchLabelKeys"))
	if sel != nil && len(match) > 0 {
		last := map[string]int{}
		for i, key := range match {
			last[key] = i
		}
		seen := map[string]bool{}
		for key := range sel.MatchLabels {
			seen[key] = true
		}
		for _, r := range sel.MatchExpressions {
			if i, ok := last[r.Key]; ok && seen[r.Key] {
				errs = append(errs, field.Invalid(path.Index(i), r.Key, "exists in both matchLabelKeys and labelSelector"))
			}
			seen[r.Key] = true
		}
	}
	if len(match) == 0 || len(mismatch) == 0 {
		return errs
	}
	both := make(map[string]bool, len(mismatch))
	for _, key := range mismatch {
		both[key] = true
	}
	for i, key := range match {
		if both[key] {
			errs = append(errs, field.Invalid(path.Child("matchLabelKeys").Index(i), key, "exists in both matchLabelKeys and mismatchLabelKeys"))
		}
	}
	return errs
}

// checkSpread is validateTopologySpreadConstraints.
func checkSpread(list []corev1.TopologySpreadConstraint, path *field.Path) (errs field.ErrorList) {
	type sort struct {
		key  string
		when corev1.UnsatisfiableConstraintAction
	}
	last := make(map[sort]int, len(list))
	for i, c := range list {
		last[sort{c.TopologyKey, c.WhenUnsatisfiable}] = i
	}
	for i, c := range list {
		at := path.Index(i)
		errs = append(errs, checkPositive(int64(c.MaxSkew), at.Child("maxSkew"))...)
		if c.TopologyKey == "" {
			errs = append(errs, field.Required(at.Child("topologyKey"), "can not be empty"))
		}
		errs = append(errs, checkEnum(c.WhenUnsatisfiable, at.Child("whenUnsatisfiable"), corev1.DoNotSchedule, corev1.ScheduleAnyway)...)
		if last[sort{c.TopologyKey, c.WhenUnsatisfiable}] > i {
			errs = append(errs, field.Duplicate(at.Child("{topologyKey, whenUnsatisfiable}"), fmt.Sprintf("{%v, %v}", c.TopologyKey, c.WhenUnsatisfiable)))
		}
		if c.MinDomains != nil {
			errs = append(errs, checkPositive(int64(*c.MinDomains), at.Child("minDomains"))...)
			if c.WhenUnsatisfiable != corev1.DoNotSchedule {
				errs = append(errs, field.Invalid(at.Child("minDomains"), c.MinDomains, fmt.Sprintf("can only use minDomains if whenUnsatisfiable=%s, not %s", corev1.DoNotSchedule, c.WhenUnsatisfiable)))
			}
		}
		if c.NodeAffinityPolicy != nil {
			errs = append(errs, checkEnum(*c.NodeAffinityPolicy, at.Child("nodeAffinityPolicy"), corev1.NodeInclusionPolicyHonor, corev1.NodeInclusionPolicyIgnore)...)
		}
		if c.NodeTaintsPolicy != nil {
			errs = append(errs, checkEnum(*c.NodeTaintsPolicy, at.Child("nodeTaintsPolicy"), corev1.NodeInclusionPolicyHonor, corev1.NodeInclusionPolicyIgnore)...)
		}
		errs = append(errs, checkLabelKeys(at, c.MatchLabelKeys, nil, c.LabelSelector)...)
		errs = append(errs, checkSelector(c.LabelSelector, at.Child("labelSelector"))...)
	}
	return errs
}

func checkPositive(v int64, path *field.Path) field.ErrorList {
	if v > 0 {
		return nil
	}
	return field.ErrorList{field.Invalid(path, v, "must be greater than zero")}
}
