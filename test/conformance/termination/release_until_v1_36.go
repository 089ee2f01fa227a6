//go:build !v1_37

package termination

import (
	"context"
	"unsafe"

	corev1 "k8s.io/api/core/v1"
	criapi "k8s.io/cri-api/pkg/apis"
	admission "k8s.io/kubernetes/pkg/kubelet/lifecycle"
	"k8s.io/kubernetes/pkg/kubelet/preemption"
)

//go:linkname newFakeKubeRuntimeManager k8s.io/kubernetes/pkg/kubelet/kuberuntime.newFakeKubeRuntimeManager
func newFakeKubeRuntimeManager(ctx context.Context, runtime criapi.RuntimeService, images criapi.ImageManagerService, machine unsafe.Pointer, os, helper, tracer any) (unsafe.Pointer, error)

// newRuntimeManager makes the manager of containers that upstream's tests use.
// Of its parts only the runtime is needed here.
func newRuntimeManager(runtime criapi.RuntimeService) (unsafe.Pointer, error) {
	return newFakeKubeRuntimeManager(context.Background(), runtime, nil, nil, nil, nil, nil)
}

//go:linkname killPods k8s.io/kubernetes/pkg/kubelet/nodeshutdown.(*podManager).killPods
func killPods(manager unsafe.Pointer, pods []*corev1.Pod) error

// makeRoom has the kubelet make room for a critical pod.
func makeRoom(h *preemption.CriticalPodAdmissionHandler, pod *corev1.Pod, failed admission.PredicateFailureReason) {
	_, _ = h.HandleAdmissionFailure(context.Background(), pod, []admission.PredicateFailureReason{failed})
}
