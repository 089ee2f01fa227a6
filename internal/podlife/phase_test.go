package podlife

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func TestPhase(t *testing.T) {
	for _, c := range []struct {
		what, policy string
		lines        []string
		phase        corev1.PodPhase
		rule         string
	}{
		{"one that never ran, beside one that runs", "Always", []string{"main a run", "main b wait:ErrImagePull"}, "Pending", "phase/waiting"},
		{"a crash loop counts as stopped", "Always", []string{"main a crash:1"}, "Running", "phase/restarting"},
		{"a failed init container before everything else", "Never", []string{"init i exit:1", "main a run"}, "Failed", "phase/init-failed"},
		{"one that may run again", "OnFailure", []string{"init i exit:1", "main a wait:PodInitializing"}, "Pending", "phase/waiting"},
		{"an init container's own policy", "Always", []string{"init i exit:1 own=Never", "main a wait:PodInitializing"}, "Failed", "phase/init-failed"},
		{"a rule of its own lets it run again", "Never", []string{"init i exit:42 own=Never rule=In:42:Restart", "main a wait:PodInitializing"}, "Pending", "phase/waiting"},
		{"a rule without a policy is not read", "Never", []string{"init i exit:42 rule=In:42:Restart", "main a run"}, "Failed", "phase/init-failed"},
		{"the first rule that matches", "Never", []string{"main a exit:3 own=Never rule=NotIn:42:Restart"}, "Running", "phase/restarting"},
		{"a rule that does not match", "Always", []string{"main a exit:42 own=Never rule=NotIn:42:Restart"}, "Failed", "phase/failed"},
		{"an init container runs", "Always", []string{"init i run", "main a wait:PodInitializing"}, "Pending", "phase/init-pending"},
		{"all done well", "OnFailure", []string{"main a exit:0", "main b exit:0"}, "Succeeded", "phase/succeeded"},
		{"one failed for good", "Never", []string{"main a exit:0", "main b exit:1"}, "Failed", "phase/failed"},
		{"one may run again", "OnFailure", []string{"main a exit:0", "main b exit:1"}, "Running", "phase/restarting"},
		{"a back-off after exit 0 never counts as success", "OnFailure", []string{"main a crash:0"}, "Failed", "phase/failed"},
		{"a policy that is not set is Always", "", []string{"main a exit:0"}, "Running", "phase/restarting"},
		{"sidecars that stopped do not count", "Never", []string{"sidecar s exit:1", "main a exit:0"}, "Succeeded", "phase/succeeded"},
		{"a sidecar alone keeps a pod Running", "Never", []string{"sidecar s run", "main a exit:0"}, "Running", "phase/running"},
		{"a sidecar that has not started", "Always", []string{"sidecar s unstarted", "main a wait:PodInitializing"}, "Pending", "phase/sidecar-pending"},
		{"the same after a main container ran", "Always", []string{"sidecar s unstarted", "main a run"}, "Running", "phase/running"},
		{"a main container without a status", "Always", []string{"main a run", "main b none"}, "Pending", "phase/unknown-container"},
		{"a status without a state", "Always", []string{"main a blank"}, "Pending", "phase/unknown-container"},
		{"no container at all", "Always", nil, "Pending", "phase/no-container"},
		{"removed for a restart of all", "Never", []string{"main a exit:137:RestartingAllContainers"}, "Running", "phase/restarting"},
	} {
		l := Lifecycle(drawn(t, c.policy, c.lines...), NodeHealthy, lifeNow)
		if l.Phase != c.phase || l.PhaseRule.ID != c.rule {
			t.Errorf("%s: %s by %+v, want %s by %s", c.what, l.Phase, l.PhaseRule, c.phase, c.rule)
		}
	}
}

func TestPhaseOfDeletedAndEndedPods(t *testing.T) {
	for _, c := range []struct {
		what   string
		policy string
		line   string
		source string
		phase  corev1.PodPhase
	}{
		{"all well", "Always", "main a exit:0", "", "Succeeded"},
		{"a failure", "Always", "main a exit:1", "", "Failed"},
		{"still running", "Always", "main a run", "", "Running"},
		{"a static pod has no end", "Always", "main a exit:0", "file", "Running"},
		{"one from the API says so", "Always", "main a exit:0", "api", "Succeeded"},
	} {
		p := drawn(t, c.policy, c.line)
		gone := before(10)
		p.DeletionTimestamp = &gone
		if c.source != "" {
			p.Annotations = map[string]string{"kubernetes.io/config.source": c.source}
		}
		if l := Lifecycle(p, NodeHealthy, lifeNow); l.Phase != c.phase {
			t.Errorf("deleted, %s: %s, want %s", c.what, l.Phase, c.phase)
		}
	}
	for _, phase := range []corev1.PodPhase{corev1.PodSucceeded, corev1.PodFailed} {
		p := drawn(t, "Always", "main a run")
		p.Status.Phase, p.Status.Reason, p.Status.Message = phase, "Evicted", "low on memory"
		if l := Lifecycle(p, NodeHealthy, lifeNow); l.Phase != phase || l.PhaseRule.ID != "phase/terminal-stays" || l.Reason != "Evicted" || l.Message != "low on memory" || planned(l) != "a:leave" {
			t.Errorf("%s: %+v", phase, l)
		}
	}
}
