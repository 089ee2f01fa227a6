package podlife

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/semantics"
)

// lived answers as the kubelet of a release that has these behaviours.
func lived(t *testing.T, p *corev1.Pod, by semantics.Life) *Life {
	t.Helper()
	r := *semantics.Default()
	r.Life = by
	before := p.DeepCopy()
	l := live(t, LifeQuestion{Pod: p, Release: &r})
	is(t, "the pod that was asked about", p, before)
	return l
}

// TestKubelets: the kubelet of the pod's node is followed, else the release that is named, else
// v1.36; the answer names any other than that.
func TestKubelets(t *testing.T) {
	named, err := semantics.Parse("v1.35")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		version     string
		named       *semantics.Release
		wants, note string
	}{
		{"v1.37.4-gke.100", named, "v1.37.2", ""},
		{"v1.36.0", named, "", ""},
		{"", named, "v1.35.4", ""},
		{"", nil, "", ""},
		{"unknown", named, "v1.35.4", ""},
		{"v1.99.1", nil, semantics.Newest().Name, "the kubelet of the pod's node is v1.99.1, and newer than any release that is known: the answer follows " + semantics.Newest().Name},
		{"v1.19.16+k3s1", nil, strings.Split(semantics.Known(), ",")[0], "the kubelet of the pod's node is v1.19.16+k3s1, and older than any release that is known: the answer follows " + strings.Split(semantics.Known(), ",")[0]},
	} {
		node := &corev1.Node{}
		node.Name, node.Status.NodeInfo.KubeletVersion = "n1", c.version
		p := drawn(t, "Always", "main a run")
		l := live(t, LifeQuestion{Pod: p, Node: node, NodeGiven: true, Release: c.named})
		is(t, c.version, l.Followed, Followed{c.wants, c.note})
		e := ends(t, Ending{Pod: p, Node: node, NodeGiven: true, Release: c.named, Cause: CauseDelete})
		is(t, "end on "+c.version, e.Followed, l.Followed)
	}
}

// TestKubeletRestartsAll: a kubelet that does not restart all containers of a pod leaves it to the
// policy of the one that ended, and keeps the condition as another's.
func TestKubeletRestartsAll(t *testing.T) {
	const rule = " own=Never rule=In:42:RestartAllContainers rule=NotIn:0:Restart"
	p := drawn(t, "Always", "init i wait:PodInitializing", "main a exit:42"+rule, "main b crash:137:RestartingAllContainers own=Never")
	p.Status.Conditions = []corev1.PodCondition{{Type: corev1.AllContainersRestarting, Status: corev1.ConditionTrue}, {Type: corev1.PodInitialized, Status: corev1.ConditionTrue}}
	mains := drawn(t, "Always", "main a exit:42"+rule, "main b crash:137:RestartingAllContainers own=Never")
	waits := p.DeepCopy()
	waits.Status.ContainerStatuses = nil
	for _, c := range []struct {
		by                                   semantics.Life
		phase, next, all, rule, once, ending string
	}{
		{semantics.Life{OwnRestarts: true, RestartsAll: true}, "Running", "a:restart b:start", "True RestartAllContainersStarted container exited with restart policy rule", "condition/restart-of-all", "True", "Failed"},
		{semantics.Life{OwnRestarts: true}, "Failed", "a:leave b:leave", "True", "condition/kept", "False ContainersNotInitialized containers with incomplete status: [i]", "Failed"},
	} {
		l := lived(t, mains, c.by)
		is(t, "phase", l.Phase, c.phase)
		is(t, "next", planned(*l), c.next)
		l = lived(t, p, c.by)
		is(t, "AllContainersRestarting", said(*l, corev1.AllContainersRestarting), c.all)
		for _, condition := range l.Conditions {
			if condition.Type == corev1.AllContainersRestarting {
				is(t, "its rule", condition.Rule.ID, c.rule)
			}
		}
		is(t, "Initialized", said(*lived(t, waits, c.by), corev1.PodInitialized), c.once)
		r := *semantics.Default()
		r.Life = c.by
		is(t, "phase at its end", ends(t, Ending{Pod: mains, Cause: CauseShutdown, Release: &r}).Phase, c.ending)
	}
}

// TestKubeletTellsSandbox: the condition names a reason where the kubelet's release has one.
func TestKubeletTellsSandbox(t *testing.T) {
	posted := func(reason, message string) []corev1.PodCondition {
		return []corev1.PodCondition{{Type: corev1.PodReadyToStartContainers, Status: corev1.ConditionFalse, Reason: reason, Message: message}}
	}
	for _, c := range []struct {
		line  string
		phase corev1.PodPhase
		list  []corev1.PodCondition
		want  string
	}{
		{"main a none", corev1.PodPending, nil, "False PodSandboxNotReady no pod sandbox exists"},
		{"main a none", corev1.PodPending, posted("", ""), "False PodSandboxNotReady no pod sandbox exists"},
		{"main a exit:1", corev1.PodRunning, posted("", ""), "False PodSandboxNotReady pod sandbox is not ready"},
		{"main a none", corev1.PodPending, posted("PodSandboxNotReady", "pod sandbox has no IP address"), "False PodSandboxNotReady pod sandbox has no IP address"},
		{"main a exit:1", corev1.PodFailed, posted("PodSandboxNotReady", "pod sandbox has no IP address"), "False PodSandboxNotReady pod sandbox is not ready"},
		{"main a run", corev1.PodRunning, posted("", ""), "True"},
	} {
		p := drawn(t, "Always", c.line)
		p.Status.Phase, p.Status.Conditions = c.phase, c.list
		is(t, c.line, said(*lived(t, p, semantics.Life{TellsSandbox: true}), corev1.PodReadyToStartContainers), c.want)
		silent, _, _ := strings.Cut(c.want, " ")
		is(t, c.line, said(*lived(t, p, semantics.Life{}), corev1.PodReadyToStartContainers), silent)
	}
}

// TestKubeletExitedInitialized: a main container that has ended shows that the init ones were done,
// unless one of them tells that it was in another sandbox.
func TestKubeletExitedInitialized(t *testing.T) {
	for _, c := range []struct {
		lines         []string
		with, without string
	}{
		{[]string{"init i none", "main a exit:1"}, "i:leave a:restart", "i:start a:wait(i)"},
		{[]string{"sidecar s none", "init i wait:PodInitializing", "main a crash:1"}, "s:start i:leave a:restart", "s:start i:wait(s) a:wait(s,i)"},
		{[]string{"init i none", "main a run"}, "i:leave a:leave", "i:leave a:leave"},
		{[]string{"init i run", "init j none", "main a exit:255"}, "i:leave j:wait(i) a:wait(i,j)", "i:leave j:wait(i) a:wait(i,j)"},
		{[]string{"init i exit:1", "main a exit:255"}, "i:restart a:wait(i)", "i:restart a:wait(i)"},
		{[]string{"init i none", "main a wait:PodInitializing"}, "i:start a:wait(i)", "i:start a:wait(i)"},
	} {
		p := drawn(t, "Always", c.lines...)
		is(t, strings.Join(c.lines, ", "), planned(*lived(t, p, semantics.Life{OwnRestarts: true, ExitedInitialized: true})), c.with)
		is(t, strings.Join(c.lines, ", "), planned(*lived(t, p, semantics.Life{OwnRestarts: true})), c.without)
	}
	// What ended in the sandbox before does not count in the one that a timeline makes.
	p := without(t, "Always", "init i exit:0", "init j exit:0", "main a exit:255")
	ends := func(after int, container string) LifeEvent {
		e := failing(after, 0)
		e.Container, e.Probe, e.Result, e.ExitCode = container, "", "", new(int32(0))
		return e
	}
	r := *semantics.Default()
	r.ExitedInitialized = true
	l := live(t, LifeQuestion{Pod: p, Release: &r, Events: []LifeEvent{ends(0, "a"), ends(10, "i"), ends(20, "j"), ends(30, "a")}})
	is(t, "timeline", moments(l), "0 ignored a, 0 container restarted i, 0 phase Pending, 10 container ended i, 10 container started j, 20 container ended j, "+
		"20 container restarted a, 20 phase Running, 20 condition Ready True, 20 condition ContainersReady True, 30 container ended a, 30 back-off a, "+
		"30 condition Ready False, 30 condition ContainersReady False, 40 container restarted a, 40 condition Ready True, 40 condition ContainersReady True")
}

// TestKubeletOwnRestarts: a kubelet that knows no policies of containers follows the pod's, but for
// sidecars.
func TestKubeletOwnRestarts(t *testing.T) {
	p := drawn(t, "Always", "sidecar s exit:1", "init i exit:1 own=Never", "main a exit:1 own=Never rule=In:7:Restart")
	q := drawn(t, "Never", "main a exit:7 own=Never rule=In:7:Restart")
	for _, c := range []struct {
		own                      bool
		phase, next, other, ends string
	}{
		{true, "Failed", "s:leave i:leave a:leave", "Running", "a:restart"},
		{false, "Running", "s:restart i:restart a:wait(i)", "Failed", "a:leave"},
	} {
		by := semantics.Life{OwnRestarts: c.own}
		l := lived(t, p, by)
		is(t, "phase", l.Phase, c.phase)
		is(t, "next", planned(*l), c.next)
		l = lived(t, q, by)
		is(t, "phase", l.Phase, c.other)
		is(t, "next", planned(*l), c.ends)
	}
}

// TestKubeletExecProbes: the exec probes of a pod that ends go on where the release has it so.
func TestKubeletExecProbes(t *testing.T) {
	exec := dying(t, `"spec":{"containers":[{"name":"c","readinessProbe":{"exec":{"command":["x"]}}}]}`)
	get := dying(t, `"spec":{"initContainers":[{"name":"i","readinessProbe":{"exec":{"command":["x"]}}}],"containers":[{"name":"c","readinessProbe":{"httpGet":{"port":80}},"livenessProbe":{"exec":{"command":["x"]}}}]}`)
	const either = "not ready at once; serving as long as its readiness probes succeed"
	for _, goesOn := range []bool{true, false} {
		r := *semantics.Default()
		r.ExecProbesGoOn = goesOn
		want := either
		if goesOn {
			want += ", exec ones as well"
		}
		is(t, "asked by exec", ends(t, Ending{Pod: exec, Cause: CauseDelete, Release: &r}).Endpoints.Detail, want)
		is(t, "asked otherwise", ends(t, Ending{Pod: get, Cause: CauseDelete, Release: &r}).Endpoints.Detail, either)
	}
}
