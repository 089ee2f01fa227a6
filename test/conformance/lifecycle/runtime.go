package lifecycle

import (
	"slices"

	v1 "k8s.io/api/core/v1"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
	kubecontainer "k8s.io/kubernetes/pkg/kubelet/container"
	"k8s.io/kubernetes/pkg/kubelet/prober/results"
)

const restartingAll = "RestartingAllContainers"

// runtimeOf is what a runtime would have, given the statuses: a container that
// waits without a last state was never created, one that waits with one has
// stopped, and one that was removed for a restart of all is not there.
func runtimeOf(pod *v1.Pod) *kubecontainer.PodStatus {
	out := &kubecontainer.PodStatus{ID: pod.UID, Name: pod.Name, Namespace: pod.Namespace}
	each(pod, func(c *v1.Container, _ string, st *v1.ContainerStatus) {
		if st == nil {
			return
		}
		s := &kubecontainer.Status{
			ID: idOf(c.Name), Name: c.Name, Hash: kubecontainer.HashContainer(c), RestartCount: int(st.RestartCount),
		}
		end := st.State.Terminated
		switch {
		case st.State.Running != nil:
			s.State, s.StartedAt = kubecontainer.ContainerStateRunning, st.State.Running.StartedAt.Time
			s.CreatedAt = s.StartedAt
			out.ContainerStatuses = append(out.ContainerStatuses, s)
			return
		case end != nil:
		case st.State.Waiting != nil && st.LastTerminationState.Terminated != nil && st.LastTerminationState.Terminated.Reason != restartingAll:
			end = st.LastTerminationState.Terminated
		default:
			return
		}
		s.State, s.ExitCode, s.Reason, s.Message = kubecontainer.ContainerStateExited, int(end.ExitCode), end.Reason, end.Message
		s.StartedAt, s.FinishedAt, s.CreatedAt = end.StartedAt.Time, end.FinishedAt.Time, end.StartedAt.Time
		out.ContainerStatuses = append(out.ContainerStatuses, s)
	})
	out.ActiveContainerStatuses = out.ContainerStatuses
	sandbox := &runtimeapi.PodSandboxStatus{
		Id: "sandbox", Metadata: &runtimeapi.PodSandboxMetadata{}, State: runtimeapi.PodSandboxState_SANDBOX_READY,
		Network: &runtimeapi.PodSandboxNetworkStatus{Ip: "10.0.0.1"},
	}
	if (terminal(pod.Status.Phase) || rebooted(pod)) && !runs(out) {
		sandbox.State = runtimeapi.PodSandboxState_SANDBOX_NOTREADY
	}
	if !terminal(pod.Status.Phase) && rebooted(pod) && len(out.ContainerStatuses) == 0 {
		return out // it was never made
	}
	out.SandboxStatuses = []*runtimeapi.PodSandboxStatus{sandbox}
	return out
}

// rebooted reports whether the pod's own condition tells that it has no sandbox, and no container
// that was tried tells otherwise.
func rebooted(pod *v1.Pod) bool {
	gone := slices.ContainsFunc(pod.Status.Conditions, func(c v1.PodCondition) bool {
		return c.Type == v1.PodReadyToStartContainers && c.Status == v1.ConditionFalse
	})
	each(pod, func(_ *v1.Container, _ string, st *v1.ContainerStatus) {
		if st != nil && st.State.Waiting != nil && slices.Contains(tried, st.State.Waiting.Reason) {
			gone = false
		}
	})
	return gone
}

func idOf(name string) kubecontainer.ContainerID {
	return kubecontainer.ContainerID{Type: "test", ID: name}
}

func runs(s *kubecontainer.PodStatus) bool {
	for _, c := range s.ContainerStatuses {
		if c.State == kubecontainer.ContainerStateRunning {
			return true
		}
	}
	return false
}

func terminal(p v1.PodPhase) bool { return p == v1.PodSucceeded || p == v1.PodFailed }

// each goes over all containers in the order of the answer, with their kind and
// status.
func each(pod *v1.Pod, f func(c *v1.Container, kind string, st *v1.ContainerStatus)) {
	find := func(list []v1.ContainerStatus, name string) *v1.ContainerStatus {
		for i := range list {
			if list[i].Name == name {
				return &list[i]
			}
		}
		return nil
	}
	for i := range pod.Spec.InitContainers {
		c, kind := &pod.Spec.InitContainers[i], "init"
		if c.RestartPolicy != nil && *c.RestartPolicy == v1.ContainerRestartPolicyAlways {
			kind = "sidecar"
		}
		f(c, kind, find(pod.Status.InitContainerStatuses, c.Name))
	}
	for i := range pod.Spec.Containers {
		c := &pod.Spec.Containers[i]
		f(c, "container", find(pod.Status.ContainerStatuses, c.Name))
	}
	for i := range pod.Spec.EphemeralContainers {
		c := (*v1.Container)(&pod.Spec.EphemeralContainers[i].EphemeralContainerCommon)
		f(c, "ephemeral", find(pod.Status.EphemeralContainerStatuses, c.Name))
	}
}

// probed holds the results of probes: a container that is started passed its startup probe.
// Upstream's manager of results sends each change to a channel, which is not read here.
type probed map[string]results.Result

func (p probed) Get(id kubecontainer.ContainerID) (results.Result, bool) {
	r, ok := p[id.ID]
	return r, ok
}
func (p probed) Set(kubecontainer.ContainerID, results.Result, *v1.Pod) {}
func (p probed) Remove(kubecontainer.ContainerID)                       {}
func (p probed) Updates() <-chan results.Update                         { return nil }

// startups returns the results of startup probes that statuses stand for.
func startups(pod *v1.Pod) probed {
	p := probed{}
	each(pod, func(c *v1.Container, _ string, st *v1.ContainerStatus) {
		if st != nil && st.State.Running != nil {
			p[c.Name] = results.Unknown
			if st.Started != nil && *st.Started {
				p[c.Name] = results.Success
			}
		}
	})
	return p
}
