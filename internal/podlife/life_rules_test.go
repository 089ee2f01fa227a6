package podlife

import (
	"encoding/json"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/kube/object/stored"
)

// TestLifeRules holds phases, container states, restarts, conditions and probes to
// what Kubernetes documents of a pod's lifecycle.
func TestLifeRules(t *testing.T) {
	judge := func(t *testing.T, policy string, lines ...string) Life {
		t.Helper()
		return Lifecycle(drawn(t, policy, lines...), NodeHealthy, lifeNow)
	}
	expect := func(t *testing.T, l Life, phase corev1.PodPhase, next string) {
		t.Helper()
		if l.Phase != phase || planned(l) != next {
			t.Errorf("%s, %s; want %s, %s", l.Phase, planned(l), phase, next)
		}
	}

	t.Run("PodPhase", func(t *testing.T) {
		t.Run("PendingWhileItWaitsToBeScheduled", func(t *testing.T) {
			p := drawn(t, "Always", "main a none")
			p.Spec.NodeName, p.Status.Phase = "", ""
			expect(t, Lifecycle(p, NodeHealthy, lifeNow), "Pending", "a:wait")
		})
		t.Run("PendingWhileImagesAreDownloaded", func(t *testing.T) {
			expect(t, judge(t, "Always", "main a run", "main b wait:ContainerCreating"), "Pending", "a:leave b:start")
		})
		t.Run("RunningWithOneContainerThatRuns", func(t *testing.T) {
			expect(t, judge(t, "Never", "main a run", "main b exit:1"), "Running", "a:leave b:leave")
		})
		t.Run("RunningWhileOneIsBeingRestarted", func(t *testing.T) {
			expect(t, judge(t, "Always", "main a exit:1"), "Running", "a:restart")
		})
		t.Run("SucceededWhenAllEndedWellForGood", func(t *testing.T) {
			expect(t, judge(t, "OnFailure", "main a exit:0", "main b exit:0"), "Succeeded", "a:leave b:leave")
		})
		t.Run("FailedWhenOneEndedWithAnotherCode", func(t *testing.T) {
			expect(t, judge(t, "Never", "main a exit:0", "main b exit:2"), "Failed", "a:leave b:leave")
		})
		t.Run("FailedWhenTheSystemKilledOne", func(t *testing.T) {
			expect(t, judge(t, "Never", "main a exit:137:OOMKilled signal=9"), "Failed", "a:leave")
		})
		t.Run("UnknownWhenTheNodeIsOutOfReach", func(t *testing.T) {
			p := drawn(t, "Always", "main a run")
			p.Status.Phase = corev1.PodUnknown
			if l := Lifecycle(p, NodeLost, lifeNow); l.Phase != corev1.PodUnknown || l.Status != "Unknown" {
				t.Errorf("%s %s", l.Phase, l.Status)
			}
		})
		t.Run("DeletedPodsEndBeforeTheyAreRemoved", func(t *testing.T) {
			for code, phase := range map[string]corev1.PodPhase{"0": "Succeeded", "1": "Failed"} {
				p := drawn(t, "Always", "main a exit:"+code)
				gone := before(1)
				p.DeletionTimestamp = &gone
				expect(t, Lifecycle(p, NodeHealthy, lifeNow), phase, "a:leave")
			}
		})
		t.Run("ADeadNodeMakesFailed", func(t *testing.T) {
			l := Lifecycle(drawn(t, "Always", "main a run"), NodeGone, lifeNow)
			expect(t, l, "Failed", "a:leave")
		})
	})

	t.Run("ContainerStates", func(t *testing.T) {
		l := judge(t, "Always", "main a wait:ContainerCreating", "main b run", "main c exit:3")
		for i, want := range []string{"waiting ContainerCreating", "running", "terminated Error"} {
			if got := strings.TrimSpace(l.Containers[i].State + " " + l.Containers[i].Reason); got != want {
				t.Errorf("%s, want %s", got, want)
			}
		}
		if code := l.Containers[2].ExitCode; code == nil || *code != 3 {
			t.Error(code)
		}
	})

	t.Run("ContainerProblems", func(t *testing.T) {
		t.Run("TheFirstFailureRestartsAtOnce", func(t *testing.T) {
			expect(t, judge(t, "Always", "main a exit:1 ended=0"), "Running", "a:restart")
		})
		t.Run("RepeatedFailuresWaitTwiceAsLong", func(t *testing.T) {
			for restarts, next := range map[string]string{"1": "a:backoff+10/10", "2": "a:backoff+20/20", "3": "a:backoff+40/40"} {
				expect(t, judge(t, "Always", "main a crash:1 ended=0 restarts="+restarts), "Running", next)
			}
		})
		t.Run("AtMostFiveMinutes", func(t *testing.T) {
			expect(t, judge(t, "Always", "main a crash:1 ended=0 restarts=40"), "Running", "a:backoff+300/300")
		})
		t.Run("CrashLoopBackOffIsWhatListsShow", func(t *testing.T) {
			if l := judge(t, "Always", "main a crash:1 restarts=4"); l.Status != "CrashLoopBackOff" {
				t.Error(l.Status)
			}
		})
		t.Run("TenMinutesWithoutAProblemResetTheDelay", func(t *testing.T) {
			expect(t, judge(t, "Always", "main a exit:1 restarts=9 ended=0 ran=700"), "Running", "a:restart")
		})
	})

	t.Run("RestartPolicy", func(t *testing.T) {
		for policy, want := range map[string][2]string{
			"Always": {"a:restart", "a:restart"}, "OnFailure": {"a:leave", "a:restart"}, "Never": {"a:leave", "a:leave"}, "": {"a:restart", "a:restart"},
		} {
			if got := planned(judge(t, policy, "main a exit:0")); got != want[0] {
				t.Errorf("%q, exit 0: %s", policy, got)
			}
			if got := planned(judge(t, policy, "main a exit:1")); got != want[1] {
				t.Errorf("%q, exit 1: %s", policy, got)
			}
		}
		t.Run("SidecarsIgnoreThePods", func(t *testing.T) {
			expect(t, judge(t, "Never", "sidecar s exit:0", "main a run"), "Running", "s:restart a:leave")
		})
		t.Run("InitContainersRestartUnderOnFailureAndAlways", func(t *testing.T) {
			for _, policy := range []string{"OnFailure", "Always"} {
				expect(t, judge(t, policy, "init i exit:1", "main a wait:PodInitializing"), "Pending", "i:restart a:wait(i)")
			}
			expect(t, judge(t, "Never", "init i exit:1", "main a wait:PodInitializing"), "Failed", "i:leave a:leave")
		})
	})

	t.Run("PodConditions", func(t *testing.T) {
		l := judge(t, "Always", "main a run")
		for _, kind := range []corev1.PodConditionType{corev1.PodScheduled, corev1.PodReadyToStartContainers, corev1.ContainersReady, corev1.PodInitialized, corev1.PodReady} {
			if said(l, kind) != "True" {
				t.Errorf("%s: %q", kind, said(l, kind))
			}
		}
	})

	// The document's own manifest.
	t.Run("PodReadinessExample", func(t *testing.T) {
		p := &corev1.Pod{}
		const manifest = `{"kind": "Pod", "spec": {"nodeName": "n1", "containers": [{"name": "a"}], "readinessGates": [{"conditionType": "www.example.com/feature-1"}]},
			"status": {"phase": "Running", "conditions": [
				{"type": "Ready", "status": "False", "lastProbeTime": null, "lastTransitionTime": "2018-01-01T00:00:00Z"},
				{"type": "www.example.com/feature-1", "status": "False", "lastProbeTime": null, "lastTransitionTime": "2018-01-01T00:00:00Z"}],
				"containerStatuses": [{"name": "a", "containerID": "docker://abcd", "ready": true, "started": true, "state": {"running": {}}}]}}`
		if err := json.Unmarshal([]byte(manifest), p); err != nil {
			t.Fatal(err)
		}
		l := Lifecycle(p, NodeHealthy, lifeNow)
		if got := said(l, corev1.PodReady); got != `False ReadinessGatesNotReady the status of pod readiness gate "www.example.com/feature-1" is not "True", but False` {
			t.Error(got)
		}
		if got := said(l, corev1.ContainersReady); got != "True" {
			t.Error(got)
		}
		for _, c := range l.Conditions {
			if c.Type == corev1.PodReady && c.LastTransitionTime.Year() != 2018 {
				t.Errorf("a status that stays has no new transition: %+v", c)
			}
		}
		p.Status.Conditions[1].Status = corev1.ConditionTrue
		if got := said(Lifecycle(p, NodeHealthy, lifeNow), corev1.PodReady); got != "True" {
			t.Error(got)
		}
		p.Status.Conditions = p.Status.Conditions[:1]
		if got := said(Lifecycle(p, NodeHealthy, lifeNow), corev1.PodReady); got != `False ReadinessGatesNotReady corresponding condition of pod readiness gate "www.example.com/feature-1" does not exist.` {
			t.Error(got)
		}
	})

	t.Run("PodNetworkReadiness", func(t *testing.T) {
		t.Run("InitializedBeforeTheSandboxWithoutInitContainers", func(t *testing.T) {
			l := judge(t, "Always", "main a wait:ContainerCreating")
			if said(l, corev1.PodReadyToStartContainers) != "False" || said(l, corev1.PodInitialized) != "True" {
				t.Errorf("%+v", l.Conditions)
			}
		})
		t.Run("InitializedAfterTheInitContainers", func(t *testing.T) {
			l := judge(t, "Always", "init i run", "main a wait:PodInitializing")
			if said(l, corev1.PodReadyToStartContainers) != "True" || !strings.HasPrefix(said(l, corev1.PodInitialized), "False") {
				t.Errorf("%+v", l.Conditions)
			}
			if l = judge(t, "Always", "init i exit:0", "main a wait:PodInitializing"); said(l, corev1.PodInitialized) != "True" {
				t.Errorf("%+v", l.Conditions)
			}
		})
	})

	t.Run("ContainerProbes", func(t *testing.T) {
		p := drawn(t, "Never", "main a unstarted")
		for kind, probe := range probesOf(p, NodeHealthy) {
			if probe.Result != "Success" {
				t.Errorf("%s is not set and counts as %s", kind, probe.Result)
			}
		}
		c := &p.Spec.Containers[0]
		c.StartupProbe, c.LivenessProbe, c.ReadinessProbe = &corev1.Probe{}, &corev1.Probe{}, &corev1.Probe{}
		got := probesOf(p, NodeHealthy)
		if got["readiness"].Result != "Failure" || got["readiness"].Active || got["liveness"].Active || !got["startup"].Active {
			t.Errorf("%+v", got)
		}
		for kind, part := range map[string]string{"startup": "killed and not started again", "liveness": "killed and not started again", "readiness": "taken out of its services"} {
			if !strings.Contains(got[kind].OnFailure, part) || !strings.Contains(got[kind].OnUnknown, "Nothing changes") {
				t.Errorf("%s: %+v", kind, got[kind])
			}
		}
	})

	t.Run("SchedulingGates", func(t *testing.T) {
		p := drawn(t, "Always", "main a none")
		p.Spec.NodeName, p.Status.Phase = "", corev1.PodPending
		p.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "example.com/a"}}
		p.Status.Conditions = []corev1.PodCondition{stored.GatedCondition(before(9))}
		l := Lifecycle(p, NodeHealthy, lifeNow)
		if l.Status != "SchedulingGated" || l.Phase != corev1.PodPending || planned(l) != "a:wait" || !strings.HasPrefix(said(l, corev1.PodScheduled), "False SchedulingGated") {
			t.Errorf("%+v", l)
		}
	})

	t.Run("TerminatingIsWhatListsShow", func(t *testing.T) {
		p := drawn(t, "Always", "main a run")
		gone := before(1)
		p.DeletionTimestamp = &gone
		if l := Lifecycle(p, NodeHealthy, lifeNow); l.Status != "Terminating" || l.Phase != corev1.PodRunning || planned(l) != "a:leave" {
			t.Errorf("%+v", l)
		}
	})
}
