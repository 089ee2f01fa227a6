package podlife

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// createErrors are the reasons of containers that failed before anything of them ran, and runErrors
// those of containers whose start failed, which may leave a run that ended
// (pkg/kubelet/kuberuntime/kuberuntime_container.go startContainer).
var (
	createErrors = []string{"CreateContainerConfigError", "CreateContainerError", "PreCreateHookError", "PreStartHookError"}
	runErrors    = []string{"RunContainerError", "PostStartHookError"}
)

// startErrors are what waiting containers say that could only be tried in a
// sandbox with a network (also pkg/kubelet/images/types.go).
var startErrors = slices.Concat([]string{"CrashLoopBackOff"}, createErrors, runErrors, imageErrors)

// ruleSandboxPosted is the rule of what only the pod's condition tells.
const ruleSandboxPosted = "condition/sandbox-as-posted"

// readyToStart returns the condition that tells of a sandbox with a network. No container
// status tells of the sandbox itself (GeneratePodReadyToStartContainersCondition
// calls the runtime), so it is read from what can only happen in one, else the
// pod's own condition stands.
func (r *reading) readyToStart() LifeCondition {
	set := func(is bool, rule Rule) LifeCondition {
		reason, message := "", ""
		if !is && r.by.TellsSandbox {
			reason, message = podSandboxNotReady, r.sandboxMessage()
		}
		return r.condition(corev1.PodReadyToStartContainers, is, reason, message, rule)
	}
	var run, tried string
	stopped := false
	for _, list := range [][]seen{r.inits, r.mains, r.extra} {
		for i := range list {
			s := &list[i]
			if s.is == running {
				run = s.c.Name
			} else if slices.Contains(startErrors, s.waits()) {
				tried = s.c.Name
			}
			stopped = stopped || s.ran()
		}
	}
	switch {
	case run != "":
		return set(true, Rule{"condition/sandbox-used", "Container " + run + " runs, which needs a sandbox with a network."})
	case terminal(r.pod.Status.Phase):
		return set(false, Rule{"condition/sandbox-gone", "The pod has ended and nothing in it runs, so its sandbox has ended too."})
	case tried != "":
		return set(true, Rule{"condition/sandbox-used", "Container " + tried + " was tried, which needs a sandbox with a network."})
	}
	if old := r.posted(corev1.PodReadyToStartContainers); old != nil {
		return set(old.Status == corev1.ConditionTrue, Rule{ruleSandboxPosted, "No container tells of the sandbox, so what the pod says of it stands."})
	}
	if stopped || r.pod.Status.PodIP != "" {
		return set(true, Rule{"condition/sandbox-used", "A container has run, or the pod has an address, which needs a sandbox with a network."})
	}
	return set(false, Rule{"condition/no-sandbox", "Nothing shows that the pod has a sandbox with a network yet."})
}

// sandboxMessage is why there is no sandbox with a network: what the pod's own condition says, else
// that there is none yet, or none any more (kuberuntime/util/util.go PodSandboxChanged).
func (r *reading) sandboxMessage() string {
	switch c := r.posted(corev1.PodReadyToStartContainers); {
	case terminal(r.pod.Status.Phase):
	case c != nil && c.Status == corev1.ConditionFalse && c.Reason == podSandboxNotReady && c.Message != "":
		return c.Message
	case !r.sandboxUsed():
		return "no pod sandbox exists"
	}
	return "pod sandbox is not ready"
}

// sandboxUsed reports whether something in the pod was started or tried, as far as its statuses
// tell.
func (r *reading) sandboxUsed() bool {
	for _, list := range [][]seen{r.inits, r.mains, r.extra} {
		for i := range list {
			if list[i].ran() || slices.Contains(startErrors, list[i].waits()) {
				return true
			}
		}
	}
	return false
}

// sandboxGone reports whether the pod's own condition tells that it has no sandbox, and no
// container tells otherwise.
func (r *reading) sandboxGone() bool {
	c := r.readyToStart()
	return c.Rule.ID == ruleSandboxPosted && r.posted(corev1.PodReadyToStartContainers).Status == corev1.ConditionFalse
}

// allRestarting is there only where some container has a rule for it
// (GenerateAllContainersRestartingCondition, which sets no generation).
func (r *reading) allRestarting(phase corev1.PodPhase) (c LifeCondition) {
	set := func(is bool, reason, message string, rule Rule) LifeCondition {
		return r.condition(corev1.AllContainersRestarting, is, reason, message, rule)
	}
	by, yes := r.resetting()
	switch {
	case phase == corev1.PodSucceeded:
		c = set(false, podCompleted, "", Rule{"condition/completed", "The pod has succeeded."})
	case phase == corev1.PodFailed:
		c = set(false, podFailed, "", Rule{"condition/failed", "The pod has failed."})
	case !yes:
		c = set(false, "", "", Rule{"condition/no-restart-of-all", "No container ended in a way that restarts all."})
	case by == "":
		c = set(true, restartAllStarted, "container exited with restart policy rule", Rule{"condition/restart-of-all", "All containers are being restarted, and not all are removed yet."})
	default:
		c = set(true, restartAllStarted, "container exited with restart policy rule", Rule{"condition/restart-of-all", "A restart rule of container " + by + " restarts all containers."})
	}
	c.ObservedGeneration = 0
	return c
}
