package podlife

import (
	"fmt"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/duration"
)

// Columns are what kubectl get pod prints for a pod.
type Columns struct {
	Status string
	// Rule describes what gave Status.
	Rule  Rule
	Ready string
	// Restarts is the number and, where known, how long ago the last one was.
	Restarts string
}

// kubectlColumns returns the columns READY, STATUS and RESTARTS as kubectl prints
// them for a pod as it is, at a time
// (pkg/printers/internalversion/printers.go printPod).
func kubectlColumns(pod *corev1.Pod, now time.Time) Columns {
	p := printed{pod: pod, sidecars: map[string]bool{}, total: len(pod.Spec.Containers)}
	for i := range pod.Spec.InitContainers {
		if c := &pod.Spec.InitContainers[i]; isSidecar(c) {
			p.total++
			p.sidecars[c.Name] = true
		} else {
			p.sidecars[c.Name] = false
		}
	}
	p.ofPod()
	if initializing := p.ofInits(); !initializing || p.isTrueFirst(corev1.PodInitialized) {
		p.ofMains()
	}
	p.ofDeletion()
	c := Columns{Status: p.status, Rule: p.rule, Ready: fmt.Sprintf("%d/%d", p.ready, p.total), Restarts: strconv.Itoa(p.restarts)}
	if p.restarts != 0 && !p.last.IsZero() {
		c.Restarts += " (" + duration.HumanDuration(now.Sub(p.last)) + " ago)"
	}
	return c
}

// printed is a row in the making.
type printed struct {
	pod      *corev1.Pod
	sidecars map[string]bool
	status   string
	rule     Rule
	// of all init containers at first, of sidecars and main containers once
	// main containers are looked at
	restarts        int
	last            time.Time
	sidecarRestarts int
	sidecarLast     time.Time
	ready, total    int
}

func (p *printed) say(status, id, format string, args ...any) {
	p.status, p.rule = status, Rule{"status/" + id, fmt.Sprintf(format, args...)}
}

// ofPod begins with the phase, the pod's reason over it, and gates over both.
func (p *printed) ofPod() {
	st := &p.pod.Status
	p.say(string(st.Phase), "phase", "The phase in the pod's status.")
	if st.Reason != "" {
		p.say(st.Reason, "pod-reason", "The reason in the pod's status comes before its phase.")
	}
	for _, c := range st.Conditions {
		if c.Type == corev1.PodScheduled && c.Reason == corev1.PodReasonSchedulingGated {
			p.say(corev1.PodReasonSchedulingGated, "gated", "The pod's condition PodScheduled has the reason SchedulingGated.")
		}
	}
}

// ofInits finds the first init container that is neither done nor a sidecar
// that started, and reports whether there is one.
func (p *printed) ofInits() (initializing bool) {
	for i := range p.pod.Status.InitContainerStatuses {
		c := &p.pod.Status.InitContainerStatuses[i]
		p.restarts += int(c.RestartCount)
		p.last = laterEnd(p.last, c)
		if p.sidecars[c.Name] {
			p.sidecarRestarts += int(c.RestartCount)
			p.sidecarLast = laterEnd(p.sidecarLast, c)
		}
		switch end, wait := c.State.Terminated, c.State.Waiting; {
		case end != nil && end.ExitCode == 0:
			continue
		case p.sidecars[c.Name] && c.Started != nil && *c.Started:
			if c.Ready {
				p.ready++
			}
			continue
		case end != nil:
			p.say("Init:"+endReason(end), "init-failed", "Init container %s ended with exit code %d.", c.Name, end.ExitCode)
		case wait != nil && wait.Reason != "" && wait.Reason != "PodInitializing":
			p.say("Init:"+wait.Reason, "init-waiting", "Init container %s waits: %s.", c.Name, wait.Reason)
		default:
			p.say(fmt.Sprintf("Init:%d/%d", i, len(p.pod.Spec.InitContainers)), "init-progress", "Init container %s is the first that is not done; sidecars count too.", c.Name)
		}
		return true
	}
	return false
}

// ofMains walks from the last main container to the first, so that the first
// one's reason wins.
func (p *printed) ofMains() {
	p.restarts, p.last = p.sidecarRestarts, p.sidecarLast
	runs, failure, failed := false, "", ""
	for i := len(p.pod.Status.ContainerStatuses) - 1; i >= 0; i-- {
		c := &p.pod.Status.ContainerStatuses[i]
		p.restarts += int(c.RestartCount)
		p.last = laterEnd(p.last, c)
		switch end, wait := c.State.Terminated, c.State.Waiting; {
		case wait != nil && wait.Reason != "":
			p.say(wait.Reason, "container-waiting", "Container %s waits: %s.", c.Name, wait.Reason)
		case end != nil:
			p.say(endReason(end), "container-ended", "Container %s ended with exit code %d.", c.Name, end.ExitCode)
			if end.ExitCode != 0 {
				failure, failed = p.status, c.Name
			}
		case c.Ready && c.State.Running != nil:
			runs = true
			p.ready++
		}
	}
	if p.status != "Completed" {
		return
	}
	switch {
	case runs && p.isTrue(corev1.PodReady):
		p.say("Running", "running-beside-completed", "A container has completed, another runs, and the pod is Ready.")
	case failure != "":
		p.say(failure, "sibling-failed", "A container has completed, but container %s ended with a failure.", failed)
	case runs:
		p.say("NotReady", "not-ready", "A container has completed, another runs, and the pod is not Ready.")
	}
}

// ofDeletion overrules all else, but not for a pod that has ended.
func (p *printed) ofDeletion() {
	switch st := &p.pod.Status; {
	case p.pod.DeletionTimestamp == nil:
	case st.Reason == "NodeLost":
		p.say("Unknown", "node-lost", "The pod is being deleted and its node is lost.")
	case !terminal(st.Phase):
		p.say("Terminating", "terminating", "The pod is being deleted and has not ended.")
	}
}

// endReason names an end by its reason, else by signal or exit code.
func endReason(end *corev1.ContainerStateTerminated) string {
	switch {
	case end.Reason != "":
		return end.Reason
	case end.Signal != 0:
		return fmt.Sprintf("Signal:%d", end.Signal)
	}
	return fmt.Sprintf("ExitCode:%d", end.ExitCode)
}

func laterEnd(t time.Time, c *corev1.ContainerStatus) time.Time {
	if end := c.LastTerminationState.Terminated; end != nil && end.FinishedAt.After(t) {
		return end.FinishedAt.Time
	}
	return t
}

// isTrue reports whether some condition of the type is True.
func (p *printed) isTrue(kind corev1.PodConditionType) bool {
	for _, c := range p.pod.Status.Conditions {
		if c.Type == kind && c.Status == corev1.ConditionTrue {
			return true
		}
	}
	return false
}

// isTrueFirst reports whether the first condition of the type is True.
func (p *printed) isTrueFirst(kind corev1.PodConditionType) bool {
	for _, c := range p.pod.Status.Conditions {
		if c.Type == kind {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}
