package state_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth/test/enginetest"
)

// TestDaemonAndSpreads has what a state knows of a pod's controller and constraints.
func TestDaemonAndSpreads(t *testing.T) {
	yes := true
	node := metav1.OwnerReference{Kind: "Node", Name: "n"}
	daemonSet := metav1.OwnerReference{Kind: "DaemonSet", Name: "d"}
	controller := daemonSet
	controller.Controller = &yes
	for name, want := range map[string]struct {
		owners          []metav1.OwnerReference
		constraints     []corev1.TopologySpreadConstraint
		daemon, spreads bool
	}{
		"none":        {},
		"controlled":  {owners: []metav1.OwnerReference{node, controller}, daemon: true},
		"owned":       {owners: []metav1.OwnerReference{node, daemonSet}},
		"constrained": {constraints: []corev1.TopologySpreadConstraint{{TopologyKey: "zone"}}, spreads: true},
	} {
		pod := enginetest.Pod(name)
		pod.OwnerReferences, pod.Spec.TopologySpreadConstraints = want.owners, want.constraints
		p := enginetest.Fresh(t, pod).Pod(pod.Namespace, name)
		if p.Daemon != want.daemon || p.Spreads != want.spreads {
			t.Errorf("%s: daemon %t, spreads %t", name, p.Daemon, p.Spreads)
		}
	}
}
