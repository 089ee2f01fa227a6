package rules_test

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth/internal/engine/rules"
	et "berth/test/enginetest"
)

// TestProblemsOfASelectorAreNotAllListed: the text of an error with 5,000 problems took 4 GB to
// make, and was an answer of 1.5 MB.
func TestProblemsOfASelectorAreNotAllListed(t *testing.T) {
	values := make([]string, 5000)
	for i := range values {
		values[i] = fmt.Sprintf("-%d", i) // no value of a label begins so
	}
	selector := &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: metav1.LabelSelectorOpIn, Values: values}}}
	for name, pod := range map[string]*corev1.Pod{
		"preferred node affinity": et.Pod("p", et.PreferNodes(1, exprs(et.Expr("a", opIn, values...)))),
		"pod affinity":            et.Pod("p", et.Near(et.PodTerm("zone", selector))),
		"pod anti-affinity":       et.Pod("p", et.Away(et.PodTerm("zone", selector))),
		"namespaces":              et.Pod("p", et.Near(corev1.PodAffinityTerm{TopologyKey: "zone", NamespaceSelector: selector})),
		"spread constraint":       et.Pod("p", et.Spread("zone", 1, corev1.DoNotSchedule, selector)),
	} {
		one := et.Case{Objects: list(et.Node("a"), et.Node("b")), Pod: pod, Spec: rules.DefaultSpec()}
		switch _, err := one.Decide(); {
		case err == nil:
			t.Errorf("%s: a selector that does not parse is no error", name)
		case !strings.HasSuffix(err.Error(), "and 4900 more]") || len(err.Error()) > 64<<10:
			t.Errorf("%s: %d bytes, which end with %q", name, len(err.Error()), err.Error()[max(0, len(err.Error())-80):])
		}
	}
}
