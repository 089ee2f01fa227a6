package podlife

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
)

func TestNodeStateOf(t *testing.T) {
	node := func(conditions ...corev1.NodeCondition) *corev1.Node {
		return &corev1.Node{Status: corev1.NodeStatus{Conditions: conditions}}
	}
	ready := func(s corev1.ConditionStatus) corev1.NodeCondition {
		return corev1.NodeCondition{Type: corev1.NodeReady, Status: s}
	}
	pressure := corev1.NodeCondition{Type: corev1.NodeMemoryPressure, Status: corev1.ConditionTrue}
	for i, c := range []struct {
		node *corev1.Node
		want NodeState
	}{
		{node(pressure, ready("True")), NodeHealthy},
		{node(ready("False")), NodeLost},
		{node(ready("Unknown")), NodeLost},
		{node(pressure), NodeLost},
		{node(), NodeHealthy},
		{nil, NodeGone},
	} {
		if got := NodeStateOf(c.node); got != c.want {
			t.Errorf("%d: %v", i, got)
		}
	}
}

func TestPodOfALostNode(t *testing.T) {
	p := drawn(t, "Always", "init i exit:0", "main a run", "main b crash:1 restarts=3", "main c none")
	p.Status.Conditions = []corev1.PodCondition{
		{Type: corev1.PodReady, Status: corev1.ConditionTrue, Reason: "Because", Message: "of this", LastTransitionTime: before(900)},
		{Type: corev1.ContainersReady, Status: corev1.ConditionTrue, LastTransitionTime: before(900)},
	}
	p.Status.Phase = corev1.PodUnknown
	l := Lifecycle(p, NodeLost, lifeNow)
	if l.Phase != corev1.PodUnknown || len(l.Conditions) != 2 || said(l, corev1.PodReady) != "False Because of this" || said(l, corev1.ContainersReady) != "True" {
		t.Errorf("%s %+v", l.Phase, l.Conditions)
	}
	if !l.Conditions[0].LastTransitionTime.Equal(lifeNow) || !l.Conditions[1].LastTransitionTime.Equal(before(900).Time) {
		t.Errorf("%+v", l.Conditions)
	}
	if got := planned(l); got != "i:leave a:leave b:wait c:wait" || l.Containers[1].State != "running" {
		t.Error(got)
	}
	p.Status.Conditions, p.Status.Phase = nil, ""
	if l = Lifecycle(p, NodeLost, lifeNow); l.Phase != corev1.PodPending || len(l.Conditions) != 0 {
		t.Errorf("a pod without a Ready condition is given none: %+v", l)
	}
}

func TestPodOfAVanishedNode(t *testing.T) {
	p := drawn(t, "Always", "main a run")
	p.Generation = 4
	p.Status.Conditions = []corev1.PodCondition{
		{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: "Other", LastTransitionTime: before(900)},
		{Type: corev1.PodReady, Status: corev1.ConditionTrue},
	}
	l := Lifecycle(p, NodeGone, lifeNow)
	if l.Phase != corev1.PodFailed || said(l, corev1.DisruptionTarget) != "True DeletionByPodGC PodGC: node no longer exists" || said(l, corev1.PodReady) != "True" || planned(l) != "a:leave" {
		t.Errorf("%+v", l)
	}
	if c := l.Conditions[0]; c.Type != corev1.DisruptionTarget || c.ObservedGeneration != 4 || !c.LastTransitionTime.Equal(before(900).Time) {
		t.Errorf("a foreign condition is replaced in its place: %+v", l.Conditions)
	}
	p.Status.Phase = corev1.PodSucceeded
	if l = Lifecycle(p, NodeGone, lifeNow); l.Phase != corev1.PodSucceeded || said(l, corev1.DisruptionTarget) != "True Other" {
		t.Errorf("a pod that has ended is not patched: %+v", l)
	}
}

func TestPodWithoutANode(t *testing.T) {
	p := drawn(t, "Always", "init i none", "main a none", "main b wait:Odd", "main c run", "ephemeral e none")
	p.Spec.NodeName, p.Status.Phase = "", ""
	p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: "Unschedulable", Message: "0/5 nodes", LastTransitionTime: before(60)}}
	l := Lifecycle(p, NodeHealthy, lifeNow)
	if l.Phase != corev1.PodPending || said(l, corev1.PodScheduled) != "False Unschedulable 0/5 nodes" || len(l.Conditions) != 1 || planned(l) != "i:wait a:wait b:wait c:wait e:wait" {
		t.Errorf("%+v", l)
	}
	for i, reason := range []string{"", "", "Odd", "", ""} {
		if c := l.Containers[i]; c.State != "waiting" || c.Reason != reason {
			t.Errorf("%+v", c)
		}
	}
	p.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "example.com/a"}}
	l = Lifecycle(p, NodeGone, lifeNow)
	if said(l, corev1.PodScheduled) != "False SchedulingGated Scheduling is blocked due to non-empty scheduling gates" || len(l.Conditions) != 1 || l.Containers[0].Next.Rule.ID != "next/gated" {
		t.Errorf("%+v", l)
	}
	p.Status.Phase = corev1.PodFailed
	if l = Lifecycle(p, NodeLost, lifeNow); l.Phase != corev1.PodFailed || l.Containers[0].Next.Rule.ID != "next/no-node-ever" {
		t.Errorf("%+v", l)
	}
}

func TestContainerStates(t *testing.T) {
	type state struct {
		Kind          ContainerKind
		State, Reason string
	}
	states := func(p *corev1.Pod) (out []state) {
		for _, c := range Lifecycle(p, NodeHealthy, lifeNow).Containers {
			out = append(out, state{c.Kind, c.State, c.Reason})
		}
		return out
	}
	got := states(drawn(t, "Always", "init i exit:0", "sidecar s none", "main a none", "main b crash:1", "main c blank", "ephemeral e none"))
	want := []state{
		{KindInit, "terminated", "Completed"},
		{KindSidecar, "waiting", "PodInitializing"},
		{KindContainer, "waiting", "PodInitializing"},
		{KindContainer, "waiting", "CrashLoopBackOff"},
		{KindContainer, "waiting", ""},
		{KindEphemeral, "waiting", "PodInitializing"},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if d := cmp.Diff([]state{{KindContainer, "waiting", "ContainerCreating"}, {KindContainer, "running", ""}}, states(drawn(t, "Always", "main a none", "main b run"))); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// A gated pod is shown as kubectl shows it once it is stored, also where its condition is not
// written yet.
func TestStatusOfGatedPods(t *testing.T) {
	scheduled := func(reason string) []corev1.PodCondition {
		return []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: reason}}
	}
	gates := []corev1.PodSchedulingGate{{Name: "example.com/foo"}}
	for name, c := range map[string]struct {
		gates      []corev1.PodSchedulingGate
		phase      corev1.PodPhase
		conditions []corev1.PodCondition
		want       string
	}{
		"manifest":            {gates, "", nil, "SchedulingGated"},
		"stored without":      {gates, corev1.PodPending, nil, "SchedulingGated"},
		"stored":              {gates, corev1.PodPending, scheduled("SchedulingGated"), "SchedulingGated"},
		"with another reason": {gates, corev1.PodPending, scheduled("Unschedulable"), "Pending"},
		"no gates":            {nil, corev1.PodPending, nil, "Pending"},
	} {
		pod := &corev1.Pod{Spec: corev1.PodSpec{SchedulingGates: c.gates, Containers: []corev1.Container{{Name: "c"}}}, Status: corev1.PodStatus{Phase: c.phase, Conditions: c.conditions}}
		if got := Lifecycle(pod, NodeHealthy, lifeNow); got.Status != c.want {
			t.Errorf("%s: %s, by %s", name, got.Status, got.StatusRule.Text)
		}
	}
}
