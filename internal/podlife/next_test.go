package podlife

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
)

func TestBackoff(t *testing.T) {
	for restarts, seconds := range []int{0, 10, 20, 40, 80, 160, 300, 300, 300} {
		end := &corev1.ContainerStateTerminated{StartedAt: before(20), FinishedAt: before(10)}
		if delay, steady := backoff(int32(restarts), end, longestBackoff); delay != time.Duration(seconds)*time.Second || steady {
			t.Errorf("after %d restarts: %s %v", restarts, delay, steady)
		}
	}
	if delay, _ := backoff(1<<31-1, &corev1.ContainerStateTerminated{}, longestBackoff); delay != 300*time.Second {
		t.Errorf("after very many: %s", delay)
	}
	if delay, _ := backoff(-1, &corev1.ContainerStateTerminated{}, longestBackoff); delay != 0 {
		t.Errorf("after less than none: %s", delay)
	}
	for ran, want := range map[int]time.Duration{600: 40 * time.Second, 601: 0} {
		end := &corev1.ContainerStateTerminated{StartedAt: before(ran + 10), FinishedAt: before(10)}
		if delay, steady := backoff(3, end, longestBackoff); delay != want || steady != (want == 0) {
			t.Errorf("a run of %d s: %s %v", ran, delay, steady)
		}
	}
}

// backoff is the delay after a run, of a container that was restarted so often.
func backoff(restarts int32, end *corev1.ContainerStateTerminated, longest time.Duration) (delay time.Duration, steady bool) {
	m := remembered(restarts, end.StartedAt.Time, longest)
	return m.after(end.FinishedAt.Time), m.delay > 0 && m.steady(end.FinishedAt.Time)
}

// The kubelet's longest delay bounds the first one as well, and does not change
// after how long a run the delays are forgotten.
func TestBackoffOfAConfiguredKubelet(t *testing.T) {
	for _, c := range []struct {
		longest  int
		restarts int32
		ran      int
		want     int
	}{{1, 1, 10, 1}, {7, 1, 10, 7}, {7, 9, 10, 7}, {15, 1, 10, 10}, {15, 2, 10, 15}, {60, 3, 10, 40}, {60, 4, 10, 60}, {60, 50, 599, 60}, {60, 50, 601, 0}} {
		end := &corev1.ContainerStateTerminated{StartedAt: before(c.ran), FinishedAt: before(0)}
		if delay, _ := backoff(c.restarts, end, time.Duration(c.longest)*time.Second); delay != time.Duration(c.want)*time.Second {
			t.Errorf("%+v: %s", c, delay)
		}
	}
}

func TestNext(t *testing.T) {
	for _, c := range []struct {
		what, policy string
		lines        []string
		want         string
	}{
		{"the first restart is at once", "Always", []string{"main a exit:1 ended=0"}, "a:restart"},
		{"after exit 0 as well", "Always", []string{"main a exit:0 restarts=1 ended=4"}, "a:backoff+6/10"},
		{"from the end of the last run", "OnFailure", []string{"main a crash:1 restarts=5 ended=60"}, "a:backoff+100/160"},
		{"five minutes at most", "OnFailure", []string{"main a crash:1 restarts=50 ended=60"}, "a:backoff+240/300"},
		{"one second before its end", "Always", []string{"main a crash:1 restarts=2 ended=19"}, "a:backoff+1/20"},
		{"at its end", "Always", []string{"main a crash:1 restarts=2 ended=20"}, "a:restart"},
		{"a long run begins anew", "Always", []string{"main a crash:1 restarts=9 ended=1 ran=601"}, "a:restart"},
		{"a run of ten minutes is not long", "Always", []string{"main a crash:1 restarts=1 ended=1 ran=600"}, "a:backoff+9/10"},
		{"not restarted", "OnFailure", []string{"main a exit:0", "main b run"}, "a:leave b:leave"},
		{"by a rule", "Never", []string{"main a exit:42 own=Never rule=In:42:Restart restarts=1 ended=1", "main b exit:1"}, "a:backoff+9/10 b:leave"},
		{"images have no time", "Always", []string{"main a wait:ErrImagePull", "main b wait:ImagePullBackOff", "main c wait:InvalidImageName"}, "a:backoff b:backoff c:backoff"},
		{"a container that cannot be made", "Always", []string{"main a wait:CreateContainerConfigError", "main b wait:CreateContainerError", "main c wait:PreCreateHookError", "main d wait:PreStartHookError"}, "a:backoff b:backoff c:backoff d:backoff"},
		{"whatever ran before", "Always", []string{"main a wait:CreateContainerConfigError last=1", "main b wait:PreStartHookError last=1"}, "a:backoff b:backoff"},
		{"a container that cannot be started", "Always", []string{"main a wait:RunContainerError", "main b wait:PostStartHookError"}, "a:backoff b:backoff"},
		{"whose run ended", "Always", []string{"main a wait:RunContainerError last=128 restarts=1 ended=4", "main b wait:PostStartHookError last=137"}, "a:backoff+6/10 b:restart"},
		{"which is not started again", "Never", []string{"main a wait:RunContainerError last=128", "main b run"}, "a:leave b:leave"},
		{"an init container that cannot be made", "Never", []string{"init i wait:CreateContainerConfigError", "main a wait:PodInitializing"}, "i:backoff a:wait(i)"},
		{"new", "Always", []string{"init i none", "init j none", "main a none"}, "i:start j:wait(i) a:wait(i,j)"},
		{"the next init container", "Always", []string{"init i exit:0", "init j wait:PodInitializing", "main a wait:PodInitializing"}, "i:leave j:start a:wait(j)"},
		{"while one runs", "Always", []string{"init i run", "init j wait:PodInitializing", "main a wait:PodInitializing"}, "i:leave j:wait(i) a:wait(i,j)"},
		{"a sidecar has to have started", "Always", []string{"sidecar s unstarted", "init i none", "main a none"}, "s:leave i:wait(s) a:wait(s,i)"},
		{"a sidecar that started", "Always", []string{"sidecar s run", "init i none", "main a none"}, "s:leave i:start a:wait(i)"},
		{"all are through", "Always", []string{"init i exit:0", "sidecar s run", "main a none", "main b none"}, "i:leave s:leave a:start b:start"},
		{"a failed init container", "OnFailure", []string{"init i crash:1 restarts=1 ended=3", "main a wait:PodInitializing"}, "i:backoff+7/10 a:wait(i)"},
		{"out of memory is a failure, whatever the exit code", "Always", []string{"init i exit:0:OOMKilled", "main a wait:PodInitializing"}, "i:restart a:wait(i)"},
		{"sidecars restart beside main containers", "Never", []string{"sidecar s exit:1", "main a run"}, "s:restart a:leave"},
		{"whatever the exit code and the pod's policy", "Never", []string{"sidecar s crash:0 restarts=2 ended=5", "main a run"}, "s:backoff+15/20 a:leave"},
		{"a sidecar that was lost", "Always", []string{"init i exit:0", "sidecar s wait:PodInitializing", "main a run"}, "i:leave s:start a:leave"},
		{"plain ones do not run again beside main containers", "Always", []string{"init i exit:1", "main a run"}, "i:leave a:leave"},
		{"nor if nothing is known of them", "Always", []string{"init i none", "main a run"}, "i:leave a:leave"},
		{"one behind which another ran is not looked at again", "Always", []string{"init i exit:1", "init j exit:0", "main a wait:PodInitializing"}, "i:leave j:leave a:start"},
		{"nor started if it never ran", "Always", []string{"init i none", "init j run", "main a none"}, "i:leave j:leave a:wait(j)"},
		{"the main containers are done: no sidecar starts", "Never", []string{"sidecar s exit:1", "sidecar r run", "main a exit:0"}, "s:leave r:leave a:leave"},
		{"main containers wait for a sidecar to be up again", "Always", []string{"sidecar s exit:1", "main a exit:1"}, "s:restart a:wait(s)"},
		{"ephemeral ones start at once and once", "Always", []string{"init i run", "main a none", "ephemeral e none", "ephemeral f exit:1", "ephemeral g run"}, "i:leave a:wait(i) e:start f:leave g:leave"},
		{"the pod has ended", "Never", []string{"init i exit:1", "sidecar s run", "main a none"}, "i:leave s:leave a:leave"},
	} {
		l := Lifecycle(drawn(t, c.policy, c.lines...), NodeHealthy, lifeNow)
		if got := planned(l); got != c.want {
			t.Errorf("%s: %s, want %s", c.what, got, c.want)
		}
	}
}

// TestStartFailedAfterRemoval: the run before was removed for a restart of all containers, so a
// start that failed since has no run that ended, and is tried again after its back-off.
func TestStartFailedAfterRemoval(t *testing.T) {
	p := drawn(t, "Always", "main a wait:RunContainerError last=137", "main b wait:PodInitializing last=137")
	for i := range p.Status.ContainerStatuses {
		p.Status.ContainerStatuses[i].LastTerminationState.Terminated.Reason = "RestartingAllContainers"
	}
	is(t, "next", planned(Lifecycle(p, NodeHealthy, lifeNow)), "a:backoff b:restart")
}

// A back-off says when it ends: finishedAt and its length together.
func TestBackoffEnds(t *testing.T) {
	l := Lifecycle(drawn(t, "Always", "main a crash:1 restarts=3 ended=15"), NodeHealthy, lifeNow.Add(500*time.Millisecond))
	n := l.Containers[0].Next
	if n.At == nil || !n.At.Equal(lifeNow.Add(25*time.Second)) || n.BackoffSeconds != 40 || n.RemainingSeconds != 25 || n.Rule.ID != "next/backoff" {
		t.Errorf("%+v", n)
	}
}

// A pod of very many init containers names a few of those that are waited for.
func TestWaitNamesAFew(t *testing.T) {
	p := &corev1.Pod{Spec: corev1.PodSpec{NodeName: "n1", Containers: []corev1.Container{{Name: "a"}}}}
	for range 2000 {
		p.Spec.InitContainers = append(p.Spec.InitContainers, corev1.Container{Name: "i"})
	}
	l := Lifecycle(p, NodeHealthy, lifeNow)
	n := l.Containers[2000].Next
	if len(n.For) != named || n.Rule.Text != "It waits until i, i, i, i, i, i, i, i, i, i and 1990 more are done or, if a sidecar, started." {
		t.Errorf("%+v", n)
	}
}
