package lifecycle

import (
	"context"
	_ "unsafe" // for go:linkname

	v1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/util/flowcontrol"
	internalapi "k8s.io/cri-api/pkg/apis"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/controller/podgc"
	"k8s.io/kubernetes/pkg/kubelet"
	kubecontainer "k8s.io/kubernetes/pkg/kubelet/container"
	_ "k8s.io/kubernetes/pkg/kubelet/kuberuntime" // what is reached is in it
	"k8s.io/kubernetes/pkg/kubelet/prober/results"

	cadvisorapi "github.com/google/cadvisor/info/v1"
	"go.opentelemetry.io/otel/trace"
)

// What upstream does not export is reached by the names that the linker knows
// it by. The types below stand for upstream's in their leading fields; they
// change with the release on trial, and TestReach says when they do.

// manager is kuberuntime's kubeGenericRuntimeManager as far as its probe
// results.
type manager struct {
	_         string
	recorder  record.EventRecorderLogger
	_         kubecontainer.OSInterface
	_         *cadvisorapi.MachineInfo
	_         *int
	_         kubecontainer.HandlerRunner
	_         kubecontainer.RuntimeHelper
	liveness  results.Manager
	readiness results.Manager
	startup   results.Manager
}

// actions is kuberuntime's podActions; what is marked with any is not read.
type actions struct {
	KillPod                    bool
	CreateSandbox              bool
	SandboxID                  string
	Attempt                    uint32
	InitContainersToStart      []int
	ContainersToStart          []int
	ContainersToKill           map[kubecontainer.ContainerID]any
	EphemeralContainersToStart []int
	ContainersToUpdate         map[v1.ResourceName]any
	UpdatePodResources         bool
	ContainersToReset          []any
	UpdatePodLevelResources    bool
}

//go:linkname getPhase k8s.io/kubernetes/pkg/kubelet.getPhase
func getPhase(logger klog.Logger, pod *v1.Pod, info []v1.ContainerStatus, podIsTerminal, podHasInitialized bool) v1.PodPhase

//go:linkname generateAPIPodStatus k8s.io/kubernetes/pkg/kubelet.(*Kubelet).generateAPIPodStatus
func generateAPIPodStatus(kl *kubelet.Kubelet, ctx context.Context, pod *v1.Pod, podStatus *kubecontainer.PodStatus, podIsTerminal bool) v1.PodStatus

//go:linkname newFakeKubeRuntimeManager k8s.io/kubernetes/pkg/kubelet/kuberuntime.newFakeKubeRuntimeManager
func newFakeKubeRuntimeManager(ctx context.Context, runtimeService internalapi.RuntimeService, imageService internalapi.ImageManagerService, machineInfo *cadvisorapi.MachineInfo,
	osInterface kubecontainer.OSInterface, runtimeHelper kubecontainer.RuntimeHelper, tracer trace.Tracer) (*manager, error)

//go:linkname computePodActions k8s.io/kubernetes/pkg/kubelet/kuberuntime.(*kubeGenericRuntimeManager).computePodActions
func computePodActions(m *manager, ctx context.Context, pod *v1.Pod, podStatus *kubecontainer.PodStatus, restartAllContainers bool) actions

//go:linkname doBackOff k8s.io/kubernetes/pkg/kubelet/kuberuntime.(*kubeGenericRuntimeManager).doBackOff
func doBackOff(m *manager, ctx context.Context, pod *v1.Pod, container *v1.Container, podStatus *kubecontainer.PodStatus, backOff *flowcontrol.Backoff) (bool, string, error)

//go:linkname markFailedAndDelete k8s.io/kubernetes/pkg/controller/podgc.(*PodGCController).markFailedAndDeletePodWithCondition
func markFailedAndDelete(gcc *podgc.PodGCController, ctx context.Context, pod *v1.Pod, condition *v1.PodCondition) error
