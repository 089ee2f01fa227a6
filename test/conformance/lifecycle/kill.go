package lifecycle

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"go.opentelemetry.io/otel/trace/noop"
	v1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/record"
	"k8s.io/kubernetes/pkg/kubelet"
	kubecontainer "k8s.io/kubernetes/pkg/kubelet/container"
	"k8s.io/kubernetes/pkg/kubelet/eviction"
	"k8s.io/kubernetes/pkg/kubelet/status"
	"k8s.io/kubernetes/pkg/kubelet/userns"
	"k8s.io/kubernetes/pkg/kubelet/volumemanager"
	"k8s.io/utils/clock"
)

// AfterKill is the status with which a pod ends once the kubelet has stopped all of
// it and what ran ended with a code. Its statuses say of each container what it
// does. The end is the kubelet's own, from the first status that it writes to the
// last; cause has it killed by who wants it killed, with what that one says of its
// status, and nil is a delete.
func (o *Oracle) AfterKill(pod *v1.Pod, cause func(*v1.Pod, eviction.KillPodFunc) error, code int32) (v1.PodStatus, error) {
	pod = pod.DeepCopy()
	runtime := &stoppable{status: runtimeOf(pod), code: int(code)}
	m := status.NewManager(nil, noMirrors{}, nil, unmeasured{})
	kl, err := newKubelet(o.probes)
	if err != nil {
		return v1.PodStatus{}, err
	}
	if err := SetFields(kl, map[string]any{
		"statusManager": m, "containerRuntime": runtime, "tracer": noop.Tracer{}, "recorder": &record.FakeRecorder{}, "clock": clock.RealClock{}, "usernsManager": &userns.UsernsManager{},
		"volumeManager": volumemanager.NewFakeVolumeManager(nil, 0, nil, false), "rootDirectory": filepath.Join(os.TempDir(), "no kubelet's directory"),
	}); err != nil {
		return v1.PodStatus{}, err
	}
	o.probes.of(pod)
	failures(kl, pod)
	kill := func(pod *v1.Pod, _ bool, period *int64, say func(*v1.PodStatus)) error {
		if err := kl.SyncTerminatingPod(o.ctx, pod, runtime.status, period, say); err != nil {
			return err
		}
		return kl.SyncTerminatedPod(o.ctx, pod, runtime.status)
	}
	if cause != nil {
		err = cause(pod, kill)
	} else {
		err = kill(pod, false, nil, nil)
	}
	s, known := m.GetPodStatus(pod.UID)
	if err == nil && !known {
		err = fmt.Errorf("the kubelet wrote no status of pod %s", pod.Name)
	}
	return s, err
}

// failures tells the kubelet why containers could not be started. Those that only
// wait for their turn have not been tried.
func failures(kl *kubelet.Kubelet, pod *v1.Pod) {
	pod = pod.DeepCopy()
	each(pod, func(_ *v1.Container, _ string, st *v1.ContainerStatus) {
		if st != nil && st.State.Waiting != nil && (st.State.Waiting.Reason == kubelet.PodInitializing || st.State.Waiting.Reason == kubelet.ContainerCreating) {
			st.State.Waiting.Reason = ""
		}
	})
	reasons(kl, pod)
}

// stoppable is a runtime with one pod, whose containers end with a code.
type stoppable struct {
	kubecontainer.Runtime
	status *kubecontainer.PodStatus
	code   int
}

func (*stoppable) Type() string { return "test" }

func (r *stoppable) KillPod(context.Context, *v1.Pod, kubecontainer.Pod, *int64) error {
	after := *r.status
	after.ContainerStatuses = nil
	for _, s := range r.status.ContainerStatuses {
		if s.State == kubecontainer.ContainerStateRunning {
			ended := *s
			ended.State, ended.ExitCode = kubecontainer.ContainerStateExited, r.code
			s = &ended
		}
		after.ContainerStatuses = append(after.ContainerStatuses, s)
	}
	after.ActiveContainerStatuses = after.ContainerStatuses
	r.status = &after
	return nil
}
