package podlife

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
)

const (
	// leastStop is the least that a container runtime is given to stop a
	// container, in seconds (pkg/kubelet/kuberuntime minimumGracePeriodInSeconds).
	leastStop = 2
	// hardEvictionPeriod is the override of a hard eviction, in seconds
	// (pkg/kubelet/eviction immediateEvictionGracePeriodSeconds).
	hardEvictionPeriod = 1
	// leastEvictionWait is the least that the kubelet waits for an evicted pod, in
	// seconds (pkg/kubelet/pod_workers.go killPodNow).
	leastEvictionWait = 10
)

// effective is the period that the kubelet ends a whole pod with: what the API
// server wrote, which an override of the kubelet's own can only lower, else the
// spec's; at least 1. One that it ends the pod with already, had, can only be
// lowered; 0: none (pkg/kubelet/pod_workers.go calculateEffectiveGracePeriod).
func effective(had int64, deletion, override *int64, spec int64, note stepFunc) int64 {
	period, given := had, had != 0
	if had != 0 {
		note("kubelet", "it is ending the pod with this period, which can only become shorter", had)
	}
	if deletion != nil && (had == 0 || *deletion < had) {
		period, given = *deletion, true
		note("pod.metadata.deletionGracePeriodSeconds", "the kubelet takes what the API server wrote", period)
	}
	if override != nil {
		if period == 0 || *override < period {
			period, given = *override, true
			note("kubelet", "its override replaces a longer period", period)
		} else {
			note("kubelet", "its override cannot make a period longer", period)
		}
	}
	if !given {
		period = spec
		note("pod.spec.terminationGracePeriodSeconds", "no other period is requested", period)
	}
	if period < 1 {
		period = 1
		note("kubelet", "at least 1 second", period)
	}
	return period
}

// kill is how the kubelet ends a pod of its own accord: what it writes into the
// status in the end.
type kill struct{ cause, reason, message, detail string }

// evicted is an end by the kubelet alone: an eviction, or its own preemption.
func (w *ending) evicted() {
	if w.spared(0, w.Cause) {
		w.out.Phase = phaseNow(w.Pod)
		w.out.GracePeriodSeconds = specPeriod(w.asPosted(), true, w.step)
		w.out.Endpoints = Endpoints{Ready: w.ready(), Serving: w.ready(), Terminating: w.Pod.DeletionTimestamp != nil, Detail: "the kubelet does not end the pod"}
		if w.Pod.DeletionTimestamp != nil {
			w.out.Endpoints.Ready = false
			w.out.Notes = append(w.out.Notes, "the pod is being deleted, which goes on: cause delete shows it")
		}
		return
	}
	override, k := w.kubeletKill(w.Cause)
	w.out.GracePeriodSeconds = effective(0, w.Pod.DeletionGracePeriodSeconds, override, w.spec(), w.step)
	w.killEvent(0, w.Cause)
	w.followKill(override == nil && w.Pod.DeletionTimestamp == nil || override != nil && w.overrides(*override))
	w.kill = k
	w.failed(*k)
	w.waitFor(override)
}

// spared reports whether the kubelet never evicts the pod, and writes that into the timeline
// (pkg/kubelet/eviction eviction_manager.go evictPod).
func (w *ending) spared(at int64, cause Cause) bool {
	why := protection(w.Pod)
	if why == "" || cause != CauseEvictSoft && cause != CauseEvictHard {
		return false
	}
	w.out.Refused = &Rule{"eviction/protected", "The kubelet does not evict this pod: " + why + "."}
	w.event(at, actorKubelet, "eviction refused", "", why)
	return true
}

// killEvent is the moment at which the kubelet decides.
func (w *ending) killEvent(at int64, cause Cause) {
	if cause == CauseKubeletPreempt {
		w.event(at, actorKubelet, "preempted", "", "the Event has the reason Preempting")
		return
	}
	w.event(at, actorKubelet, "evicted", "", "the Event has the reason Evicted")
}

// waitFor sets how long the kubelet waits for a pod that it kills.
func (w *ending) waitFor(override *int64) {
	period, whose := w.spec(), "the pod's own period"
	if override != nil {
		period, whose = *override, "its override"
	}
	wait := evictionWait(period)
	w.out.EvictionTimeoutSeconds = &wait
	w.step("kubelet", fmt.Sprintf("it waits 1.5 times %s of %d seconds, at least 10 seconds, then writes the Event ExceededGracePeriod: timeout waiting to kill pod", whose, period), wait)
}

// kubeletKill is the override of the period with which the kubelet ends a pod by
// itself, and what it writes (pkg/kubelet/eviction eviction_manager.go
// synchronize; pkg/kubelet/preemption preemption.go evictPodsToFreeRequests, which
// has no override).
func (w *ending) kubeletKill(cause Cause) (*int64, *kill) {
	if cause == CauseKubeletPreempt {
		return nil, &kill{string(cause), "Preempting", "Preempted in order to admit critical pod", ""}
	}
	override := int64(hardEvictionPeriod)
	if cause == CauseEvictSoft {
		override = int64(w.EvictionMaxPodGracePeriod)
		w.step("request.evictionMaxPodGracePeriod", "a soft eviction's override is the kubelet's evictionMaxPodGracePeriod, 0 by default", override)
		if spec := w.spec(); spec < override {
			override = spec
			w.step("pod.spec.terminationGracePeriodSeconds", "and never longer than the pod's own period", override)
		}
	} else {
		w.step("kubelet", "a hard eviction's override is 1 second", override)
	}
	return &override, &kill{string(cause), "Evicted", "", "with a message that says what the node was low on"}
}

// evictionWait is how long the kubelet waits for a pod that it kills with this
// override, in seconds.
func evictionWait(override int64) int64 {
	return max(override+override/2, leastEvictionWait)
}

// overrides reports whether the kubelet's own period comes to bear, so that it
// begins now and not with the delete before.
func (w *ending) overrides(override int64) bool {
	had := w.Pod.DeletionGracePeriodSeconds
	return w.Pod.DeletionTimestamp == nil || had == nil || max(override, 1) < max(*had, 1)
}

func (w *ending) spec() int64 { return *w.Pod.Spec.TerminationGracePeriodSeconds }

// probed returns the container whose probe failed, or why there is none.
func (e *Ending) probed() (c *corev1.Container, why string) {
	var all []*corev1.Container
	eachContainer(e.Pod, func(c *corev1.Container, kind string) {
		if kind != "ephemeral" && e.probeOf(c) != nil && (e.Container == "" || e.Container == c.Name) {
			all = append(all, c)
		}
	})
	switch {
	case len(all) == 1:
		return all[0], ""
	case e.Container != "" && len(all) == 0:
		return nil, "it has no " + string(e.Cause) + " probe"
	case len(all) == 0:
		return nil, "no container has a " + string(e.Cause) + " probe"
	}
	return nil, "several containers have a " + string(e.Cause) + " probe: say whose failed"
}

func (e *Ending) probeOf(c *corev1.Container) *corev1.Probe {
	if e.Cause == CauseStartup {
		return c.StartupProbe
	}
	return c.LivenessProbe
}

// probeFailed kills one container: no override, so that only the least that a
// container runtime is given bounds it from below (pkg/kubelet/kuberuntime
// kuberuntime_container.go setTerminationGracePeriod).
func (w *ending) probeFailed() {
	c, _ := w.probed()
	period := w.spec()
	switch own := w.probeOf(c).TerminationGracePeriodSeconds; {
	case w.Pod.DeletionGracePeriodSeconds != nil:
		period = *w.Pod.DeletionGracePeriodSeconds
		w.step("pod.metadata.deletionGracePeriodSeconds", "a pod that is being deleted has this period, whatever its probes say", period)
	case own != nil:
		period = *own
		w.stepOf(c.Name, "container."+string(w.Cause)+"Probe.terminationGracePeriodSeconds", "the failed probe's own period comes before the pod's", period)
	default:
		specPeriod(w.asPosted(), true, w.step)
	}
	w.out.GracePeriodSeconds = period
	w.followProbe(c, period)
}

func (w *ending) stepOf(container, source, rule string, value int64) {
	w.out.Steps = append(w.out.Steps, Step{Source: source, Rule: rule, Value: value, Container: container})
}
