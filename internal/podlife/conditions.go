package podlife

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Reasons of conditions, word for word (pkg/kubelet/status/generate.go).
const (
	unknownContainerStatuses = "UnknownContainerStatuses"
	podCompleted             = "PodCompleted"
	podFailed                = "PodFailed"
	containersNotReady       = "ContainersNotReady"
	containersNotInitialized = "ContainersNotInitialized"
	readinessGatesNotReady   = "ReadinessGatesNotReady"
	restartAllStarted        = "RestartAllContainersStarted"
	podSandboxNotReady       = "PodSandboxNotReady" // pkg/kubelet/types/constants.go
)

// ofKubelet are the conditions that a kubelet computes anew each time. Those
// about resizes are the kubelet's as well, but tell what no status shows
// (pkg/kubelet/types/pod_status.go PodConditionByKubelet).
var ofKubelet = []corev1.PodConditionType{
	corev1.PodScheduled, corev1.PodReady, corev1.PodInitialized, corev1.ContainersReady,
	corev1.PodReadyToStartContainers, corev1.AllContainersRestarting,
}

// conditions are what the kubelet writes beside a phase: others' conditions as
// they are, then its own (pkg/kubelet/kubelet_pods.go generateAPIPodStatus;
// pkg/kubelet/types/pod_status.go PodConditionByKubelet).
func (r *reading) conditions(phase corev1.PodPhase) []LifeCondition {
	list := make([]LifeCondition, 0, len(r.pod.Status.Conditions)+6)
	for _, c := range r.pod.Status.Conditions {
		if !slices.Contains(ofKubelet, c.Type) || c.Type == corev1.AllContainersRestarting && !r.by.RestartsAll {
			list = append(list, r.kept(c))
		}
	}
	list = append(list, r.readyToStart(), r.initialized(phase))
	containersReady := r.containersReady(phase)
	list = append(list, r.podReady(containersReady, list), containersReady,
		r.condition(corev1.PodScheduled, true, "", "", Rule{"condition/scheduled", "The pod is bound to node " + r.pod.Spec.NodeName + ", once and for all."}))
	if r.couldRestartAll() {
		list = append(list, r.allRestarting(phase))
	}
	return list
}

// kept is a condition that no component changes now.
func (r *reading) kept(c corev1.PodCondition) LifeCondition {
	return LifeCondition{
		Type: c.Type, Status: c.Status, Reason: c.Reason, Message: c.Message,
		ObservedGeneration: c.ObservedGeneration, LastTransitionTime: shownTime(c.LastTransitionTime),
		Rule: Rule{"condition/kept", "It is not the kubelet's to write and stays as it is."},
	}
}

// condition makes one of the kubelet's. Its transition is now unless the pod
// has it with the same status
// (pkg/kubelet/status/status_manager.go updateLastTransitionTime).
func (r *reading) condition(kind corev1.PodConditionType, is bool, reason, message string, rule Rule) LifeCondition {
	c := LifeCondition{Type: kind, Status: corev1.ConditionFalse, Reason: reason, Message: message, ObservedGeneration: r.pod.Generation, Rule: rule}
	if is {
		c.Status = corev1.ConditionTrue
	}
	c.LastTransitionTime = inYears(r.now.Truncate(time.Second))
	if old := r.posted(kind); old != nil && old.Status == c.Status {
		c.LastTransitionTime = shownTime(old.LastTransitionTime)
	}
	return c
}

// posted returns the pod's own condition of a type, nil without one.
func (r *reading) posted(kind corev1.PodConditionType) *corev1.PodCondition {
	for i := range r.pod.Status.Conditions {
		if c := &r.pod.Status.Conditions[i]; c.Type == kind {
			return c
		}
	}
	return nil
}

func shownTime(t metav1.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return inYears(t.Time)
}

// inYears returns a time in UTC that JSON can hold: a zone may carry one out of
// the years from 0 to 9999, and a back-off beyond them.
func inYears(t time.Time) *time.Time {
	switch t = t.UTC(); {
	case t.Year() > 9999:
		t = time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)
	case t.Year() < 0:
		t = time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	return &t
}

// containersReady looks at sidecars, then main containers, never at plain init
// ones (status/generate.go GenerateContainersReadyCondition).
func (r *reading) containersReady(phase corev1.PodPhase) LifeCondition {
	set := func(reason, message string, rule Rule) LifeCondition {
		return r.condition(corev1.ContainersReady, reason == "", reason, message, rule)
	}
	if r.noStatus() {
		return set(unknownContainerStatuses, "", Rule{"condition/no-statuses", "The pod has no container status at all."})
	}
	var unknown, unready []string
	for _, list := range [][]seen{r.inits, r.mains} {
		for i := range list {
			switch s := &list[i]; {
			case s.kind == KindInit:
			case s.status == nil:
				unknown = append(unknown, s.c.Name)
			case !s.ready():
				unready = append(unready, s.c.Name)
			}
		}
	}
	switch message := complaint(unknown, "unready", unready); {
	case phase == corev1.PodSucceeded && len(unknown) == 0:
		return set(podCompleted, "", Rule{"condition/completed", "The pod has succeeded, and nothing in it is ready any more."})
	case phase == corev1.PodFailed:
		return set(podFailed, "", Rule{"condition/failed", "The pod has failed, and what still runs in it is about to end."})
	case message != "":
		return set(containersNotReady, message, Rule{"condition/containers-not-ready", "Not every sidecar and main container is ready."})
	}
	return set("", "", Rule{"condition/containers-ready", "Every sidecar and main container is ready."})
}

// podReady is ContainersReady and, beyond it, each readiness gate
// (GeneratePodReadyCondition).
func (r *reading) podReady(containers LifeCondition, known []LifeCondition) LifeCondition {
	set := func(reason, message string, rule Rule) LifeCondition {
		return r.condition(corev1.PodReady, reason == "", reason, message, rule)
	}
	if containers.Status != corev1.ConditionTrue {
		return set(containers.Reason, containers.Message, containers.Rule)
	}
	is := make(map[corev1.PodConditionType]corev1.ConditionStatus, len(known))
	for _, c := range slices.Backward(known) { // the first of a type counts
		is[c.Type] = c.Status
	}
	var closed []string
	for _, gate := range r.pod.Spec.ReadinessGates {
		status, there := is[gate.ConditionType]
		switch {
		case !there:
			closed = append(closed, fmt.Sprintf("corresponding condition of pod readiness gate %q does not exist.", string(gate.ConditionType)))
		case status != corev1.ConditionTrue:
			closed = append(closed, fmt.Sprintf("the status of pod readiness gate %q is not \"True\", but %v", string(gate.ConditionType), status))
		}
	}
	if len(closed) > 0 {
		return set(readinessGatesNotReady, strings.Join(closed, ", "), Rule{"condition/readiness-gates", "All containers are ready, but a readiness gate has no condition that is True."})
	}
	return set("", "", Rule{"condition/ready", "All containers are ready and every readiness gate is True."})
}

// initialized is True for good once a main container runs or has ended, or once
// it was True (GeneratePodInitializedCondition).
func (r *reading) initialized(phase corev1.PodPhase) LifeCondition {
	set := func(is bool, reason, message string, rule Rule) LifeCondition {
		return r.condition(corev1.PodInitialized, is, reason, message, rule)
	}
	if r.noStatus() && len(r.inits) > 0 {
		return set(false, unknownContainerStatuses, "", Rule{"condition/no-statuses", "The pod has no container status at all."})
	}
	var unknown, incomplete []string
	for i := range r.inits {
		switch s := &r.inits[i]; {
		case s.status == nil:
			unknown = append(unknown, s.c.Name)
		case s.kind == KindSidecar && !s.started() || s.kind == KindInit && !s.ready():
			incomplete = append(incomplete, s.c.Name)
		}
	}
	message := complaint(unknown, "incomplete", incomplete)
	switch old := r.posted(corev1.PodInitialized); {
	case phase == corev1.PodSucceeded && len(unknown) == 0:
		return set(true, podCompleted, "", Rule{"condition/completed", "The pod has succeeded."})
	case r.mainStarted():
		return set(true, "", "", Rule{"condition/main-started", "A main container runs or has ended, so the init containers were done before."})
	case message == "" && len(r.inits) == 0:
		return set(true, "", "", Rule{"condition/no-init", "The pod has no init containers."})
	case message == "":
		return set(true, "", "", Rule{"condition/initialized", "Every init container is done and every sidecar has started."})
	case r.by.RestartsAll && old != nil && old.Status == corev1.ConditionTrue:
		return set(true, "", "", Rule{"condition/once-initialized", "A pod that was initialized stays so, even while its init containers run again."})
	}
	return set(false, containersNotInitialized, message, Rule{"condition/not-initialized", "Not every init container is done, or not every sidecar has started."})
}

// mainStarted looks at the current states alone: one that waits to run again
// does not count (pkg/kubelet/container HasAnyRegularContainerStarted).
func (r *reading) mainStarted() bool {
	for i := range r.mains {
		if s := r.mains[i].status; s != nil && (s.State.Running != nil || s.State.Terminated != nil) {
			return true
		}
	}
	return false
}

// noStatus reports whether nothing at all is known of init and main containers.
func (r *reading) noStatus() bool {
	return len(r.pod.Status.InitContainerStatuses)+len(r.pod.Status.ContainerStatuses) == 0
}

// complaint words what is missing, as the kubelet does; "" where nothing is.
func complaint(unknown []string, what string, list []string) string {
	var out []string
	if len(unknown) > 0 {
		out = append(out, fmt.Sprintf("containers with unknown status: %s", unknown))
	}
	if len(list) > 0 {
		out = append(out, fmt.Sprintf("containers with %s status: %s", what, list))
	}
	return strings.Join(out, ", ")
}
