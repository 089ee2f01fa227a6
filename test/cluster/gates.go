package main

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// gates has pods wait at a gate while others go, and then takes the gate away.
func gates(ctx context.Context, e *env) error {
	if err := e.nodes(ctx, 4, 2, "8", "32Gi", nil); err != nil {
		return err
	}
	s, err := e.berth(nil)
	if err != nil {
		return err
	}
	t, err := e.enforced(full, "", s)
	if err != nil {
		return err
	}
	if err := e.pods(ctx, "gated", 5, "100m", "128Mi", func(_ int, p *corev1.Pod) {
		p.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "example.com/wait"}}
	}); err != nil {
		return err
	}
	// They came first; when twenty others are bound, they had their chance.
	if err := e.pods(ctx, "free", 20, "100m", "128Mi", nil); err != nil {
		return err
	}
	if err := e.allBound(ctx, 20, 30*time.Second); err != nil {
		return err
	}
	for _, l := range e.kubelets.of(e.namespace) {
		if l.last.Labels["app"] == "gated" {
			e.check(len(l.nodes) == 0, "gated pod %s is bound", l.name)
		}
	}
	var queue struct{ Counts struct{ Gated int } }
	if err := s.call(ctx, "GET", "/v1/clusters/"+followed+"/queue", nil, &queue); err != nil {
		return err
	}
	e.check(queue.Counts.Gated == 5, "berth shows %d gated pods", queue.Counts.Gated)
	began := time.Now()
	for _, l := range e.kubelets.of(e.namespace) {
		if l.last.Labels["app"] != "gated" {
			continue
		}
		if _, err := e.client.CoreV1().Pods(e.namespace).Patch(ctx, l.name, types.MergePatchType, []byte(`{"spec":{"schedulingGates":null}}`), metav1.PatchOptions{}); err != nil {
			return err
		}
	}
	if err := e.allBound(ctx, 25, 30*time.Second); err != nil {
		return err
	}
	e.figure("5 gated pods waited for 20 others, and were bound %.1f s after their gates went", time.Since(began).Seconds())
	t.stop()
	e.allowed(t.f)
	_, err = e.books(ctx, t)
	return err
}
