package scenario_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/scenario"
	"berth/test/enginetest"
)

// TestEndedPods counts pods that had ended on nodes that are drained or lost, and no others.
func TestEndedPods(t *testing.T) {
	ended := func(name, node string, phase corev1.PodPhase) *corev1.Pod {
		p := enginetest.Pod(name, enginetest.On(node), enginetest.Requests("cpu", "2"))
		p.Status.Phase = phase
		return p
	}
	objects := []any{
		enginetest.Node("a", enginetest.Allocatable("cpu", "2", "pods", "10")), enginetest.Node("b", enginetest.Allocatable("cpu", "2", "pods", "10")),
		ended("one", "a", corev1.PodSucceeded), ended("two", "a", corev1.PodFailed), ended("three", "b", corev1.PodFailed), ended("four", "gone", corev1.PodFailed),
		running(enginetest.Pod("web", enginetest.On("a")), "ReplicaSet", "web", 1, 30),
	}
	d := drained(t, scenario.DrainQuestion{NodeChoice: chosen("a", "b")}, objects...)
	if d.Nodes[0].Ended != 2 || d.Nodes[0].Evicted != 1 || d.Nodes[1].Ended != 1 || d.Totals.Evicted != len(d.Pods) {
		t.Errorf("%+v %+v", d.Nodes[0], d.Nodes[1])
	}
	if l := lost(t, scenario.LossQuestion{NodeChoice: chosen("a")}, objects...); l.Totals.Ended != 2 || l.Totals.Pods != 1 {
		t.Errorf("%+v", l.Totals)
	}
	objects = append(objects, enginetest.Pod("bare", enginetest.On("a")))
	if d := drained(t, scenario.DrainQuestion{NodeChoice: chosen("a")}, objects...); d.Nodes[0].Outcome != scenario.NodeRefused || d.Nodes[0].Ended != 0 {
		t.Errorf("%+v", d.Nodes[0])
	}
}
