package rules_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth/internal/engine"
	"berth/internal/engine/rules"
)

// Preemption is not looked for yet, and the answer says so where upstream would
// have looked.
func TestPreemptionIsNamedWhereItMightHelp(t *testing.T) {
	cpu := func(s string) corev1.ResourceList {
		return corev1.ResourceList{"cpu": resource.MustParse(s), "pods": resource.MustParse("10")}
	}
	e := engine.NewState().Edit()
	pod := func(name, node, request string) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "d", Name: name}, Spec: corev1.PodSpec{
			NodeName: node, Containers: []corev1.Container{{Name: "c", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse(request)}}}},
		}}
	}
	for _, o := range []any{&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}, Status: corev1.NodeStatus{Allocatable: cpu("4")}}, pod("low", "n", "3")} {
		if err := e.Put(o); err != nil {
			t.Fatal(err)
		}
	}
	s := e.Done()
	p, err := rules.Build(rules.DefaultSpec())
	if err != nil {
		t.Fatal(err)
	}
	never := corev1.PreemptNever
	polite := pod("p", "", "2")
	polite.Spec.PreemptionPolicy = &never
	for name, c := range map[string]struct {
		pod  *corev1.Pod
		o    engine.Options
		said bool
	}{
		"room could be made":   {pod("p", "", "2"), engine.Options{}, true},
		"turned off":           {pod("p", "", "2"), engine.Options{NoPreemption: true}, false},
		"may not preempt":      {polite, engine.Options{}, false},
		"never fits that node": {pod("p", "", "5"), engine.Options{}, false},
		"fits":                 {pod("p", "", "1"), engine.Options{}, false},
	} {
		r, err := engine.Decide(s, c.pod, p, c.o)
		if err != nil {
			t.Fatal(err)
		}
		list := r.NotEvaluated()
		if said := len(list) == 1 && list[0].Plugin == "DefaultPreemption"; said != c.said || len(list) > 1 {
			t.Errorf("%s: %+v", name, list)
		}
		r.Release()
	}
}
