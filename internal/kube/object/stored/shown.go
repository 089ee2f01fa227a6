package stored

import corev1 "k8s.io/api/core/v1"

// An API server writes a wrong value as JSON of its internal types, with the Go names of their
// fields. These types have the same names, so that the messages are equal.

type requirement struct {
	Key      string
	Operator corev1.NodeSelectorOperator
	Values   []string
}

type selectorTerm struct{ MatchExpressions, MatchFields []requirement }

func shownTerm(t corev1.NodeSelectorTerm) selectorTerm {
	show := func(list []corev1.NodeSelectorRequirement) []requirement {
		if list == nil {
			return nil
		}
		out := make([]requirement, len(list))
		for i, r := range list {
			out[i] = requirement(r)
		}
		return out
	}
	return selectorTerm{show(t.MatchExpressions), show(t.MatchFields)}
}

func shownTerms(list []corev1.NodeSelectorTerm) []selectorTerm {
	if list == nil {
		return nil
	}
	out := make([]selectorTerm, len(list))
	for i, t := range list {
		out[i] = shownTerm(t)
	}
	return out
}
