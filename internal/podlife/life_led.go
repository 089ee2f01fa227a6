package podlife

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth/internal/semantics"
)

// Lead begins to lead the question's pod, which has been started on a healthy node, from Now on.
// Where it runs and no status tells of its containers, they run since its start.
func Lead(q LifeQuestion) *Run {
	q.by, _ = followed(q.Node, q.Release)
	q.Pod = heeded(q.Pod, q.by)
	return q.run(longestBackoff, true)
}

// Status returns the pod's status as its kubelet has written it.
func (s *Run) Status() *corev1.PodStatus { return s.pod.Status.DeepCopy() }

// Next returns when something happens next; the zero time where nothing does.
func (s *Run) Next() time.Time { return s.next() }

// Repeats returns a sentence where everything that is still to come has happened before, as in a
// crash loop whose back-off has reached its end; empty where it has not.
func (s *Run) Repeats() string { return s.repeating }

// Step goes on to a time and has all happen that is due. It returns what did.
func (s *Run) Step(at time.Time) []LifeMoment {
	s.now, s.entries = later(s.now, at), nil
	s.step()
	return s.entries
}

// Refuses returns why an event cannot happen to the pod; empty where it can.
func (s *Run) Refuses(e *LifeEvent) string {
	c := containerOf(s.pod, e.Container)
	switch {
	case c == nil:
		return fmt.Sprintf("it has no container %.253q", e.Container)
	case e.Probe != "" && specProbes(c)[e.Probe] == nil:
		return fmt.Sprintf("container %s has no %s probe", c.Name, e.Probe)
	case e.ExitCode != nil && !s.running(&lifePart{c: c}):
		return fmt.Sprintf("container %s does not run", c.Name)
	}
	return ""
}

// ExitEach has a container end with a code each time it has run for so long, from now on. It
// reports whether the pod has such a container.
func (s *Run) ExitEach(container string, after time.Duration, code int32) (has bool) {
	for _, p := range s.parts {
		if p.c.Name != container {
			continue
		}
		has, p.each = true, &exits{after, code}
		if s.running(p) {
			p.exits = s.now.Add(after)
		}
	}
	return has
}

// Crashes has the containers that wait in back-off end each time as their last run did.
func (s *Run) Crashes() {
	for _, p := range s.parts {
		st := statusOf(s.pod, p.c.Name)
		if st == nil || st.State.Waiting == nil || st.State.Waiting.Reason != "CrashLoopBackOff" || st.LastTerminationState.Terminated == nil {
			continue
		}
		end := st.LastTerminationState.Terminated
		p.each = &exits{max(0, end.FinishedAt.Sub(end.StartedAt.Time)), end.ExitCode}
	}
}

// Reboot has the pod's node start again: nothing runs any more, as its runtime reports, and its
// kubelet has forgotten all delays. It starts the pod anew, in a new sandbox, after a time
// (pkg/kubelet/kuberuntime/kuberuntime_manager.go computePodActions, PodSandboxChanged).
func (s *Run) Reboot(at time.Time, after time.Duration) []LifeMoment {
	s.now, s.entries = later(s.now, at), nil
	for _, p := range s.parts {
		st := statusOf(s.pod, p.c.Name)
		switch {
		case st == nil:
			continue
		case st.State.Running != nil:
			s.ended(p, unknownCode)
			st.State.Terminated.Reason = "Unknown"
		case st.State.Waiting != nil && st.LastTerminationState.Terminated != nil:
			st.State = st.LastTerminationState
		}
		p.failed, p.killing, p.killed, p.due, p.before = "", time.Time{}, false, time.Time{}, time.Time{}
		s.memory[p.c.Name] = memory{}
		for _, w := range p.workers {
			w.next = s.now
		}
	}
	s.setSandbox(corev1.ConditionFalse)
	s.busy = s.now.Add(after)
	s.changes = append(s.changes, s.busy)
	s.refresh(true)
	return s.entries
}

// unknownCode is the exit code of a container that a runtime finds dead when it begins.
const unknownCode = 255

// setSandbox writes whether the pod has a sandbox, which no container's status tells.
func (s *Run) setSandbox(is corev1.ConditionStatus) {
	for i := range s.pod.Status.Conditions {
		if c := &s.pod.Status.Conditions[i]; c.Type == corev1.PodReadyToStartContainers {
			c.Status = is
			return
		}
	}
}

// assume adds the statuses that containers of a pod lack that runs: plain init containers are done,
// and all others run since its start, and are ready unless the pod is not.
func (s *Run) assume() {
	if s.pod.Status.Phase != corev1.PodRunning && s.pod.Status.Phase != "" || len(s.pod.Status.ContainerStatuses) > 0 {
		return
	}
	r := readPod(s.pod, NodeHealthy, s.now, s.q.by)
	since, ready := s.pod.Status.StartTime, r.posted(corev1.PodReady)
	if since == nil {
		since = &metav1.Time{Time: s.now}
	}
	for _, list := range [][]seen{r.inits, r.mains} {
		for i := range list {
			c := &list[i]
			if c.status != nil {
				continue
			}
			st := s.newStatus(&lifePart{c: c.c, kind: c.kind})
			if c.kind == KindInit {
				st.Ready, st.State.Terminated = true, &corev1.ContainerStateTerminated{Reason: "Completed", StartedAt: *since, FinishedAt: *since}
				continue
			}
			st.State.Running = &corev1.ContainerStateRunning{StartedAt: *since}
			st.Started, st.Ready = new(true), ready == nil || ready.Status == corev1.ConditionTrue
		}
	}
}

// runs reports whether a container runs.
func (s *Run) runs() bool {
	return slices.ContainsFunc(s.parts, s.running)
}

func (s *Run) running(p *lifePart) bool {
	st := statusOf(s.pod, p.c.Name)
	return st != nil && st.State.Running != nil
}

// stops has the kubelet begin to end a pod that has failed, or whose main containers have stopped
// for good, while something in it runs, and reports whether it does (pkg/kubelet/kubelet.go
// SyncTerminatingPod).
func (s *Run) stops() bool {
	r := s.reading()
	if phase, _ := r.phase(); !terminal(phase) && !r.plan().mainsDone || !s.runs() {
		return false
	}
	s.stopping = true
	for _, p := range s.parts {
		p.failed, p.due = "", time.Time{} // nothing starts any more
	}
	e := &Ending{Pod: s.pod, Cause: CauseKubeletPreempt, PreStopSeconds: s.q.PreStopSeconds, ExitSeconds: s.q.ExitSeconds, ExitCodes: s.q.ExitCodes, Now: s.now}
	for _, stop := range e.answer(len(s.q.ExitSeconds) > 0).Containers {
		for _, p := range s.parts {
			if p.c.Name == stop.Name {
				p.killing, p.code = addSeconds(s.now, stop.end), stop.code
				s.say(actorKubelet, "container stopping", p, 0, "timeline/pod-stopping", fmt.Sprintf("The pod ends; its SIGKILL comes after %d s.", stop.KillAt))
			}
		}
	}
	return true
}

// Unsettled reports whether something comes of a pod by itself: a container of it has stopped, or
// it has a deadline.
func Unsettled(p *corev1.Pod) bool {
	r := readPod(p, NodeHealthy, time.Time{}, semantics.Life{})
	return !terminal(p.Status.Phase) && (r.deadline() != nil || slices.ContainsFunc(slices.Concat(r.inits, r.mains), func(s seen) bool {
		return s.is == exited && !(s.kind == KindInit && s.through())
	}))
}
