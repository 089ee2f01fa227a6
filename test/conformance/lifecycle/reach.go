package lifecycle

import (
	"context"
	"unsafe" // also for go:linkname

	v1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/kubernetes/pkg/controller/podgc"
	kubecontainer "k8s.io/kubernetes/pkg/kubelet/container"
	_ "k8s.io/kubernetes/pkg/kubelet/kuberuntime" // what is reached is in it
	"k8s.io/kubernetes/pkg/kubelet/prober/results"
)

// What upstream does not export is reached by the names that the linker knows
// it by. The types below stand for upstream's in their leading fields; they
// change with the release on trial, and TestReach says when they do. What
// differs between releases is in the release_*.go, of which build tags choose.

// manager is kuberuntime's kubeGenericRuntimeManager as far as its probe
// results.
type manager struct {
	_         string
	recorder  record.EventRecorderLogger
	_         kubecontainer.OSInterface
	_         unsafe.Pointer
	_         *int
	_         kubecontainer.HandlerRunner
	_         kubecontainer.RuntimeHelper
	liveness  results.Manager
	readiness results.Manager
	startup   results.Manager
}

//go:linkname computePodActions k8s.io/kubernetes/pkg/kubelet/kuberuntime.(*kubeGenericRuntimeManager).computePodActions
func computePodActions(m *manager, ctx context.Context, pod *v1.Pod, podStatus *kubecontainer.PodStatus, restartAllContainers bool) actions

//go:linkname doBackOff k8s.io/kubernetes/pkg/kubelet/kuberuntime.(*kubeGenericRuntimeManager).doBackOff
func doBackOff(m *manager, ctx context.Context, pod *v1.Pod, container *v1.Container, podStatus *kubecontainer.PodStatus, backOff *flowcontrol.Backoff) (bool, string, error)

//go:linkname markFailedAndDelete k8s.io/kubernetes/pkg/controller/podgc.(*PodGCController).markFailedAndDeletePodWithCondition
func markFailedAndDelete(gcc *podgc.PodGCController, ctx context.Context, pod *v1.Pod, condition *v1.PodCondition) error
