package objects

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func checkAffinity(a *corev1.Affinity, path *field.Path) (errs field.ErrorList) {
	if a == nil {
		return nil
	}
	const required, preferred = "requiredDuringSchedulingIgnoredDuringExecution", "preferredDuringSchedulingIgnoredDuringExecution"
	if n := a.NodeAffinity; n != nil {
		at := path.Child("nodeAffinity")
		errs = append(errs, checkNodeSelector(n.RequiredDuringSchedulingIgnoredDuringExecution, at.Child(required))...)
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

func checkWeight(w int32, path *field.Path) field.ErrorList {
	if w > 0 && w <= 100 {
		return nil
	}
	return field.ErrorList{field.Invalid(path.Child("weight"), w, "must be in the range 1-100")}
}

// checkNodeSelector is upstream ValidateNodeSelector.
func checkNodeSelector(s *corev1.NodeSelector, path *field.Path) (errs field.ErrorList) {
	if s == nil {
		return nil
	}
	at := path.Child("nodeSelectorTerms")
	if len(s.NodeSelectorTerms) == 0 {
		return field.ErrorList{field.Required(at, "must have at least one node selector term")}
	}
	for i, t := range s.NodeSelectorTerms {
		errs = append(errs, checkNodeTerm(t, false, at.Index(i))...)
	}
	return errs
}

// checkNodeTerm is upstream ValidateNodeSelectorTerm. anyValue lets values
// pass that cannot be a label's, as an apiserver does for preferred terms. Gt
// and Lt take one value, but that it is an integer isn't checked upstream
// either: the scheduler drops such a term.
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
		errs = append(errs, checkKey(r.Key, at.Child("key"))...)
		for j, v := range r.Values {
			for _, msg := range validation.IsValidLabelValue(v) {
				if !anyValue {
					errs = append(errs, field.Invalid(values.Index(j), v, msg))
				}
			}
		}
	}
	for i, r := range t.MatchFields {
		at := path.Child("matchFields").Index(i)
		switch r.Operator {
		case corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn:
			if len(r.Values) != 1 {
				errs = append(errs, field.Required(at.Child("values"), "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"))
			}
		default:
			errs = append(errs, field.Invalid(at.Child("operator"), r.Operator, "not a valid selector operator"))
		}
		if r.Key != metav1.ObjectNameField {
			errs = append(errs, field.Invalid(at.Child("key"), r.Key, "not a valid field selector key"))
			continue
		}
		for j, v := range r.Values {
			for _, msg := range apivalidation.NameIsDNSSubdomain(v, false) {
				errs = append(errs, field.Invalid(at.Child("values").Index(j), v, msg))
			}
		}
	}
	return errs
}

// checkPodTerm is upstream validatePodAffinityTerm.
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
	return append(errs, checkKey(t.TopologyKey, path.Child("topologyKey"))...)
}

// checkLabelKeys is upstream ValidateMatchLabelKeysAndMismatchLabelKeys. It
// runs after the merge, so that each key is once among the selector's
// expressions already; its path for a key named twice is upstream's, too.
func checkLabelKeys(path *field.Path, match, mismatch []string, sel *metav1.LabelSelector) (errs field.ErrorList) {
	check := func(keys []string, at *field.Path) {
		if len(keys) > 0 && sel == nil {
			errs = append(errs, field.Forbidden(at, "must not be specified when labelSelector is not set"))
			return
		}
		for i, key := range keys {
			errs = append(errs, checkKey(key, at.Index(i))...)
		}
	}
	check(match, path.Child("matchLabelKeys"))
	check(mismatch, path.Child("mismatchLabelKeys"))
	if sel != nil && len(match) > 0 {
		seen := map[string]bool{}
		for key := range sel.MatchLabels {
			seen[key] = true
		}
		for _, r := range sel.MatchExpressions {
			if i := slices.Index(match, r.Key); i >= 0 && seen[r.Key] {
				errs = append(errs, field.Invalid(path.Index(i), r.Key, "exists in both matchLabelKeys and labelSelector"))
			}
			seen[r.Key] = true
		}
	}
	for i, key := range match {
		if slices.Contains(mismatch, key) {
			errs = append(errs, field.Invalid(path.Child("matchLabelKeys").Index(i), key, "exists in both matchLabelKeys and mismatchLabelKeys"))
		}
	}
	return errs
}
