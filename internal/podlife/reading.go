package podlife

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/semantics"
)

// restartingAll is the reason of containers that were removed so that all of
// the pod's start anew (pkg/kubelet/kubelet_pods.go RestartingAllContainers).
const restartingAll = "RestartingAllContainers"

// standing is what a kubelet would find of a container in its runtime, read
// from the status.
type standing int

const (
	// unseen has no status at all.
	unseen standing = iota
	// blank has a status that names no state.
	blank
	// waiting has never run.
	waiting
	running
	// exited ran and stopped, also if its status shows that it waits to run
	// again.
	exited
)

// seen is a container and what its status says.
type seen struct {
	c      *corev1.Container
	kind   ContainerKind
	status *corev1.ContainerStatus // nil where there is none
	is     standing
	end    *corev1.ContainerStateTerminated // how it stopped, where exited
	// removed: its last run was removed from the runtime, so that it will
	// start as if it had never run.
	removed bool
}

// reading is a pod taken apart once for all rules.
type reading struct {
	pod   *corev1.Pod
	node  NodeState
	now   time.Time
	inits []seen // plain ones and sidecars, in order
	mains []seen
	extra []seen // ephemeral ones
	// open are the places of the init containers that are not through: plain
	// ones that have not ended with 0, sidecars that have not started.
	open []int
	// longest is the kubelet's maxContainerRestartPeriod.
	longest time.Duration
	// unmounted is why the kubelet cannot mount the pod's volumes; "" where nothing tells of it.
	unmounted string
	// memories are what the kubelet remembers; nil: what the statuses show.
	memories map[string]memory
	// by is how the kubelet leads the pod's life.
	by semantics.Life
}

func readPod(pod *corev1.Pod, node NodeState, now time.Time, by semantics.Life) *reading {
	r := &reading{pod: pod, node: node, now: now, longest: longestBackoff, by: by}
	inits, mains := byName(pod.Status.InitContainerStatuses), byName(pod.Status.ContainerStatuses)
	extra := byName(pod.Status.EphemeralContainerStatuses)
	for i := range pod.Spec.InitContainers {
		c, kind := &pod.Spec.InitContainers[i], KindInit
		if isSidecar(c) {
			kind = KindSidecar
		}
		r.inits = append(r.inits, see(c, kind, inits, mains))
		if !r.inits[i].through() {
			r.open = append(r.open, i)
		}
	}
	for i := range pod.Spec.Containers {
		r.mains = append(r.mains, see(&pod.Spec.Containers[i], KindContainer, mains, inits))
	}
	for i := range pod.Spec.EphemeralContainers {
		c := (*corev1.Container)(&pod.Spec.EphemeralContainers[i].EphemeralContainerCommon)
		r.extra = append(r.extra, see(c, KindEphemeral, extra))
	}
	return r
}

// Followed is whose kubelet an answer follows.
type Followed struct {
	// Semantics is the release of Kubernetes whose kubelet leads the pod's life: that of its node,
	// else the one of the question or of the cluster. Absent where it is v1.36.3.
	Semantics string `json:"semantics,omitempty" example:"v1.37.2"`
	// SemanticsNote is why it is another release than that of the node's kubelet; absent where it
	// is the same.
	SemanticsNote string `json:"semanticsNote,omitempty"`
}

// followed returns whose kubelet leads the life of a pod: that of its node where the node tells,
// else that of a release, and the default one where that is nil.
func followed(node *corev1.Node, other *semantics.Release) (semantics.Life, Followed) {
	r, why := other, ""
	if node != nil {
		if of, note := semantics.OfKubelet(node.Status.NodeInfo.KubeletVersion); of != nil {
			r, why = of, note
		}
	}
	if r == nil {
		r = semantics.Default()
	}
	out := Followed{SemanticsNote: why}
	if why != "" {
		out.SemanticsNote += ": the answer follows " + r.Name
	}
	if r.Name != semantics.Default().Name {
		out.Semantics = r.Name
	}
	return r.Life, out
}

// heeded is the pod as a kubelet sees it, without rules and policies that it knows nothing of
// (pkg/api/v1/pod/util.go ContainerShouldRestart). The argument is not written.
func heeded(pod *corev1.Pod, by semantics.Life) *corev1.Pod {
	if by.OwnRestarts && (by.RestartsAll || !anyRestartsAll(&pod.Spec)) {
		return pod
	}
	pod = pod.DeepCopy()
	for _, list := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range list {
			c := &list[i]
			if !by.OwnRestarts {
				if c.RestartPolicyRules = nil; !isSidecar(c) {
					c.RestartPolicy = nil
				}
			}
			for k := range c.RestartPolicyRules {
				// The rule still matches before others, and leaves it to the policy.
				if rule := &c.RestartPolicyRules[k]; rule.Action == corev1.ContainerRestartRuleActionRestartAllContainers {
					rule.Action = ""
				}
			}
		}
	}
	return pod
}

// memory is what the kubelet remembers of the delays of a container that has run.
func (r *reading) memory(s *seen) memory {
	if m, ok := r.memories[s.c.Name]; ok {
		return m
	}
	return remembered(s.status.RestartCount, s.began(), r.longest)
}

// isSidecar reports whether an init container runs beside the main ones.
func isSidecar(c *corev1.Container) bool {
	return c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
}

// byName returns the first status of each name.
func byName(list []corev1.ContainerStatus) map[string]*corev1.ContainerStatus {
	m := make(map[string]*corev1.ContainerStatus, len(list))
	for i := range list {
		if m[list[i].Name] == nil {
			m[list[i].Name] = &list[i]
		}
	}
	return m
}

// see finds a container's status, in the list where it belongs before others.
func see(c *corev1.Container, kind ContainerKind, lists ...map[string]*corev1.ContainerStatus) seen {
	s := seen{c: c, kind: kind}
	for _, list := range lists {
		if s.status == nil {
			s.status = list[c.Name]
		}
	}
	switch st := s.status; {
	case st == nil:
	case st.State.Running != nil:
		s.is = running
	case st.State.Terminated != nil:
		s.is, s.end = exited, st.State.Terminated
	case st.State.Waiting == nil:
		s.is = blank
	case st.LastTerminationState.Terminated != nil:
		s.is, s.end = exited, st.LastTerminationState.Terminated
		s.removed = s.end.Reason == restartingAll
	default:
		s.is = waiting
	}
	return s
}

// began is when the current or last run began; zero where unknown.
func (s *seen) began() time.Time {
	switch {
	case s.is == running:
		return s.status.State.Running.StartedAt.Time
	case s.end != nil:
		return s.end.StartedAt.Time
	}
	return time.Time{}
}

// waits is the reason of one that waits; "" of others.
func (s *seen) waits() string {
	if s.status == nil || s.status.State.Waiting == nil {
		return ""
	}
	return s.status.State.Waiting.Reason
}

// ran reports whether the runtime has it, running or stopped.
func (s *seen) ran() bool { return s.is == running || s.is == exited && !s.removed }

// through reports whether an init container lets those behind it start.
func (s *seen) through() bool {
	if s.kind == KindSidecar {
		return s.is == running && s.started()
	}
	return s.is == exited && !initFailed(s.end)
}

// initFailed returns how a plain init container's end counts for those behind it.
// One that ran out of memory failed, whatever its exit code
// (pkg/kubelet/kuberuntime/helpers.go isInitContainerFailed).
func initFailed(end *corev1.ContainerStateTerminated) bool {
	return end.ExitCode != 0 || end.Reason == "OOMKilled"
}

// started says so of the status.
func (s *seen) started() bool {
	return s.status != nil && s.status.Started != nil && *s.status.Started
}

func (s *seen) ready() bool { return s.status != nil && s.status.Ready }

// deleted reports whether the pod was told to go.
func (r *reading) deleted() bool { return r.pod.DeletionTimestamp != nil }

// mainRan reports whether a main container has run in this life of the pod.
func (r *reading) mainRan() bool {
	for i := range r.mains {
		if r.mains[i].ran() {
			return true
		}
	}
	return false
}

func terminal(p corev1.PodPhase) bool { return p == corev1.PodSucceeded || p == corev1.PodFailed }

// called names containers in a sentence: "Container a" or "Containers a, b".
func called(names []string) string {
	if len(names) == 1 {
		return "Container " + names[0]
	}
	return "Containers " + strings.Join(names, ", ")
}

// plural returns the form of a verb or noun for so many.
func plural(names []string, one, more string) string {
	if len(names) == 1 {
		return one
	}
	return more
}
