package podlife

import (
	"math/rand/v2"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestLedPods leads random pods on, whose containers end, fail probes and are rebooted: time goes
// on, a pod that has ended stays so and runs nothing, and one that is ready runs.
func TestLedPods(t *testing.T) {
	ended, repeated := 0, 0
	for seed := range uint64(800) {
		r := rand.New(rand.NewPCG(seed, 2))
		pod := randomPod(r)
		s := Lead(LifeQuestion{Pod: pod, Now: lifeNow})
		for _, c := range pod.Spec.Containers {
			switch r.IntN(3) {
			case 0:
				s.ExitEach(c.Name, time.Duration(r.IntN(50))*time.Second, int32(r.IntN(2)))
			case 1:
				s.Happen(LifeEvent{At: lifeNow.Add(time.Duration(r.IntN(100)) * time.Second), Container: c.Name, Probe: "liveness", Result: "Failure"})
			}
		}
		if r.IntN(4) == 0 {
			s.Reboot(lifeNow, 20*time.Second)
		}
		last, same := lifeNow, 0
		for range 300 {
			at := s.Next()
			if at.IsZero() || s.Repeats() != "" {
				break
			}
			if same++; at.After(last) {
				last, same = at, 0
			}
			if at.Before(last) || same > 20 {
				t.Fatalf("seed %d: it stays at %s: %+v", seed, at, s.Status())
			}
			was := s.Status().Phase
			s.Step(at)
			phase, ready := s.Status().Phase, s.reading().posted(corev1.PodReady)
			if terminal(was) && phase != was || terminal(phase) && s.runs() || ready.Status == corev1.ConditionTrue && (terminal(phase) || !s.runs()) {
				t.Fatalf("seed %d: %s after %s: %+v", seed, phase, was, s.Status())
			}
		}
		if terminal(s.Status().Phase) {
			ended++
		}
		if s.Repeats() != "" {
			repeated++
		}
	}
	if ended < 80 || repeated < 40 {
		t.Errorf("%d pods ended, %d came to repeat themselves", ended, repeated)
	}
}

// randomPod is a pod that runs, with or without statuses of its containers.
func randomPod(r *rand.Rand) *corev1.Pod {
	always := corev1.ContainerRestartPolicyAlways
	p := &corev1.Pod{}
	p.Spec.NodeName, p.Spec.RestartPolicy = "n", []corev1.RestartPolicy{"Always", "OnFailure", "Never"}[r.IntN(3)]
	p.Status.Phase, p.Status.StartTime = corev1.PodRunning, &metav1.Time{Time: lifeNow.Add(-time.Minute)}
	if r.IntN(4) == 0 {
		p.Spec.ActiveDeadlineSeconds = new(int64(r.IntN(500)) + 1)
	}
	for i := range r.IntN(3) {
		c := corev1.Container{Name: string(rune('i' + i))}
		if r.IntN(2) == 0 {
			c.RestartPolicy = &always
		}
		p.Spec.InitContainers = append(p.Spec.InitContainers, c)
	}
	for i := range 1 + r.IntN(2) {
		c := corev1.Container{Name: string(rune('a' + i)), LivenessProbe: &corev1.Probe{PeriodSeconds: 10}}
		if r.IntN(2) == 0 {
			c.ReadinessProbe = &corev1.Probe{InitialDelaySeconds: int32(r.IntN(20)), PeriodSeconds: 5}
		}
		p.Spec.Containers = append(p.Spec.Containers, c)
	}
	return p
}

// TestEndsAfter: a pod that is deleted is gone when the answer about its end says so.
func TestEndsAfter(t *testing.T) {
	longer := 0
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 3))
		pod, grace := randomPod(r), int64(2+r.IntN(40))
		switch c := &pod.Spec.Containers[0]; r.IntN(3) {
		case 0:
			c.Lifecycle = &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{Sleep: &corev1.SleepAction{Seconds: int64(r.IntN(50))}}}
		case 1:
			c.Lifecycle = &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{Exec: &corev1.ExecAction{}}}
		}
		end, errs := Terminate(Ending{Pod: pod, Cause: CauseDelete, GracePeriodSeconds: &grace, Now: lifeNow})
		if got := EndsAfter(pod, grace); len(errs) > 0 || end.GoneAfterSeconds == nil || *end.GoneAfterSeconds != got {
			t.Fatalf("seed %d: %d s, %+v, %v", seed, got, end, errs)
		} else if got > grace {
			longer++
		}
	}
	if longer < 100 {
		t.Errorf("%d pods took longer than their grace period", longer)
	}
}
