package termination

import (
	"context"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	criapi "k8s.io/cri-api/pkg/apis"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
	podutil "k8s.io/kubernetes/pkg/api/v1/pod"
	kubecontainer "k8s.io/kubernetes/pkg/kubelet/container"
)

// runtime is a container runtime whose containers use all the time they have.
type runtime struct {
	criapi.RuntimeService
	mu       sync.Mutex
	timeouts map[string]int64
}

func (r *runtime) Version(context.Context, string) (*runtimeapi.VersionResponse, error) {
	return &runtimeapi.VersionResponse{Version: "0.1.0", RuntimeName: "patient", RuntimeVersion: "0.1.0", RuntimeApiVersion: "0.1.0"}, nil
}

func (r *runtime) StopContainer(_ context.Context, id string, timeout int64) error {
	r.mu.Lock()
	r.timeouts[id] = timeout
	r.mu.Unlock()
	time.Sleep(time.Duration(timeout) * time.Second)
	return nil
}

// ExecSync is a hook that never returns.
func (r *runtime) ExecSync(ctx context.Context, _ string, _ []string, _ time.Duration) (stdout, stderr []byte, err error) {
	<-ctx.Done()
	return nil, nil, ctx.Err()
}

// Kill has the kubelet's own manager kill what runs of the pod, in real time,
// and notes the stop timeouts that the runtime is given.
func Kill(q Question, e *Ending) error {
	pod, err := served(q.Pod)
	if err != nil || e.Refused {
		return err
	}
	r := &runtime{timeouts: map[string]int64{}}
	m, err := newRuntimeManager(r)
	if err != nil {
		return fmt.Errorf("make a runtime manager: %w", err)
	}
	id := func(name string) kubecontainer.ContainerID {
		return kubecontainer.ContainerID{Type: "patient", ID: name}
	}
	if q.Container != "" {
		reason := map[string]string{"liveness": "LivenessProbe", "startup": "StartupProbe"}[q.Cause]
		if err := killContainer(m, context.Background(), pod, id(q.Container), q.Container, "", reason, nil, nil); err != nil {
			return fmt.Errorf("kill a container: %w", err)
		}
		e.Timeouts = r.timeouts
		return nil
	}
	running := kubecontainer.Pod{ID: pod.UID, Name: pod.Name, Namespace: pod.Namespace}
	for _, name := range Running(q) {
		running.Containers = append(running.Containers, &kubecontainer.Container{ID: id(name), Name: name})
	}
	for _, res := range killContainers(m, context.Background(), pod, running, &e.Effective) {
		if res.Error != nil {
			return fmt.Errorf("kill containers: %w", res.Error)
		}
	}
	e.Timeouts = r.timeouts
	return nil
}

// Running names the containers that run: by their status, else all main
// containers and sidecars of a pod that is on a node and not over. A delete of a
// pod without a node has none, nor has one of a mirror.
func Running(q Question) (names []string) {
	p := q.Pod
	if p.Spec.NodeName == "" && (q.Cause == "delete" || q.Cause == "preempt") {
		return nil
	}
	if _, mirror := p.Annotations["kubernetes.io/config.mirror"]; mirror && (q.Cause == "delete" || q.Cause == "preempt") {
		return nil // the kubelet writes the object again, and stops nothing
	}
	// Of a pod that is Pending nothing has started that has no status.
	over := p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed || p.Status.Phase == corev1.PodPending
	add := func(list []corev1.Container, statuses []corev1.ContainerStatus, plain bool) {
		for i, c := range list {
			switch {
			case len(statuses) > 0:
				if statuses[i].State.Running != nil {
					names = append(names, c.Name)
				}
			case !over && (plain || podutil.IsRestartableInitContainer(&c)):
				names = append(names, c.Name)
			}
		}
	}
	add(p.Spec.Containers, p.Status.ContainerStatuses, true)
	add(p.Spec.InitContainers, p.Status.InitContainerStatuses, false)
	for i := range p.Status.EphemeralContainerStatuses {
		if s := &p.Status.EphemeralContainerStatuses[i]; s.State.Running != nil {
			names = append(names, s.Name)
		}
	}
	return names
}
