package podlife

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func TestStatusColumn(t *testing.T) {
	initialized := func(p *corev1.Pod) {
		p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: corev1.PodInitialized, Status: corev1.ConditionTrue})
	}
	ready := func(p *corev1.Pod) {
		p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionTrue})
	}
	deleted := func(p *corev1.Pod) { gone := before(5); p.DeletionTimestamp = &gone }
	reason := func(s string) func(*corev1.Pod) { return func(p *corev1.Pod) { p.Status.Reason = s } }
	phase := func(s corev1.PodPhase) func(*corev1.Pod) { return func(p *corev1.Pod) { p.Status.Phase = s } }
	type changes []func(*corev1.Pod)
	for _, c := range []struct {
		what     string
		lines    []string
		changes  changes
		want     string
		ready    string
		restarts string
	}{
		{"the phase", []string{"main a run"}, nil, "Running", "1/1", "0"},
		{"the pod's reason", []string{"main a none"}, changes{phase("Failed"), reason("Evicted")}, "Evicted", "0/1", "0"},
		{"a terminated container overwrites it", []string{"main a exit:137"}, changes{phase("Failed"), reason("Evicted")}, "Error", "0/1", "0"},
		{"gated by the reason, whatever the status", []string{"main a none"}, changes{phase("Pending"), func(p *corev1.Pod) {
			p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionTrue, Reason: "SchedulingGated"}}
		}}, "SchedulingGated", "0/1", "0"},
		{"init progress counts sidecars", []string{"sidecar s run", "init i run", "init j wait:PodInitializing", "main a wait:PodInitializing"}, nil, "Init:1/3", "1/2", "0"},
		{"init failed", []string{"init i exit:2", "main a wait:PodInitializing"}, nil, "Init:Error", "0/1", "0"},
		{"init by signal", []string{"init i exit:137: signal=9", "main a wait:PodInitializing"}, nil, "Init:Signal:9", "0/1", "0"},
		{"init by exit code", []string{"init i exit:2:", "main a wait:PodInitializing"}, nil, "Init:ExitCode:2", "0/1", "0"},
		{"init waits", []string{"init i wait:ContainerCreating", "main a wait:PodInitializing"}, nil, "Init:ContainerCreating", "0/1", "0"},
		{"init crash loop and its restarts", []string{"init i crash:1 restarts=4 ended=30", "main a wait:PodInitializing"}, nil, "Init:CrashLoopBackOff", "0/1", "4 (30s ago)"},
		{"a sidecar's crash loop beside a running container", []string{"sidecar s crash:1 restarts=2 ended=70", "main a run"}, changes{initialized}, "Init:CrashLoopBackOff", "1/2", "2 (70s ago)"},
		{"main containers overwrite it with a reason", []string{"sidecar s crash:1", "main a crash:1 restarts=1"}, changes{initialized}, "CrashLoopBackOff", "0/2", "1 (50s ago)"},
		{"the first container's reason wins", []string{"main a wait:ErrImagePull", "main b wait:ImagePullBackOff"}, nil, "ErrImagePull", "0/2", "0"},
		{"an empty reason changes nothing", []string{"main a wait:", "main b exit:1"}, nil, "Error", "0/2", "0"},
		{"completed beside a running one, pod ready", []string{"main a exit:0", "main b run"}, changes{ready}, "Running", "1/2", "0"},
		{"completed beside a running one, pod not ready", []string{"main a exit:0", "main b run"}, nil, "NotReady", "1/2", "0"},
		{"an unready one does not count as running", []string{"main a exit:0", "main b unready"}, nil, "Completed", "0/2", "0"},
		{"a failed sibling comes before NotReady", []string{"main a exit:0", "main b exit:1", "main c run"}, nil, "Error", "1/3", "0"},
		{"signal before exit code", []string{"main a exit:137: signal=9"}, nil, "Signal:9", "0/1", "0"},
		{"exit code 0 without a reason", []string{"main a exit:0:"}, nil, "ExitCode:0", "0/1", "0"},
		{"terminating", []string{"main a run"}, changes{deleted}, "Terminating", "1/1", "0"},
		{"terminating hides a crash loop", []string{"main a crash:1 restarts=7 ended=4000"}, changes{deleted}, "Terminating", "0/1", "7 (66m ago)"},
		{"not once it has ended", []string{"main a exit:0"}, changes{deleted, phase("Succeeded")}, "Completed", "0/1", "0"},
		{"deleted on a lost node", []string{"main a run"}, changes{deleted, reason("NodeLost")}, "Unknown", "1/1", "0"},
		{"lost, not deleted", []string{"main a run"}, changes{reason("NodeLost")}, "NodeLost", "1/1", "0"},
		{"restarts of init containers that are done do not count", []string{"init i exit:0 restarts=5", "main a run restarts=1"}, nil, "Running", "1/1", "1"},
	} {
		p := drawn(t, "Always", c.lines...)
		for _, change := range c.changes {
			change(p)
		}
		got := kubectlColumns(p, lifeNow)
		if got.Status != c.want || got.Ready != c.ready || got.Restarts != c.restarts || got.Rule.ID == "" || got.Rule.Text == "" {
			t.Errorf("%s: %+v, want %s %s %s", c.what, got, c.ready, c.want, c.restarts)
		}
	}
}
