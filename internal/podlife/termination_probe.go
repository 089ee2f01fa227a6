package podlife

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth/internal/planted"
)

// followProbe stops the one container and says whether it comes back.
func (w *ending) followProbe(c *corev1.Container, period int64) {
	kind := "container"
	eachContainer(w.Pod, func(o *corev1.Container, k string) {
		if o == c || o.Name == c.Name {
			kind = k
		}
	})
	c = containerOf(w.Pod, c.Name)
	s := w.stop(c, kind)
	s.run(0, period, 0)
	w.note(s, period)
	w.out.Containers = append(w.out.Containers, *s)
	w.last = s.KillAt
	w.event(0, actorKubelet, string(w.Cause)+" probe failed", c.Name, "as often in a row as its failureThreshold says")
	w.out.Endpoints = Endpoints{Ready: isReady(w.Pod), Serving: isReady(w.Pod), Terminating: w.Pod.DeletionTimestamp != nil, Detail: "not ready once the container has stopped, until it is ready again"}
	if w.Pod.DeletionTimestamp != nil {
		w.out.Endpoints.Ready = false
		w.out.Notes = append(w.out.Notes, "the kubelet stops the liveness and startup probes of a pod that it ends")
	}
	dying := w.Pod.DeletionTimestamp != nil && !planted.On(planted.DyingRestarts)
	if restartsKilled(w.Pod, c) && !dying {
		w.out.Phase = phaseNow(w.Pod)
		at, why := w.restart(c.Name)
		w.event(at, actorKubelet, "container restarted", c.Name, why)
		return
	}
	w.out.Phase = string(corev1.PodFailed)
	for i := range w.Pod.Spec.Containers {
		if o := &w.Pod.Spec.Containers[i]; o.Name != c.Name {
			if _, runs := w.state(o, "container"); runs {
				w.out.Phase = phaseNow(w.Pod)
			}
		}
	}
	if w.out.Phase == string(corev1.PodFailed) && len(w.Pod.Spec.Containers) == 1 {
		w.out.PhaseIfAllExitZero = string(corev1.PodSucceeded)
	}
	why := "by its restart policy"
	if dying {
		why = "the pod is being deleted, so nothing in it is started any more"
	}
	w.event(w.last, actorKubelet, "container stays down", c.Name, why)
	w.event(w.last, actorKubelet, "phase "+w.out.Phase, "", "")
}

// restart is when a container that was killed for its probe is started again, in
// seconds from now, and why not before: at once the first time, and after a
// back-off that counts from its end from then on.
func (w *ending) restart(name string) (at int64, why string) {
	end := &corev1.ContainerStateTerminated{FinishedAt: metav1.NewTime(addSeconds(w.Now, w.last))}
	count := int32(0)
	if s := statusOf(w.Pod, name); s != nil {
		count = s.RestartCount
		if s.State.Running != nil {
			end.StartedAt = s.State.Running.StartedAt
		}
	}
	delay, steady := backoff(count, end)
	seconds := int64(delay / time.Second)
	switch {
	case steady:
		return w.last, "by its restart policy, at once: it ran for more than 10 minutes"
	case seconds == 0:
		return w.last, "by its restart policy, at once: its first restart"
	}
	return saturate(w.last, seconds), fmt.Sprintf("by its restart policy, after its back-off of %d seconds (restarts so far: %d)", seconds, count)
}

// restartsKilled says whether a container that was killed for its probe is
// started again: unless its policy is Never and no rule of its own says
// otherwise of exit code 137 (pkg/kubelet/kuberuntime computePodActions,
// pkg/api/v1/pod ContainerShouldRestart).
func restartsKilled(p *corev1.Pod, c *corev1.Container) bool {
	const killed = 137
	policy := p.Spec.RestartPolicy
	if c.RestartPolicy != nil {
		policy = corev1.RestartPolicy(*c.RestartPolicy)
		for _, r := range c.RestartPolicyRules {
			if r.ExitCodes == nil {
				continue
			}
			in := slices.Contains(r.ExitCodes.Values, killed)
			if in == (r.ExitCodes.Operator == corev1.ContainerRestartRuleOnExitCodesOpIn) {
				return true
			}
		}
	}
	return policy != corev1.RestartPolicyNever
}
