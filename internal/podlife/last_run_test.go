package podlife

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// What ended the last run is in the answer, beside what the kubelet makes of it.
func TestLastRun(t *testing.T) {
	crash := func(reason, message string, last corev1.ContainerStateTerminated) *corev1.Pod {
		p := &corev1.Pod{Spec: corev1.PodSpec{NodeName: "n", RestartPolicy: corev1.RestartPolicyAlways, Containers: []corev1.Container{{Name: "c"}}}}
		p.Status.Phase = corev1.PodRunning
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{
			Name: "c", RestartCount: 4,
			State:                corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}},
			LastTerminationState: corev1.ContainerState{Terminated: &last},
		}}
		return p
	}
	ago := func(d time.Duration) metav1.Time { return metav1.NewTime(lifeNow.Add(-d)) }
	oom := corev1.ContainerStateTerminated{ExitCode: 137, Signal: 9, Reason: "OOMKilled", Message: "heap", StartedAt: ago(3 * time.Minute), FinishedAt: ago(time.Minute)}
	l := Lifecycle(crash("CrashLoopBackOff", "back-off 1m20s", oom), NodeHealthy, lifeNow)
	c := l.Containers[0]
	if r := c.LastRun; l.StatusAfter != "OOMKilled (137, signal 9)" || c.Message != "back-off 1m20s" || r == nil || r.Message != "heap" || r.ExitCode != 137 ||
		!r.StartedAt.Equal(oom.StartedAt.Time) || !r.FinishedAt.Equal(oom.FinishedAt.Time) {
		t.Errorf("%+v %+v", l, c)
	}
	// One that runs has a last run too, but the status is not about it.
	p := crash("", "", oom)
	p.Status.ContainerStatuses[0].State = corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: ago(time.Second)}}
	if l := Lifecycle(p, NodeHealthy, lifeNow); l.StatusAfter != "" || l.Containers[0].LastRun == nil || l.Containers[0].Message != "" {
		t.Errorf("%+v", l)
	}
	// One that has ended shows that end.
	p.Status.ContainerStatuses[0].State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 3, Message: "gone"}}
	if l := Lifecycle(p, NodeHealthy, lifeNow); l.StatusAfter != "" || l.Containers[0].LastRun.ExitCode != 3 || l.Containers[0].LastRun.String() != "ended (3)" || l.Containers[0].Message != "gone" {
		t.Errorf("%+v", l)
	}
	// An init container's wait is the status behind its own words; the main one has none.
	p = crash("CrashLoopBackOff", "", oom)
	p.Spec.InitContainers, p.Spec.Containers = p.Spec.Containers, []corev1.Container{{Name: "m", Image: "i"}}
	p.Status.InitContainerStatuses, p.Status.ContainerStatuses = p.Status.ContainerStatuses, nil
	if l := Lifecycle(p, NodeHealthy, lifeNow); l.Status != "Init:CrashLoopBackOff" || l.StatusAfter == "" {
		t.Errorf("%s %s", l.Status, l.StatusAfter)
	}
	// Without a node nothing can have run.
	p.Spec.NodeName = ""
	if l := Lifecycle(p, NodeHealthy, lifeNow); l.StatusAfter != "" || l.Containers[0].LastRun != nil {
		t.Errorf("%+v", l)
	}
}
