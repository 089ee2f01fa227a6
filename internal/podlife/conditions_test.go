package podlife

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestConditions(t *testing.T) {
	for _, c := range []struct {
		what, policy             string
		lines                    []string
		initialized, ready, both string
	}{
		{"ready", "Always", []string{"sidecar s run", "main a run"}, "True", "True", "True"},
		{
			"unready, in the order of the spec, sidecars first", "Always",
			[]string{"init i exit:0", "sidecar s unready", "main a unready", "main b run", "main c exit:1"},
			"True",
			"False ContainersNotReady containers with unready status: [s a c]", "",
		},
		{"unknown before unready", "Always", []string{"main a unready", "main b none"}, "True", "False ContainersNotReady containers with unknown status: [b], containers with unready status: [a]", ""},
		{"no status at all", "Always", []string{"init i none", "main a none"}, "False UnknownContainerStatuses", "False UnknownContainerStatuses", ""},
		{"no status, no init containers", "Always", []string{"main a none"}, "True", "False UnknownContainerStatuses", ""},
		{
			"incomplete", "Always",
			[]string{"init i run", "sidecar s none", "main a wait:PodInitializing"},
			"False ContainersNotInitialized containers with unknown status: [s], containers with incomplete status: [i]", "False ContainersNotReady containers with unknown status: [s], containers with unready status: [a]", "",
		},
		{"a back-off of the main container is no sign of it", "Always", []string{"init i exit:1", "main a crash:1"}, "False ContainersNotInitialized containers with incomplete status: [i]", "False ContainersNotReady containers with unready status: [a]", ""},
		{"a main container that ran makes sidecars not matter", "Always", []string{"sidecar s unstarted", "main a exit:1"}, "True", "False ContainersNotReady containers with unready status: [s a]", ""},
		{"succeeded", "Never", []string{"init i exit:0", "main a exit:0"}, "True PodCompleted", "False PodCompleted", ""},
		{"failed, without a message", "Never", []string{"init i exit:1", "main a wait:PodInitializing"}, "False ContainersNotInitialized containers with incomplete status: [i]", "False PodFailed", ""},
	} {
		l := Lifecycle(drawn(t, c.policy, c.lines...), NodeHealthy, lifeNow)
		if c.both == "" {
			c.both = c.ready
		}
		got := []string{said(l, corev1.PodInitialized), said(l, corev1.PodReady), said(l, corev1.ContainersReady), said(l, corev1.PodScheduled)}
		if d := cmp.Diff([]string{c.initialized, c.ready, c.both, "True"}, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.what, d)
		}
	}
}

func TestInitializedStays(t *testing.T) {
	p := drawn(t, "Always", "init i run", "main a wait:PodInitializing")
	p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodInitialized, Status: corev1.ConditionTrue}}
	if got := said(Lifecycle(p, NodeHealthy, lifeNow), corev1.PodInitialized); got != "True" {
		t.Error(got)
	}
}

func TestReadinessGates(t *testing.T) {
	gate := func(status corev1.ConditionStatus) corev1.PodCondition {
		return corev1.PodCondition{Type: "example.com/b", Status: status}
	}
	const missing = `corresponding condition of pod readiness gate "example.com/a" does not exist.`
	for _, c := range []struct {
		what       string
		main       string
		conditions []corev1.PodCondition
		want       string
	}{
		{"missing", "run", nil, "False ReadinessGatesNotReady " + missing + `, corresponding condition of pod readiness gate "example.com/b" does not exist.`},
		{"False", "run", []corev1.PodCondition{gate("False")}, "False ReadinessGatesNotReady " + missing + `, the status of pod readiness gate "example.com/b" is not "True", but False`},
		{"Unknown", "run", []corev1.PodCondition{gate("Unknown"), {Type: "example.com/a", Status: "True"}}, `False ReadinessGatesNotReady the status of pod readiness gate "example.com/b" is not "True", but Unknown`},
		{"True", "run", []corev1.PodCondition{gate("True"), {Type: "example.com/a", Status: "True"}}, "True"},
		{"not looked at before the containers are ready", "unready", nil, "False ContainersNotReady containers with unready status: [a]"},
	} {
		p := drawn(t, "Always", "main a "+c.main)
		p.Spec.ReadinessGates = []corev1.PodReadinessGate{{ConditionType: "example.com/a"}, {ConditionType: "example.com/b"}}
		p.Status.Conditions = c.conditions
		if got := said(Lifecycle(p, NodeHealthy, lifeNow), corev1.PodReady); got != c.want {
			t.Errorf("%s: %s\nwant %s", c.what, got, c.want)
		}
	}
}

// Conditions of others stay, the kubelet's own come behind them, and a
// transition is now only where the status changes.
func TestConditionsKept(t *testing.T) {
	p := drawn(t, "Always", "main a run own=Never rule=In:1:RestartAllContainers")
	p.Generation = 7
	p.Status.Conditions = []corev1.PodCondition{
		{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: before(300)},
		{Type: corev1.ContainersReady, Status: corev1.ConditionFalse, LastTransitionTime: before(300)},
		{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: "EvictionByEvictionAPI", LastTransitionTime: before(200), ObservedGeneration: 3},
	}
	l := Lifecycle(p, NodeHealthy, lifeNow)
	var got []string
	for _, c := range l.Conditions {
		when := "now"
		if !c.LastTransitionTime.Equal(lifeNow) {
			when = lifeNow.Sub(*c.LastTransitionTime).String()
		}
		got = append(got, says(c)+" "+when)
	}
	want := []string{
		"DisruptionTarget=True EvictionByEvictionAPI 3m20s", "PodReadyToStartContainers=True now", "Initialized=True now", "Ready=True 5m0s", "ContainersReady=True now", "PodScheduled=True now",
		"AllContainersRestarting=False now",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if l.Conditions[0].ObservedGeneration != 3 || l.Conditions[1].ObservedGeneration != 7 {
		t.Errorf("%+v", l.Conditions)
	}
}

func TestReadyToStartContainers(t *testing.T) {
	posted := func(p *corev1.Pod, s corev1.ConditionStatus) {
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReadyToStartContainers, Status: s}}
	}
	for _, c := range []struct {
		what, line string
		change     func(*corev1.Pod)
		want, rule string
	}{
		{"new", "main a none", func(*corev1.Pod) {}, "False", "condition/no-sandbox"},
		{"with an address", "main a none", func(p *corev1.Pod) { p.Status.PodIP = "10.0.0.1" }, "True", "condition/sandbox-used"},
		{"an image that is tried", "main a wait:ErrImagePull", func(*corev1.Pod) {}, "True", "condition/sandbox-used"},
		{"running, whatever the condition says", "main a run", func(p *corev1.Pod) { posted(p, "False") }, "True", "condition/sandbox-used"},
		{"creating: the condition stands", "main a wait:ContainerCreating", func(p *corev1.Pod) { posted(p, "True") }, "True", "condition/sandbox-as-posted"},
		{"destroyed while it is stopped", "main a exit:1", func(p *corev1.Pod) { posted(p, "False") }, "False", "condition/sandbox-as-posted"},
		{"stopped", "main a exit:1", func(*corev1.Pod) {}, "True", "condition/sandbox-used"},
		{"ended", "main a exit:0", func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded; posted(p, "True") }, "False", "condition/sandbox-gone"},
	} {
		p := drawn(t, "Always", c.line)
		c.change(p)
		l := Lifecycle(p, NodeHealthy, lifeNow)
		if i := 0; said(l, corev1.PodReadyToStartContainers) != c.want || l.Conditions[i].Rule.ID != c.rule {
			t.Errorf("%s: %+v", c.what, l.Conditions[i])
		}
	}
}

func TestRestartOfAll(t *testing.T) {
	const rule = " own=Never rule=In:42:RestartAllContainers"
	p := drawn(t, "Never", "init i exit:0", "sidecar s run", "main a exit:42"+rule, "main b run")
	l := Lifecycle(p, NodeHealthy, lifeNow)
	if got := said(l, corev1.AllContainersRestarting); l.Phase != corev1.PodRunning || got != "True RestartAllContainersStarted container exited with restart policy rule" {
		t.Errorf("%s %s", l.Phase, got)
	}
	if got := planned(l); got != "i:restart s:wait(i) a:wait(s) b:wait(s)" {
		t.Error(got)
	}
	// Once all are removed they start in order, without a back-off.
	p = drawn(t, "Never", "init i crash:137:RestartingAllContainers restarts=4 ended=1", "main a crash:137:RestartingAllContainers restarts=9 ended=1"+rule)
	p.Status.Conditions = []corev1.PodCondition{{Type: corev1.AllContainersRestarting, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(lifeNow)}}
	l = Lifecycle(p, NodeHealthy, lifeNow)
	if got := said(l, corev1.AllContainersRestarting); got != "False" || planned(l) != "i:restart a:wait(i)" {
		t.Errorf("%s %s", got, planned(l))
	}
	// A condition alone, in a pod without such a rule, does nothing.
	p = drawn(t, "Always", "main a run")
	p.Status.Conditions = []corev1.PodCondition{{Type: corev1.AllContainersRestarting, Status: corev1.ConditionTrue}}
	if l = Lifecycle(p, NodeHealthy, lifeNow); planned(l) != "a:leave" || said(l, corev1.AllContainersRestarting) != "" {
		t.Errorf("%s %s", planned(l), said(l, corev1.AllContainersRestarting))
	}
}
