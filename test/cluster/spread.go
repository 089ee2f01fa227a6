package main

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// spread places 60 pods of one application that may differ by one between zones
// and between nodes.
func spread(p profile) func(context.Context, *env) error {
	return func(ctx context.Context, e *env) error {
		const pods, nodes, zones = 60, 12, 3
		if err := e.nodes(ctx, nodes, zones, "16", "64Gi", nil); err != nil {
			return err
		}
		s, err := e.berth(nil)
		if err != nil {
			return err
		}
		t, err := e.enforced(p, "", s)
		if err != nil {
			return err
		}
		began := time.Now()
		if err := e.pods(ctx, "even", pods, "100m", "128Mi", func(_ int, pod *corev1.Pod) {
			for _, key := range []string{corev1.LabelTopologyZone, corev1.LabelHostname} {
				pod.Spec.TopologySpreadConstraints = append(pod.Spec.TopologySpreadConstraints, corev1.TopologySpreadConstraint{
					MaxSkew: 1, TopologyKey: key, WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "even"}},
				})
			}
		}); err != nil {
			return err
		}
		if err := e.allBound(ctx, pods, 2*time.Minute); err != nil {
			return err
		}
		took := time.Since(began)
		t.stop()
		zone, node := map[string]int{}, map[string]int{}
		for _, l := range e.kubelets.of(e.namespace) {
			n, err := e.client.CoreV1().Nodes().Get(ctx, l.nodes[0], getNow)
			if err != nil {
				return err
			}
			zone[n.Labels[corev1.LabelTopologyZone]]++
			node[n.Name]++
		}
		e.check(skew(zone, zones) <= 1, "zones: %v", zone)
		e.check(skew(node, nodes) <= 1, "nodes: %v", node)
		e.figure("%d pods in %.1f s: skew %d over zones, %d over nodes; %d binds were refused and tried again", pods, took.Seconds(), skew(zone, zones), skew(node, nodes), refusals(t.f))
		_, err = e.books(ctx, t)
		return err
	}
}

// skew is the difference between the fullest and the emptiest of n domains.
func skew(count map[string]int, n int) int {
	most, least := 0, 0
	for _, c := range count {
		most = max(most, c)
	}
	if len(count) == n {
		least = most
		for _, c := range count {
			least = min(least, c)
		}
	}
	return most - least
}
