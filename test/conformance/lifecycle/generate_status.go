package lifecycle

import (
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// status draws a status: in most pods one that a cluster could have, in the
// rest each container's by itself.
func (g *generator) status(pod *v1.Pod) {
	st := &pod.Status
	st.Phase = []v1.PodPhase{v1.PodPending, v1.PodRunning, v1.PodSucceeded, v1.PodFailed, v1.PodUnknown, ""}[g.pick(30, 44, 8, 8, 5, 5)]
	if g.one(8) {
		st.Reason, st.Message = among(g, "Evicted", "NodeLost", "NodeAffinity", "Preempting"), "said so"
	}
	chaos := g.one(3)
	// How far a pod has come that has a story: the first so many init
	// containers are through.
	through := g.IntN(len(pod.Spec.InitContainers) + 2)
	none := g.one(10)
	each(pod, func(c *v1.Container, kind string, _ *v1.ContainerStatus) {
		if none || g.one(15) {
			return
		}
		s := v1.ContainerStatus{Name: c.Name, ContainerID: "test://" + c.Name}
		switch {
		case chaos:
			g.any(&s, kind)
		case kind == "ephemeral":
			g.any(&s, kind)
		case kind == "container" && through <= len(pod.Spec.InitContainers) && len(pod.Spec.InitContainers) > 0:
			s.State.Waiting, s.ContainerID = &v1.ContainerStateWaiting{Reason: "PodInitializing"}, ""
		case kind == "container":
			g.ran(&s, kind)
		case through > 0 && kind == "sidecar":
			through--
			s.State.Running, s.Started, s.Ready = &v1.ContainerStateRunning{StartedAt: g.ago(900)}, ptr(true), !g.one(4)
			if g.one(4) {
				g.ran(&s, kind)
			}
		case through > 0:
			through--
			s.State.Terminated, s.Ready = &v1.ContainerStateTerminated{Reason: "Completed", StartedAt: g.ago(900), FinishedAt: g.ago(300)}, true
		case through == 0:
			through = -1
			g.ran(&s, kind)
		default:
			s.State.Waiting, s.ContainerID = &v1.ContainerStateWaiting{Reason: "PodInitializing"}, ""
		}
		g.probe(c, kind, &s)
		switch kind {
		case "container":
			st.ContainerStatuses = append(st.ContainerStatuses, s)
		case "ephemeral":
			st.EphemeralContainerStatuses = append(st.EphemeralContainerStatuses, s)
		default:
			st.InitContainerStatuses = append(st.InitContainerStatuses, s)
		}
	})
	if g.one(20) { // of a container that the spec does not know, as kubectl counts it
		s := v1.ContainerStatus{Name: "gone", ContainerID: "test://gone"}
		g.ran(&s, "container")
		if g.one(2) {
			st.ContainerStatuses = append(st.ContainerStatuses, s)
		} else {
			st.InitContainerStatuses = append(st.InitContainerStatuses, s)
		}
	}
	st.ContainerStatuses = shuffled(g, st.ContainerStatuses)
	if chaos {
		st.InitContainerStatuses = shuffled(g, st.InitContainerStatuses)
	}
	g.conditions(pod)
	if g.one(8) {
		g.reboot(pod)
	}
}

// reboot makes a pod one whose node came back: nothing runs, the sandbox is gone, and the pod's
// condition tells it.
func (g *generator) reboot(pod *v1.Pod) {
	each(pod, func(_ *v1.Container, _ string, st *v1.ContainerStatus) {
		switch {
		case st == nil:
		case st.State.Running != nil:
			st.State = v1.ContainerState{Terminated: &v1.ContainerStateTerminated{ExitCode: 255, Reason: "Unknown", StartedAt: st.State.Running.StartedAt, FinishedAt: g.ago(60)}}
			st.Ready, st.Started = false, ptr(false)
		case st.State.Waiting != nil && slices.Contains(tried, st.State.Waiting.Reason):
			st.State.Waiting.Reason = ""
			if end := st.LastTerminationState.Terminated; end != nil && end.Reason != restartingAll {
				st.State = v1.ContainerState{Terminated: end}
			}
		}
	})
	pod.Status.Conditions = append(slices.DeleteFunc(pod.Status.Conditions, func(c v1.PodCondition) bool { return c.Type == v1.PodReadyToStartContainers }),
		v1.PodCondition{Type: v1.PodReadyToStartContainers, Status: v1.ConditionFalse, LastTransitionTime: g.ago(60)})
}

// probe makes a status agree with the probes: a sidecar that runs has started,
// unless a startup probe has yet to pass.
func (g *generator) probe(c *v1.Container, kind string, s *v1.ContainerStatus) {
	if kind == "sidecar" && s.State.Running != nil && (s.Started == nil || !*s.Started) && c.StartupProbe == nil {
		c.StartupProbe = &v1.Probe{ProbeHandler: v1.ProbeHandler{Exec: &v1.ExecAction{Command: []string{"true"}}}}
	}
}

// ran is a status of a container whose turn has come.
func (g *generator) ran(s *v1.ContainerStatus, kind string) {
	switch g.pick(35, 20, 25, 12, 8) {
	case 0:
		s.State.Running, s.Started, s.Ready = &v1.ContainerStateRunning{StartedAt: g.ago(900)}, ptr(true), kind != "init" && !g.one(4)
		if g.one(6) {
			s.Started, s.Ready = ptr(false), false
		}
		if g.one(3) {
			s.RestartCount, s.LastTerminationState.Terminated = int32(1+g.IntN(4)), g.end()
		}
	case 1:
		s.State.Terminated, s.RestartCount = g.end(), int32(g.pick(50, 20, 10, 10, 10))
		s.Ready = kind == "init" && s.State.Terminated.ExitCode == 0
	case 2:
		s.State.Waiting = &v1.ContainerStateWaiting{Reason: "CrashLoopBackOff", Message: "back-off"}
		s.LastTerminationState.Terminated, s.RestartCount = g.end(), int32(g.IntN(9))
		g.edge(s)
	case 3:
		s.State.Waiting = &v1.ContainerStateWaiting{Reason: g.waitReason()}
	case 4:
		s.State.Waiting = &v1.ContainerStateWaiting{Reason: among(g, tried[1:]...)}
		if g.one(2) {
			s.LastTerminationState.Terminated, s.RestartCount = g.end(), 1
		}
	}
}

// any is a status without rhyme or reason.
func (g *generator) any(s *v1.ContainerStatus, kind string) {
	switch g.pick(25, 5, 30, 40) {
	case 0:
		s.State.Running = &v1.ContainerStateRunning{StartedAt: g.ago(900)}
	case 1: // no state
	case 2:
		s.State.Terminated = g.end()
	case 3:
		s.State.Waiting = &v1.ContainerStateWaiting{Reason: g.waitReason()}
	}
	if kind != "ephemeral" && g.one(3) {
		s.LastTerminationState.Terminated = g.end()
	}
	s.RestartCount, s.Ready = int32(g.IntN(9)), g.one(2)
	s.Started = among(g, nil, ptr(true), ptr(false))
	if kind == "ephemeral" {
		s.RestartCount = 0
	}
	g.edge(s)
}

func (g *generator) waitReason() string {
	return among(g, "", "ContainerCreating", "PodInitializing", "CrashLoopBackOff", "ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull", "ImageInspectError",
		"RegistryUnavailable", "SignatureValidationFailed", "CreateContainerConfigError", "CreateContainerError", "PreCreateHookError", "PreStartHookError", "RunContainerError", "PostStartHookError", "RestartingAllContainers")
}

// end is how a run ended.
func (g *generator) end() *v1.ContainerStateTerminated {
	code := g.code()
	t := &v1.ContainerStateTerminated{ExitCode: code, Reason: "Error"}
	if code == 0 {
		t.Reason = "Completed"
	}
	switch g.pick(80, 6, 6, 4, 4) {
	case 1:
		t.Reason = ""
	case 2:
		t.Reason, t.Signal = "", among[int32](g, 9, 15)
	case 3:
		t.Reason = among(g, "OOMKilled", "ContainerCannotRun", "StartError")
	case 4: // the container could not be found; its end time is unknown
		t.Reason, t.ExitCode = among(g, "ContainerStatusUnknown", restartingAll), 137
		return t
	}
	t.FinishedAt = g.ago(420)
	run := g.IntN(60)
	if g.one(4) {
		run = 595 + g.IntN(10)
	}
	t.StartedAt = metav1.NewTime(t.FinishedAt.Add(-time.Duration(run) * time.Second))
	return t
}

// edge moves an end to where its back-off is just over or just not.
func (g *generator) edge(s *v1.ContainerStatus) {
	end := s.LastTerminationState.Terminated
	if s.State.Terminated != nil {
		end = s.State.Terminated
	}
	if end == nil || end.FinishedAt.IsZero() || !g.one(3) || s.RestartCount == 0 {
		return
	}
	delay := min(10<<min(s.RestartCount-1, 5), 300)
	by := time.Duration(g.IntN(3)-1)*time.Second - time.Duration(delay)*time.Second
	run := end.FinishedAt.Sub(end.StartedAt.Time)
	end.FinishedAt = metav1.NewTime(g.base.Add(by))
	end.StartedAt = metav1.NewTime(end.FinishedAt.Add(-run))
}

// conditions draws some, the kubelet's and others'.
func (g *generator) conditions(pod *v1.Pod) {
	if g.one(4) {
		return
	}
	for _, kind := range []v1.PodConditionType{
		v1.PodScheduled, v1.PodReady, v1.PodInitialized, v1.ContainersReady, v1.PodReadyToStartContainers, v1.DisruptionTarget, "example.com/a", "example.com/b", v1.AllContainersRestarting,
	} {
		if g.one(2) || kind == v1.AllContainersRestarting && !g.one(8) {
			continue
		}
		c := v1.PodCondition{Type: kind, Status: among(g, v1.ConditionTrue, v1.ConditionTrue, v1.ConditionFalse, v1.ConditionUnknown), LastTransitionTime: g.ago(900)}
		if g.one(4) {
			c.Reason, c.Message = among(g, "SchedulingGated", "Unschedulable", "PodFailed", "Because"), "some message"
		}
		if g.one(4) {
			c.ObservedGeneration = 1
		}
		pod.Status.Conditions = append(pod.Status.Conditions, c)
	}
	pod.Status.Conditions = shuffled(g, pod.Status.Conditions)
}
