package scenario_test

import (
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth/test/enginetest"
)

// TestClockLeadsPods plays what happens to containers.
func TestClockLeadsPods(t *testing.T) {
	always := corev1.ContainerRestartPolicyAlways
	web := func(name string) *corev1.Pod {
		return running(enginetest.Pod(name, enginetest.Requests("cpu", "1"), enginetest.On("a"), enginetest.Labels("app", "web")), "ReplicaSet", "web", 20, 30)
	}
	probed := web("web-1")
	probed.Spec.Containers[0].ReadinessProbe = &corev1.Probe{PeriodSeconds: 5, FailureThreshold: 2, ProbeHandler: corev1.ProbeHandler{Exec: &corev1.ExecAction{}}}
	probed.Spec.Containers[0].LivenessProbe = &corev1.Probe{PeriodSeconds: 10, FailureThreshold: 3, ProbeHandler: corev1.ProbeHandler{Exec: &corev1.ExecAction{}}}
	work := func(name string, policy corev1.RestartPolicy) *corev1.Pod {
		p := jobPod(name, "a")
		p.Spec.RestartPolicy = policy
		p.Status.Phase, p.Status.StartTime = corev1.PodRunning, &metav1.Time{Time: noon.Add(-time.Minute)}
		return p
	}
	limited := work("train-0", corev1.RestartPolicyNever)
	limited.Spec.ActiveDeadlineSeconds = new(int64(100))
	sidecar := work("train-0", corev1.RestartPolicyNever)
	sidecar.Spec.InitContainers = []corev1.Container{{Name: "log", RestartPolicy: &always}}
	looping := web("web-1")
	looping.Status.Conditions[0].Status = corev1.ConditionFalse
	looping.Status.ContainerStatuses = []corev1.ContainerStatus{{
		Name: looping.Spec.Containers[0].Name, RestartCount: 4, State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}},
		LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
			ExitCode: 1, StartedAt: metav1.NewTime(noon.Add(-25 * time.Second)), FinishedAt: metav1.NewTime(noon.Add(-20 * time.Second)),
		}},
	}}
	for _, c := range []struct {
		what, question, want string
		objects              []any
	}{
		{
			"a container that ends starts again at once, then after 10 s; meanwhile the budget counts it", `{"events":[{"at":"10s","containerExits":{"name":"web-1","exitCode":1}},{"at":"15s","containerExits":{"name":"web-1","exitCode":1}},{"at":"20s","evict":{"name":"web-2"}},{"at":"30s","evict":{"name":"web-2"}}]}`, `
10 containerExited web-1 a
10 containerRestarted web-1 a
15 containerExited web-1 a
15 backOff web-1 a
15 unready web-1 a
20 refused web-2: evict: Cannot evict pod as it would violate the pod's disruption budget.
25 containerRestarted web-1 a
25 ready web-1 a
30 leaves web-2 a: eviction
30 created web-2-2
30 bound web-2-2 a
50 ready web-2-2 a
60 gone web-2 a
idle
`,
			[]any{alive("a", "8"), web("web-1"), web("web-2"), budgetOf("web", "web", 2, 1)},
		},
		{"one that ends each time comes to repeat itself", `{"events":[{"at":"10s","containerExits":{"name":"web-1","exitCode":1,"every":"5s"}}]}`, `
10 containerExited web-1 a
10 containerRestarted web-1 a
15 containerExited web-1 a
15 backOff web-1 a
15 unready web-1 a
25 containerRestarted web-1 a
25 ready web-1 a
30 containerExited web-1 a
30 backOff web-1 a
30 unready web-1 a
50 containerRestarted web-1 a
50 ready web-1 a
55 containerExited web-1 a
55 backOff web-1 a
55 unready web-1 a
95 containerRestarted web-1 a
95 ready web-1 a
100 containerExited web-1 a
100 backOff web-1 a
100 unready web-1 a
180 containerRestarted web-1 a
180 ready web-1 a
185 containerExited web-1 a
185 backOff web-1 a
185 unready web-1 a
345 containerRestarted web-1 a
345 ready web-1 a
350 containerExited web-1 a
350 backOff web-1 a
350 unready web-1 a
650 containerRestarted web-1 a
650 ready web-1 a
655 containerExited web-1 a
655 backOff web-1 a
655 unready web-1 a
955 containerRestarted web-1 a
955 ready web-1 a
955 repeats web-1 a
960 containerExited web-1 a
960 backOff web-1 a
960 unready web-1 a
idle
`, []any{alive("a", "2"), web("web-1")}},
		{"one in back-off ends as it did before", `{"until":{"duration":"2m"}}`, `
0 backOff web-1 a
60 containerRestarted web-1 a
60 ready web-1 a
65 containerExited web-1 a
65 backOff web-1 a
65 unready web-1 a
duration
`, []any{alive("a", "2"), looping}},
		{"readiness fails for a minute; there is no startup probe", `{"events":[{"at":"10s","probeFails":{"name":"web-1","probe":"readiness","for":"1m"}},{"at":"10s","probeFails":{"name":"web-1","probe":"startup"}}]}`, `
10 refused web-1: probeFails: container main has no startup probe
15 probeFailed web-1 a
15 unready web-1 a
70 ready web-1 a
idle
`, []any{alive("a", "2"), probed}},
		{"a container that fails its liveness probe is stopped and starts again", `{"events":[{"at":"10s","probeFails":{"name":"web-1","probe":"liveness","for":"1m"}}]}`, `
30 probeFailed web-1 a
30 containerStopping web-1 a
60 containerExited web-1 a
60 containerRestarted web-1 a
60 unready web-1 a
60 ready web-1 a
idle
`, []any{alive("a", "2"), probed}},
		{"a node starts again: its pods too, and one that may not fails", `{"events":[{"at":"10s","rebootNodes":{"nodes":["a"]}}]}`, `
10 nodeReboots a
60 nodeNotReady a
60 unready train-0 a
60 unready web-1 a
70 nodeBack a
70 failed train-0 a
80 created train-0-2
80 bound train-0-2 a
90 ready train-0-2 a
90 containerRestarted web-1 a
90 ready web-1 a
idle
`, []any{alive("a", "4"), web("web-1"), work("train-0", corev1.RestartPolicyNever), job(batchv1.JobSpec{})}},
		{"a Job counts a pod that fails", `{"events":[{"at":"10s","containerExits":{"name":"train-0","exitCode":3}}]}`, `
10 containerExited train-0 a
10 failed train-0 a
20 created train-0-2
20 bound train-0-2 a
30 ready train-0-2 a
idle
`, []any{alive("a", "4"), work("train-0", corev1.RestartPolicyNever), job(batchv1.JobSpec{})}},
		{"a Job makes a pod for what it still has to complete", `{"events":[{"at":"10s","containerExits":{"name":"train-0","exitCode":0}}]}`, `
10 containerExited train-0 a
10 succeeded train-0 a
10 created train-0-2
10 bound train-0-2 a
20 ready train-0-2 a
idle
`, []any{alive("a", "4"), work("train-0", corev1.RestartPolicyNever), job(batchv1.JobSpec{Completions: new(int32(2))})}},
		{"a Job fails over restarts", `{"events":[{"at":"10s","containerExits":{"name":"train-0","exitCode":3,"every":"7s"}}]}`, `
10 containerExited train-0 a
10 containerRestarted train-0 a
17 containerExited train-0 a
17 backOff train-0 a
17 unready train-0 a
27 containerRestarted train-0 a
27 ready train-0 a
27 leaves train-0 a: job-failed
57 gone train-0 a
idle
`, []any{alive("a", "4"), work("train-0", corev1.RestartPolicyOnFailure), job(batchv1.JobSpec{BackoffLimit: new(int32(2))})}},
		{"a pod with a deadline is stopped, and fails", `{}`, `
40 containerStopping train-0 a
40 unready train-0 a
70 containerExited train-0 a
70 failed train-0 a
idle
`, []any{alive("a", "4"), limited, job(batchv1.JobSpec{BackoffLimit: new(int32(0))})}},
		{"a sidecar is stopped once the work is done", `{"events":[{"at":"10s","containerExits":{"name":"train-0","exitCode":0}}]}`, `
10 containerExited train-0 a
10 containerStopping train-0 a
10 unready train-0 a
40 containerExited train-0 a
40 succeeded train-0 a
idle
`, []any{alive("a", "4"), sidecar}},
		{"starts and ends take as long as they are said to; a container ends after its start", `{"events":[{"startsIn":{"kind":"ReplicaSet","name":"web","seconds":90}},{"endsIn":{"name":"web-1","seconds":4}},{"at":"10s","delete":{"name":"web-1"}},{"at":"11s","containerExits":{"name":"web-1-2","exitCode":1,"every":"15m"}}],"until":{"duration":"20m"}}`, `
10 leaves web-1 a: deletion
10 created web-1-2
10 bound web-1-2 a
14 gone web-1 a
100 ready web-1-2 a
1000 containerExited web-1-2 a
1000 containerRestarted web-1-2 a
duration
`, []any{alive("a", "4"), web("web-1")}},
		{"a sidecar ends behind the others", `{"events":[{"at":"10s","delete":{"name":"train-0"}}],"until":{"duration":"1m"}}`, `
10 leaves train-0 a: deletion
20 created train-0-2
20 bound train-0-2 a
30 ready train-0-2 a
42 gone train-0 a
idle
`, []any{alive("a", "4"), sidecar}},
	} {
		t.Run(c.what, func(t *testing.T) {
			out := clocked(t, c.question, c.objects...)
			got := toldTimeline(out.Clock.Timeline) + out.Clock.Ended
			if strings.TrimSpace(got) != strings.TrimSpace(c.want) {
				t.Errorf("got\n%s\nwant%s", got, c.want)
			}
		})
	}
}
