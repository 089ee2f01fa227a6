package podlife

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// followProbe stops the one container and reports whether it comes back.
func (w *ending) followProbe(c *corev1.Container, period int64) {
	kind := "container"
	eachContainer(w.Pod, func(o *corev1.Container, k string) {
		if o.Name == c.Name {
			kind = k
		}
	})
	c = containerOf(w.Pod, c.Name)
	s := w.stop(c, kind)
	w.run(s, 0, period, 0)
	w.note(s, period)
	w.out.Containers = append(w.out.Containers, *s)
	w.last = s.end
	w.event(0, actorKubelet, string(w.Cause)+" probe failed", c.Name, "as often in a row as its failureThreshold says")
	w.out.Endpoints = Endpoints{Ready: w.ready(), Serving: w.ready(), Terminating: w.Pod.DeletionTimestamp != nil, Detail: "not ready once the container has stopped, until it is ready again"}
	if w.Pod.DeletionTimestamp != nil {
		w.out.Endpoints.Ready = false
		w.out.Notes = append(w.out.Notes, "the kubelet stops the liveness and startup probes of a pod that it ends")
	}
	dying := w.Pod.DeletionTimestamp != nil
	after := w.afterProbe(c, kind, dying, s.code)
	w.out.Phase = after.phase
	if zero := w.afterProbe(c, kind, dying, 0); zero.phase != after.phase && !w.real {
		w.out.PhaseIfAllExitZero = zero.phase
	}
	if after.restarts {
		at, why := w.restart(c.Name)
		w.event(at, actorKubelet, "container restarted", c.Name, why)
		return
	}
	w.event(w.last, actorKubelet, "container stays down", c.Name, after.why)
	detail := ""
	if w.out.PhaseIfAllExitZero != "" {
		detail = w.out.PhaseIfAllExitZero + " if it ended with exit code 0 in time"
	}
	w.event(w.last, actorKubelet, "phase "+w.out.Phase, "", detail)
}

// killedCode is the exit code of a process that got SIGKILL.
const killedCode = 137

// afterwards is what became of a container and its pod.
type afterwards struct {
	restarts bool
	phase    string
	why      string
}

// afterProbe returns what comes after a container was stopped for its probe and
// ended with a code. Where nothing else of the pod goes on, its phase is judged
// as the kubelet judges a pod that has ended: by its main containers, whatever its
// sidecars end with (pkg/kubelet/kubelet_pods.go getPhase).
func (w *ending) afterProbe(c *corev1.Container, kind string, dying bool, code int32) afterwards {
	phase := w.Pod.Status.Phase
	if terminal(phase) {
		return afterwards{phase: string(phase), why: "the pod is over, so nothing in it is started any more"}
	}
	goesOn := w.goesOn(c.Name, dying)
	out := afterwards{phase: phaseNow(w.Pod), why: "by its restart policy"}
	switch {
	case dying:
		out.why = "the pod is being deleted, so nothing in it is started any more"
	case kind == "sidecar" && !goesOn:
		out.why = "no main container runs or is started again, so the pod ends"
	case restartsAfterProbe(w.Pod, c, code):
		out.restarts = true
		return out
	}
	switch {
	case goesOn:
	case w.succeeds(code, c.Name):
		out.phase = string(corev1.PodSucceeded)
	default:
		out.phase = string(corev1.PodFailed)
	}
	return out
}

// goesOn reports whether something beside a container keeps its pod from ending: a
// main or plain init container that runs, or, unless the pod is dying, a main one
// that is still to start. Sidecars keep no pod alive.
func (w *ending) goesOn(name string, dying bool) bool {
	runs, starts, failed := false, false, false
	eachContainer(w.Pod, func(o *corev1.Container, kind string) {
		if o.Name == name || kind == "sidecar" || kind == "ephemeral" {
			return
		}
		if _, yes := w.state(o, kind); yes {
			runs = true
			return
		}
		end, again := endOf(statusOf(w.Pod, o.Name)), true
		if end != nil {
			again, _ = mayRestart(&w.Pod.Spec, o, end.ExitCode)
		}
		if kind == "init" {
			failed = failed || end != nil && end.ExitCode != 0 && !again
		} else {
			starts = starts || again
		}
	})
	return runs || !dying && starts && !failed
}

// endOf is how a container ended that does not run; nil: it never ran.
func endOf(s *corev1.ContainerStatus) *corev1.ContainerStateTerminated {
	switch {
	case s == nil:
		return nil
	case s.State.Terminated != nil:
		return s.State.Terminated
	}
	return s.LastTerminationState.Terminated
}

// restart is when a container that was killed for its probe is started again, in
// seconds from now, and why not before.
func (w *ending) restart(name string) (at int64, why string) {
	end := addSeconds(w.Now, w.last)
	s := statusOf(w.Pod, name)
	if s == nil {
		return w.last, "by its restart policy, at once: its first restart"
	}
	began, before := time.Time{}, time.Time{}
	if s.State.Running != nil {
		began = s.State.Running.StartedAt.Time
	}
	if last := s.LastTerminationState.Terminated; last != nil {
		before = last.FinishedAt.Time
	}
	delay, known := remembered(s.RestartCount, began, longestBackoff).afterKill(before, end)
	seconds := int64(delay / time.Second)
	switch {
	case !known:
		return w.last, "by its restart policy, at once: no run before it is known"
	case seconds == 0:
		return w.last, "by its restart policy, at once: its back-off counts from the end of the run before it, and is over"
	}
	return saturate(w.last, seconds), fmt.Sprintf("by its restart policy, after its back-off of %d seconds (restarts so far: %d)", seconds, s.RestartCount)
}

// restartsAfterProbe reports whether a container that was stopped for its probe and
// ended with a code is started again: with the kill itself unless its policy is
// Never, and after that if a rule of its own says so of the code
// (pkg/kubelet/kuberuntime computePodActions, pkg/api/v1/pod ContainerShouldRestart).
func restartsAfterProbe(p *corev1.Pod, c *corev1.Container, code int32) bool {
	policy := p.Spec.RestartPolicy
	if c.RestartPolicy != nil {
		policy = corev1.RestartPolicy(*c.RestartPolicy)
	}
	if policy != corev1.RestartPolicyNever {
		return true
	}
	yes, _ := mayRestart(&p.Spec, c, code)
	return yes
}
