package termination

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/kubernetes/pkg/kubelet"
	"k8s.io/kubernetes/pkg/kubelet/allocation"
	kubecontainer "k8s.io/kubernetes/pkg/kubelet/container"
	"k8s.io/kubernetes/pkg/kubelet/status"
	kubelettypes "k8s.io/kubernetes/pkg/kubelet/types"
	"k8s.io/kubernetes/pkg/kubelet/util/queue"
	"k8s.io/utils/clock"

	"berth/test/conformance/lifecycle"
)

// workers are a kubelet's workers just after its start, with a runtime that holds what the statuses
// of each pod hold. None of them acts: the test reads what the kubelet derives from a pod as soon
// as it sees it.
type workers struct {
	kubelet.PodWorkers
	runtime runtimeCache
}

func newWorkers(pods []*corev1.Pod) *workers {
	w := &workers{runtime: runtimeCache{}}
	for _, p := range pods {
		w.runtime[types.UID(p.Name)] = containersOf(p)
	}
	w.PodWorkers = newPodWorkers(queue.NewBasicWorkQueue(clock.RealClock{}), w.runtime)
	return w
}

// inactive tells the kubelet of a pod, and checks whether it counts as active.
func (w *workers) inactive(p *corev1.Pod) (bool, error) {
	kl := &kubelet.Kubelet{}
	if err := lifecycle.SetFields(kl, map[string]any{"podWorkers": w.PodWorkers, "statusManager": unknown{}}); err != nil {
		return false, err
	}
	p = p.DeepCopy()
	p.UID = types.UID(p.Name)
	tell(w, kubelet.UpdatePodOptions{UpdateType: kubelettypes.SyncPodCreate, Pod: p})
	return isPodInactive(kl, p), nil
}

// runtimeCache is what the runtime has, by UID. Workers wait for something newer,
// which never comes.
type runtimeCache map[types.UID]*kubecontainer.PodStatus

func (c runtimeCache) Get(uid types.UID) (*kubecontainer.PodStatus, error) { return c[uid], nil }

func (runtimeCache) GetNewerThan(types.UID, time.Time) (*kubecontainer.PodStatus, error) {
	select {}
}

// containersOf is a pod in the runtime.
func containersOf(p *corev1.Pod) *kubecontainer.PodStatus {
	out := &kubecontainer.PodStatus{ID: types.UID(p.Name), Name: p.Name, Namespace: p.Namespace}
	for _, list := range [][]corev1.ContainerStatus{p.Status.ContainerStatuses, p.Status.InitContainerStatuses, p.Status.EphemeralContainerStatuses} {
		for _, s := range list {
			c := &kubecontainer.Status{Name: s.Name, State: kubecontainer.ContainerStateExited}
			switch {
			case s.State.Running != nil:
				c.State = kubecontainer.ContainerStateRunning
			case s.State.Terminated != nil:
				c.ExitCode = int(s.State.Terminated.ExitCode)
			default:
				continue
			}
			out.ContainerStatuses = append(out.ContainerStatuses, c)
		}
	}
	return out
}

// allocated reports that pods have what they ask for.
type allocated struct{ allocation.Manager }

func (allocated) UpdatePodFromAllocation(p *corev1.Pod) (*corev1.Pod, bool) { return p, false }

// unknown is a status manager that has written nothing yet.
type unknown struct{ status.Manager }

func (unknown) GetPodStatus(types.UID) (corev1.PodStatus, bool) { return corev1.PodStatus{}, false }
