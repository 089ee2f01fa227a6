package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// preemption fills four nodes with two small pods each, of which those of one
// node are protected by a budget, and then requests two pods that each need a
// whole node: four pods have to go, two nodes' worth, and no other caller.
func preemption(p profile, lag time.Duration) func(context.Context, *env) error {
	return func(ctx context.Context, e *env) error {
		if err := e.nodes(ctx, 4, 2, "4", "16Gi", nil); err != nil {
			return err
		}
		for name, value := range map[string]int32{"low": 10, "high": 1000} {
			c := &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: e.namespace + "-" + name, Labels: map[string]string{"suite": "yes"}}, Value: value}
			if _, err := e.client.SchedulingV1().PriorityClasses().Create(ctx, c, metav1.CreateOptions{}); err != nil {
				return err
			}
		}
		through, err := newWire(e.address, lag)
		if err != nil {
			return err
		}
		e.later(through.close)
		s, err := e.berth(through)
		if err != nil {
			return err
		}
		t, err := e.enforced(p, "", s)
		if err != nil {
			return err
		}
		// One by one, so that two are on each node.
		if err := e.pods(ctx, "low", 8, "2", "1Gi", func(i int, pod *corev1.Pod) {
			pod.Spec.PriorityClassName = e.namespace + "-low"
			pod.Labels["node"] = fmt.Sprintf("n%d", i/2)
			pod.Spec.NodeSelector = map[string]string{corev1.LabelHostname: fmt.Sprintf("node-%04d", i/2)}
		}); err != nil {
			return err
		}
		if err := e.allBound(ctx, 8, time.Minute); err != nil {
			return err
		}
		if err := e.protect(ctx, "n0"); err != nil {
			return err
		}
		time.Sleep(300*time.Millisecond + 2*lag) // the watches of both
		began := time.Now()
		if err := e.pods(ctx, "high", 2, "4", "1Gi", func(_ int, pod *corev1.Pod) { pod.Spec.PriorityClassName = e.namespace + "-high" }); err != nil {
			return err
		}
		if err := until(ctx, time.Minute, "both high pods bound", func() bool { return len(e.high()) == 2 }); err != nil {
			return err
		}
		took := time.Since(began)
		time.Sleep(500*time.Millisecond + 2*lag) // a pod that is evicted for nothing is evicted by then
		t.stop()
		e.judgeVictims(t.f, took)
		b, err := e.books(ctx, t)
		if err != nil {
			return err
		}
		e.check(b.byVerb["preempt"] > 0, "/preempt was never called")
		return nil
	}
}

// high returns the pods of high priority that are bound.
func (e *env) high() (list []life) {
	for _, l := range e.kubelets.of(e.namespace) {
		if l.last.Labels["app"] == "high" && len(l.nodes) > 0 {
			list = append(list, l)
		}
	}
	return list
}

// protect allows no disruption of a node's pods, as the disruption controller
// would say.
func (e *env) protect(ctx context.Context, node string) error {
	all := intstr.FromInt32(0)
	b := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Name: "protect", Namespace: e.namespace}}
	b.Spec.Selector, b.Spec.MaxUnavailable = &metav1.LabelSelector{MatchLabels: map[string]string{"node": node}}, &all
	b, err := e.client.PolicyV1().PodDisruptionBudgets(e.namespace).Create(ctx, b, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	b.Status = policyv1.PodDisruptionBudgetStatus{ObservedGeneration: b.Generation, CurrentHealthy: 2, DesiredHealthy: 2, ExpectedPods: 2}
	_, err = e.client.PolicyV1().PodDisruptionBudgets(e.namespace).UpdateStatus(ctx, b, metav1.UpdateOptions{})
	return err
}

// judgeVictims checks who went, and that each high pod is where it was nominated.
func (e *env) judgeVictims(f *frontend, took time.Duration) {
	var victims []string
	for _, l := range e.kubelets.of(e.namespace) {
		if l.last.Labels["app"] == "low" && (l.deleting || l.gone) {
			victims = append(victims, l.name)
			e.check(l.last.Labels["node"] != "n0", "%s was evicted though a budget protects it", l.name)
		}
	}
	e.check(len(victims) == 4, "%d pods were evicted for two that need two each: %v", len(victims), victims)
	for _, l := range e.high() {
		e.check(slices.Contains(l.nominated, l.nodes[0]) && len(l.nominated) == 1, "%s is on %s and was nominated to %v", l.name, l.nodes[0], l.nominated)
	}
	nonempty := 0
	for _, x := range f.said("preempt") {
		var a struct{ NodeNameToMetaVictims map[string]any }
		if json.Unmarshal(x.answer, &a) == nil && len(a.NodeNameToMetaVictims) > 0 {
			nonempty++
		}
	}
	e.figure("%d victims for 2 pods, /preempt agreed %d times of %d, bound after %.1f s", len(victims), nonempty, len(f.said("preempt")), took.Seconds())
}
