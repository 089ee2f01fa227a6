package state

import (
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestTermsOfNamespaces: a term selects the namespaces that it lists and those that its selector
// matches, each once and in that order, and the caller's context is looked at meanwhile.
func TestTermsOfNamespaces(t *testing.T) {
	e := NewState().Edit()
	const all = 3 * checkEvery
	var want []string
	for i := range all {
		ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("ns%05d", i), Labels: map[string]string{"team": fmt.Sprint(i % 3)}}}
		if err := e.Put(ns); err != nil {
			t.Fatal(err)
		}
		if i%3 == 1 {
			want = append(want, ns.Name)
		}
	}
	listed := []string{"ns00001", "ns00002", "unknown"}
	want = append(slices.Clone(listed), slices.DeleteFunc(want, func(ns string) bool { return slices.Contains(listed, ns) })...)
	pod := &corev1.Pod{Spec: corev1.PodSpec{Affinity: &corev1.Affinity{PodAffinity: &corev1.PodAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{
			TopologyKey: "zone", Namespaces: []string{"unknown", "ns00002", "ns00001"},
			NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"team": "1"}},
		}},
	}}}}
	looks := 0
	terms, err := e.Done().TermsOf(pod, true, func() { looks++ })
	if err != nil || len(terms) != 1 || looks != all/checkEvery {
		t.Fatal(len(terms), looks, err)
	}
	if x := terms[0]; !slices.Equal(x.Namespaces, want) {
		t.Errorf("%d namespaces, want %d: %v", len(x.Namespaces), len(want), x.Namespaces[:10])
	}
	for i := range all {
		ns := fmt.Sprintf("ns%05d", i)
		if got := terms[0].names(ns); got != slices.Contains(want, ns) {
			t.Errorf("%s: %t", ns, got)
		}
	}
}
