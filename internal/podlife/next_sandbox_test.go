package podlife

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// without is a pod of these lines whose sandbox is gone, or was never made.
func without(t *testing.T, policy string, lines ...string) *corev1.Pod {
	t.Helper()
	p := drawn(t, policy, lines...)
	p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReadyToStartContainers, Status: corev1.ConditionFalse}}
	return p
}

// TestNextInANewSandbox: a pod whose sandbox is gone begins with its first init container, unless
// nothing in it is to run again.
func TestNextInANewSandbox(t *testing.T) {
	for _, c := range []struct {
		what, policy string
		lines        []string
		want         string
	}{
		{"a node that came back", "Always", []string{"init i exit:0", "init j exit:0", "main a exit:255"}, "i:restart j:wait(i) a:wait(i,j)"},
		{"with a sidecar", "Always", []string{"sidecar s exit:255", "init i exit:0", "main a exit:255", "ephemeral e none", "ephemeral f exit:1"}, "s:restart i:wait(s) a:wait(s,i) e:wait f:leave"},
		{"the first one's back-off counts", "Always", []string{"init i exit:1 restarts=1 ended=4", "main a exit:255"}, "i:backoff+6/10 a:wait(i)"},
		{"without init containers", "Always", []string{"main a exit:255", "main b wait:ContainerCreating"}, "a:restart b:start"},
		{"what has succeeded stays", "OnFailure", []string{"main a exit:0", "main b exit:1"}, "a:leave b:restart"},
		{"behind init containers too", "OnFailure", []string{"init i exit:0", "main a exit:0", "main b exit:1"}, "i:restart a:leave b:wait(i)"},
		{"all have succeeded", "OnFailure", []string{"init i exit:0", "main a exit:0", "main b exit:0 own=OnFailure"}, "i:leave a:leave b:leave"},
		{"no main container began", "OnFailure", []string{"init i exit:0", "main a wait:PodInitializing"}, "i:restart a:wait(i)"},
		{"never", "Never", []string{"init i exit:0", "main a exit:255", "main b wait:ContainerCreating"}, "i:leave a:leave b:leave"},
		{"its own policy counts for the container", "Always", []string{"main a exit:0 own=OnFailure", "main b exit:1"}, "a:leave b:restart"},
		{"a rule restarts it after the others", "Always", []string{"main a exit:0 own=OnFailure rule=In:0:Restart", "main b exit:1"}, "a:wait b:restart"},
		{"a rule for another code does not", "Always", []string{"main a exit:0 own=OnFailure rule=In:1:Restart", "main b exit:1"}, "a:leave b:restart"},
		{"a rule alone makes no sandbox", "Always", []string{"main a exit:0 own=OnFailure rule=In:0:Restart"}, "a:leave"},
		{"a rule behind init containers", "Always", []string{"init i exit:0", "main a exit:0 own=OnFailure rule=In:0:Restart", "main b exit:1"}, "i:restart a:wait(i) b:wait(i)"},
		{"a container that runs has a sandbox", "Always", []string{"init i exit:0", "main a run"}, "i:leave a:leave"},
		{"as has one that was tried", "Always", []string{"init i exit:0", "main a crash:1"}, "i:leave a:restart"},
		{"no sandbox was made yet", "Always", []string{"init i wait:PodInitializing", "main a wait:PodInitializing"}, "i:wait a:wait"},
		{"whatever has a status", "Always", []string{"main a none", "ephemeral e none"}, "a:wait e:wait"},
	} {
		if got := planned(Lifecycle(without(t, c.policy, c.lines...), NodeHealthy, lifeNow)); got != c.want {
			t.Errorf("%s: %s, want %s", c.what, got, c.want)
		}
	}
	l := Lifecycle(without(t, "Always", "init i exit:0", "main a exit:255"), NodeLost, lifeNow)
	is(t, "on a lost node", planned(l), "i:wait a:wait(i)")
	is(t, "on a lost node", l.Containers[0].Next.Rule.ID, "next/node-lost")
}

// TestTimelineOfANewSandbox: the init containers run again, one after the other.
func TestTimelineOfANewSandbox(t *testing.T) {
	p := without(t, "Always", "init i exit:0", "init j exit:0", "main a exit:255")
	ends := func(after int, container string) LifeEvent {
		e := failing(after, 0)
		e.Container, e.Probe, e.Result, e.ExitCode = container, "", "", new(int32(0))
		return e
	}
	l := live(t, LifeQuestion{Pod: p, Events: []LifeEvent{ends(0, "a"), ends(10, "i"), ends(20, "j")}})
	is(t, "timeline", moments(l), "0 ignored a, 0 container restarted i, 0 phase Pending, 10 container ended i, 10 container started j, 20 container ended j, "+
		"20 container restarted a, 20 phase Running, 20 condition Ready True, 20 condition ContainersReady True")
}

// TestTimelineOfARuleInANewSandbox: what a rule alone restarts is started once the others are.
func TestTimelineOfARuleInANewSandbox(t *testing.T) {
	p := without(t, "Always", "main a exit:0 own=OnFailure rule=In:0:Restart", "main b exit:1")
	e := failing(0, 0)
	e.Container, e.Probe, e.Result, e.ExitCode = "a", "", "", new(int32(0))
	is(t, "timeline", moments(live(t, LifeQuestion{Pod: p, Events: []LifeEvent{e}})), "0 ignored a, 0 container restarted b, 0 container restarted a, "+
		"0 condition Ready True, 0 condition ContainersReady True")
}

// TestTimelineOfAFailedStart: nothing starts a container whose Secret is missing.
func TestTimelineOfAFailedStart(t *testing.T) {
	p := drawn(t, "Always", "main c wait:CreateContainerConfigError", "main b run")
	p.Status.ContainerStatuses[0].State.Waiting.Message = `secret "s" not found`
	e := failing(0, 0)
	e.Container, e.Probe, e.Result, e.ExitCode = "b", "", "", new(int32(1))
	l := live(t, LifeQuestion{Pod: p, Events: []LifeEvent{e}})
	is(t, "timeline", moments(l), "0 container ended b, 0 container restarted b")
	is(t, "rule", l.Containers[0].Next.Rule.Text, "Its start failed (CreateContainerConfigError), and fails each time until the cause is gone; the kubelet tries it again after 10 to 15 s.")
	is(t, "message", l.Containers[0].Message, `secret "s" not found`)
}
