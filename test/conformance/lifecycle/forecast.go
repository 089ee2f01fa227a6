package lifecycle

import (
	"errors"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/client-go/util/flowcontrol"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
	"k8s.io/kubernetes/pkg/kubelet"
	kubecontainer "k8s.io/kubernetes/pkg/kubelet/container"
	"k8s.io/kubernetes/pkg/kubelet/kuberuntime"
	"k8s.io/kubernetes/pkg/kubelet/prober/results"
	clock "k8s.io/utils/clock/testing"
)

// imageErrors are what containers say that wait for an image
// (pkg/kubelet/images, k8s.io/cri-api/pkg/errors).
var imageErrors = []string{"ErrImagePull", "ImagePullBackOff", "ImageInspectError", "ErrImageNeverPull", "InvalidImageName", "RegistryUnavailable", "SignatureValidationFailed"}

// Reasons of containers that could not be started (kuberuntime startContainer): created are those
// of which nothing ran, begun may have left a run that ended.
var (
	created = []string{"CreateContainerConfigError", "CreateContainerError", "PreCreateHookError", "PreStartHookError"}
	begun   = []string{"RunContainerError", "PostStartHookError"}
	tried   = slices.Concat([]string{"CrashLoopBackOff"}, created, begun, imageErrors)
)

// states writes down each container's state: the posted one, or what the
// kubelet's convertToAPIContainerStatuses gives where there is none.
func (o *Oracle) states(c *Case, v *Verdict) {
	written := map[string]v1.ContainerStatus{}
	if c.Pod.Spec.NodeName != "" {
		bare := c.Pod.DeepCopy()
		bare.Status.InitContainerStatuses, bare.Status.ContainerStatuses, bare.Status.EphemeralContainerStatuses = nil, nil, nil
		o.probes.of(bare)
		reasons(o.kl, bare)
		s := generateAPIPodStatus(o.kl, o.ctx, bare, &kubecontainer.PodStatus{}, false)
		for _, list := range [][]v1.ContainerStatus{s.InitContainerStatuses, s.ContainerStatuses, s.EphemeralContainerStatuses} {
			for _, st := range list {
				written[st.Name] = st
			}
		}
	}
	each(c.Pod, func(container *v1.Container, kind string, st *v1.ContainerStatus) {
		out := Container{Name: container.Name, Kind: kind, State: "waiting"}
		if st == nil {
			if w, ok := written[container.Name]; ok {
				out.Reason = w.State.Waiting.Reason
			}
			v.Containers = append(v.Containers, out)
			return
		}
		out.RestartCount = st.RestartCount
		switch bound := c.Pod.Spec.NodeName != ""; {
		case bound && st.State.Running != nil:
			out.State = "running"
		case bound && st.State.Terminated != nil:
			out.State, out.Reason = "terminated", st.State.Terminated.Reason
		case st.State.Waiting != nil && st.State.Running == nil && st.State.Terminated == nil:
			out.Reason = st.State.Waiting.Reason
		}
		v.Containers = append(v.Containers, out)
	})
}

// forecast returns what happens to each container next, from the kubelet's own computePodActions
// and doBackOff. Whether a container that is not started now waits or is left is found by
// continuing: what is started runs, plain init containers succeed, sidecars pass their startup
// probes, and computePodActions is called again until nothing changes.
func (o *Oracle) forecast(c *Case, v *Verdict) error {
	set := func(action string) {
		for i := range v.Containers {
			v.Containers[i].Action = action
		}
	}
	pod := c.Pod
	switch {
	case pod.Spec.NodeName == "":
		set("wait")
		return nil
	case c.Node == Gone || terminal(v1.PodPhase(v.Phase)) || pod.DeletionTimestamp != nil:
		set("leave")
		return nil
	}
	runtime := runtimeOf(pod)
	restarting := slices.ContainsFunc(v.Conditions, func(c Condition) bool {
		return c.Type == string(v1.AllContainersRestarting) && c.Status == string(v1.ConditionTrue)
	})
	if c.Node == Lost {
		restarting = false
	}
	o.m.startup = startups(pod)
	now := o.due(pod, runtime, restarting)
	if now.reset > 0 { // not compared, but that berth says so as well
		set("reset")
		return nil
	}
	if now.sandbox && len(runtime.ContainerStatuses) == 0 {
		// It is started once volumes are mounted and a sandbox is there, which upstream's
		// fakes have at once.
		set("wait")
		return nil
	}
	later := o.later(pod, runtime, now)
	for i := range v.Containers {
		out := &v.Containers[i]
		container := kubecontainer.GetContainerSpec(pod, out.Name)
		switch {
		case now.start[out.Name] && c.Node == Lost, !now.start[out.Name] && later[out.Name]:
			out.Action = "wait"
		case !now.start[out.Name]:
			out.Action = "leave"
		default:
			if err := o.run(c, container, runtime, out); err != nil {
				return err
			}
		}
	}
	return nil
}

// due is what computePodActions wants done.
type due struct {
	start map[string]bool
	kill  bool
	reset int
	// sandbox reports whether a new sandbox is made.
	sandbox bool
}

func (o *Oracle) due(pod *v1.Pod, runtime *kubecontainer.PodStatus, restarting bool) due {
	acts := computePodActions(o.m, o.ctx, pod, ofSandbox(pod, runtime), restarting)
	d := due{start: map[string]bool{}, kill: acts.KillPod && !acts.CreateSandbox, reset: len(acts.ContainersToReset), sandbox: acts.CreateSandbox}
	if d.kill {
		return d
	}
	for _, i := range acts.InitContainersToStart {
		d.start[pod.Spec.InitContainers[i].Name] = true
	}
	for _, i := range acts.ContainersToStart {
		d.start[pod.Spec.Containers[i].Name] = true
	}
	for _, i := range acts.EphemeralContainersToStart {
		d.start[pod.Spec.EphemeralContainers[i].Name] = true
	}
	return d
}

// ofSandbox is the runtime's status, in whose present sandbox no main container has ended where a
// plain init container runs or has failed: statuses do not tell in which one that was, and a
// kubelet runs no init container again in a sandbox in which a main one was started.
func ofSandbox(pod *v1.Pod, runtime *kubecontainer.PodStatus) *kubecontainer.PodStatus {
	again, out := false, *runtime
	is := func(name, kind string) (yes bool) {
		each(pod, func(c *v1.Container, of string, _ *v1.ContainerStatus) { yes = yes || c.Name == name && of == kind })
		return yes
	}
	for _, s := range runtime.ActiveContainerStatuses {
		failed := s.ExitCode != 0 || s.Reason == "OOMKilled"
		again = again || is(s.Name, "init") && (s.State == kubecontainer.ContainerStateRunning || failed)
	}
	if again {
		out.ActiveContainerStatuses = slices.DeleteFunc(slices.Clone(out.ActiveContainerStatuses), func(s *kubecontainer.Status) bool {
			return s.State == kubecontainer.ContainerStateExited && is(s.Name, "container")
		})
	}
	return &out
}

// later names what will be started once others are done.
func (o *Oracle) later(pod *v1.Pod, runtime *kubecontainer.PodStatus, d due) map[string]bool {
	names := map[string]bool{}
	startup := startups(pod)
	o.m.startup = startup
	state := *ofSandbox(pod, runtime)
	if d.sandbox { // SyncPod purges the init containers of the old one
		old := state.SandboxStatuses[0]
		ready := &runtimeapi.PodSandboxStatus{Id: old.Id, Metadata: old.Metadata, State: runtimeapi.PodSandboxState_SANDBOX_READY, Network: old.Network}
		state.SandboxStatuses, state.ContainerStatuses = []*runtimeapi.PodSandboxStatus{ready}, slices.Clone(state.ContainerStatuses)
		state.ActiveContainerStatuses = nil // there is nothing in the new one
		each(pod, func(c *v1.Container, kind string, _ *v1.ContainerStatus) {
			if kind == "init" || kind == "sidecar" {
				state.ContainerStatuses = slices.DeleteFunc(state.ContainerStatuses, func(s *kubecontainer.Status) bool { return s.Name == c.Name })
			}
		})
	}
	for range 20 {
		if d.kill {
			break
		}
		state.ContainerStatuses = slices.Clone(state.ContainerStatuses)
		put := func(c *v1.Container, is kubecontainer.State) {
			s := &kubecontainer.Status{ID: idOf(c.Name), Name: c.Name, Hash: kubecontainer.HashContainer(c), State: is}
			state.ContainerStatuses = slices.DeleteFunc(state.ContainerStatuses, func(old *kubecontainer.Status) bool { return old.Name == c.Name })
			state.ContainerStatuses = append(state.ContainerStatuses, s)
			state.ActiveContainerStatuses = slices.DeleteFunc(slices.Clone(state.ActiveContainerStatuses), func(old *kubecontainer.Status) bool { return old.Name == c.Name })
			state.ActiveContainerStatuses = append(state.ActiveContainerStatuses, s)
			startup[c.Name] = results.Success
		}
		each(pod, func(c *v1.Container, kind string, _ *v1.ContainerStatus) {
			s := state.FindContainerStatusByName(c.Name)
			running := s != nil && s.State == kubecontainer.ContainerStateRunning
			switch {
			case kind == "init" && (d.start[c.Name] || running):
				put(c, kubecontainer.ContainerStateExited)
			case d.start[c.Name] || running:
				put(c, kubecontainer.ContainerStateRunning)
			}
		})
		d = o.due(pod, &state, false)
		for name := range d.start {
			names[name] = true
		}
	}
	return names
}

// run reports whether a container that is due is started or backs off, as doBackOff
// does after as many starts as the status counts, the last of them at the start
// of the run that ended.
func (o *Oracle) run(c *Case, container *v1.Container, runtime *kubecontainer.PodStatus, out *Container) error {
	var st *v1.ContainerStatus
	each(c.Pod, func(other *v1.Container, _ string, status *v1.ContainerStatus) {
		if other.Name == container.Name {
			st = status
		}
	})
	var ended *kubecontainer.Status
	if s := runtime.FindContainerStatusByName(container.Name); s != nil && s.State == kubecontainer.ContainerStateExited {
		ended = s
	}
	if st != nil && st.State.Waiting != nil && st.State.Running == nil && st.State.Terminated == nil {
		// It is due, and was tried before: the pod worker tries it again after its back-off.
		reason := st.State.Waiting.Reason
		if slices.Contains(imageErrors, reason) || slices.Contains(created, reason) || ended == nil && slices.Contains(begun, reason) {
			out.Action = "backoff"
			return nil
		}
	}
	fakeClock := clock.NewFakeClock(c.Now)
	backOff := flowcontrol.NewFakeBackOff(10*time.Second, kubelet.MaxCrashLoopBackOff, fakeClock)
	if ended != nil {
		fakeClock.SetTime(ended.StartedAt)
		for range ended.RestartCount {
			backOff.Next(kuberuntime.GetBackoffKey(c.Pod, container), ended.StartedAt)
		}
		fakeClock.SetTime(c.Now)
	}
	is, _, err := doBackOff(o.m, o.ctx, c.Pod, container, runtime, backOff)
	switch {
	case is:
		out.Action = "backoff"
		var until *kubecontainer.BackoffError
		if !errors.As(err, &until) {
			return err
		}
		out.At = shown(until.BackoffTime())
	case ended != nil, st != nil && st.State.Waiting != nil && st.LastTerminationState.Terminated != nil:
		out.Action = "restart"
	default:
		out.Action = "start"
	}
	return nil
}
