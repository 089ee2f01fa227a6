//go:build v1_34 || v1_35

package lifecycle

import (
	"context"
	_ "unsafe" // for go:linkname

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/kubelet"
	kubecontainer "k8s.io/kubernetes/pkg/kubelet/container"
)

//go:linkname phaseOf k8s.io/kubernetes/pkg/kubelet.getPhase
func phaseOf(pod *v1.Pod, info []v1.ContainerStatus, podIsTerminal, podHasInitialized bool) v1.PodPhase

func getPhase(_ klog.Logger, pod *v1.Pod, info []v1.ContainerStatus, podIsTerminal, podHasInitialized bool) v1.PodPhase {
	return phaseOf(pod, info, podIsTerminal, podHasInitialized)
}

//go:linkname statusOf k8s.io/kubernetes/pkg/kubelet.(*Kubelet).generateAPIPodStatus
func statusOf(kl *kubelet.Kubelet, pod *v1.Pod, podStatus *kubecontainer.PodStatus, podIsTerminal bool) v1.PodStatus

func generateAPIPodStatus(kl *kubelet.Kubelet, _ context.Context, pod *v1.Pod, podStatus *kubecontainer.PodStatus, podIsTerminal bool) v1.PodStatus {
	return statusOf(kl, pod, podStatus, podIsTerminal)
}

func (r *stoppable) GetPodStatus(context.Context, types.UID, string, string) (*kubecontainer.PodStatus, error) {
	return r.status, nil
}
