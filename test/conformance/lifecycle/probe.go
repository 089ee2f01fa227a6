package lifecycle

import (
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	kubecontainer "k8s.io/kubernetes/pkg/kubelet/container"
	"k8s.io/kubernetes/pkg/kubelet/prober/results"
	"k8s.io/kubernetes/pkg/kubelet/status"
	kubelettypes "k8s.io/kubernetes/pkg/kubelet/types"
)

// failing reports that one container's probe failed and that all others do well.
type failing struct {
	results.Manager
	id kubecontainer.ContainerID
}

func (f failing) Get(id kubecontainer.ContainerID) (results.Result, bool) {
	if id == f.id {
		return results.Failure, true
	}
	return results.Success, true
}

// AfterProbe is the phase in which a pod ends once one of its containers was
// stopped for its probe and ended with a code; "" while the pod goes on. Its
// statuses say of each container what it does. Sidecars stop with the pod.
func (o *Oracle) AfterProbe(pod *v1.Pod, container string, startup bool, code int32) (v1.PodPhase, error) {
	pod = pod.DeepCopy()
	if terminal(pod.Status.Phase) {
		return pod.Status.Phase, nil
	}
	dying := pod.DeletionTimestamp != nil
	ends := dying
	if !dying {
		liveness, started := o.m.liveness, o.m.startup
		well, ill := failing{}, failing{id: idOf(container)}
		o.m.liveness, o.m.startup = ill, well
		if startup {
			o.m.liveness, o.m.startup = well, ill
		}
		d := o.due(pod, runtimeOf(pod), false)
		o.m.liveness, o.m.startup = liveness, started
		if d.start[container] {
			return "", nil
		}
		ends = d.kill
	}
	others := false
	each(pod, func(c *v1.Container, kind string, st *v1.ContainerStatus) {
		if c.Name == container {
			st.State = v1.ContainerState{Terminated: &v1.ContainerStateTerminated{ExitCode: code}}
		} else if (kind == "init" || kind == "container") && st.State.Running != nil {
			others = true
		}
	})
	ends = ends && !others
	each(pod, func(_ *v1.Container, kind string, st *v1.ContainerStatus) {
		if ends && kind == "sidecar" && st.State.Running != nil {
			st.State = v1.ContainerState{Terminated: &v1.ContainerStateTerminated{ExitCode: 137}}
		}
	})
	if dying && ends {
		end, err := o.AfterKill(pod, nil, 137)
		return end.Phase, err
	}
	o.probes.of(pod)
	failures(o.kl, pod)
	phase := generateAPIPodStatus(o.kl, o.ctx, pod, runtimeOf(pod), false).Phase
	if !terminal(phase) {
		return "", nil
	}
	return phase, nil
}

// unmeasured measures nothing.
type unmeasured struct{}

func (unmeasured) DeletePodStartupState(types.UID) {}

// noMirrors knows no static pods.
type noMirrors struct{ status.PodManager }

func (noMirrors) GetMirrorPodByPod(*v1.Pod) (*v1.Pod, bool) { return nil, false }

func (noMirrors) TranslatePodUID(uid types.UID) kubelettypes.ResolvedPodUID {
	return kubelettypes.ResolvedPodUID(uid)
}
