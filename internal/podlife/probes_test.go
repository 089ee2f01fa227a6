package podlife

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func probesOf(p *corev1.Pod, node NodeState) map[string]Probe {
	m := map[string]Probe{}
	for _, probe := range Lifecycle(p, node, lifeNow).Containers[0].Probes {
		m[probe.Kind] = probe
	}
	return m
}

func TestProbeDefaults(t *testing.T) {
	for kind, p := range probesOf(drawn(t, "Always", "main a run"), NodeHealthy) {
		if p.Set || p.Active || p.Result != "Success" || p.OnFailure != "" || p.Rule.ID != "probe/"+kind+"-default" {
			t.Errorf("%s: %+v", kind, p)
		}
	}
	p := drawn(t, "Always", "main a unstarted")
	c := &p.Spec.Containers[0]
	c.StartupProbe, c.LivenessProbe, c.ReadinessProbe = &corev1.Probe{InitialDelaySeconds: 5, PeriodSeconds: 4, FailureThreshold: 30}, &corev1.Probe{}, &corev1.Probe{}
	got := probesOf(p, NodeHealthy)
	if s := got["startup"]; s.Result != "Unknown" || !s.Active || s.FailsAfterSeconds != 125 || s.TimeoutSeconds != 1 || s.SuccessThreshold != 1 {
		t.Errorf("%+v", s)
	}
	if l := got["liveness"]; l.Result != "Success" || l.Active || l.PeriodSeconds != 10 || l.FailureThreshold != 3 || l.FailsAfterSeconds != 30 {
		t.Errorf("%+v", l)
	}
	if r := got["readiness"]; r.Result != "Failure" || r.Active || !strings.Contains(r.OnFailure, "nothing is killed") {
		t.Errorf("%+v", r)
	}
}

// Which probes run: none before the startup probe has passed but that one, none
// in a pod that has ended, and no liveness once the pod is being deleted.
func TestProbesActive(t *testing.T) {
	for _, c := range []struct {
		what, line string
		change     func(*corev1.Pod)
		node       NodeState
		want       string
	}{
		{"started", "main a run", func(*corev1.Pod) {}, NodeHealthy, "liveness readiness"},
		{"not started", "main a unstarted", func(*corev1.Pod) {}, NodeHealthy, "startup"},
		{"before its delay", "main a unstarted", func(p *corev1.Pod) { p.Spec.Containers[0].StartupProbe.InitialDelaySeconds = 101 }, NodeHealthy, ""},
		{"after its delay", "main a unstarted", func(p *corev1.Pod) { p.Spec.Containers[0].StartupProbe.InitialDelaySeconds = 100 }, NodeHealthy, "startup"},
		{"stopped", "main a exit:1", func(*corev1.Pod) {}, NodeHealthy, ""},
		{"deleted", "main a run", func(p *corev1.Pod) { gone := before(1); p.DeletionTimestamp = &gone }, NodeHealthy, "readiness"},
		{"ended", "main a run", func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed }, NodeHealthy, ""},
		{"of a lost node", "main a run", func(*corev1.Pod) {}, NodeLost, ""},
	} {
		p := drawn(t, "Always", c.line)
		a := &p.Spec.Containers[0]
		a.StartupProbe, a.LivenessProbe, a.ReadinessProbe = &corev1.Probe{}, &corev1.Probe{}, &corev1.Probe{}
		c.change(p)
		var active []string
		got := probesOf(p, c.node)
		for _, kind := range []string{"startup", "liveness", "readiness"} {
			if got[kind].Active {
				active = append(active, kind)
			}
		}
		if s := strings.Join(active, " "); s != c.want {
			t.Errorf("%s: %q, want %q", c.what, s, c.want)
		}
	}
}

func TestWhatAFailedProbeDoes(t *testing.T) {
	for line, want := range map[string]string{
		"main a run":           "The container is killed and started again (the pod's restartPolicy is OnFailure).",
		"main a run own=Never": "The container is killed and not started again (its own restartPolicy is Never).",
		"main a run own=Never rule=In:137:Restart": "The container is killed; its own restartPolicy is Never, so it runs again only if a restart rule matches its exit code.",
		"sidecar a run": "The container is killed and started again (its own restartPolicy is Always).",
		"main a run own=OnFailure rule=In:1:RestartAll": "The container is killed and started again (its own restartPolicy is OnFailure).",
	} {
		p := drawn(t, "OnFailure", line)
		list := p.Spec.Containers
		if strings.HasPrefix(line, "sidecar") {
			list = p.Spec.InitContainers
		}
		list[0].LivenessProbe, list[0].StartupProbe = &corev1.Probe{}, &corev1.Probe{}
		got := probesOf(p, NodeHealthy)
		if got["liveness"].OnFailure != want || got["startup"].OnFailure != want {
			t.Errorf("%s: %s", line, got["liveness"].OnFailure)
		}
	}
	// Plain init containers and ephemeral ones have no probes.
	for _, c := range Lifecycle(drawn(t, "Always", "init i run", "ephemeral e run"), NodeHealthy, lifeNow).Containers {
		if c.Probes != nil {
			t.Errorf("%+v", c)
		}
	}
}
