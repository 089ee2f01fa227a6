//go:build v1_37

package lifecycle

import (
	"context"
	_ "unsafe" // for go:linkname

	cadvisorapi "github.com/google/cadvisor/lib/model"
	"go.opentelemetry.io/otel/trace"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/record"
	internalapi "k8s.io/cri-api/pkg/apis"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/kubelet/cm"
	kubecontainer "k8s.io/kubernetes/pkg/kubelet/container"
	"k8s.io/kubernetes/pkg/kubelet/metrics"
)

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
	VolumesToUpsize            []any
	VolumesToDownsize          []any
	UpdatePodResources         bool
	ContainersToReset          []any
	UpdatePodLevelResources    bool
}

//go:linkname newFakeKubeRuntimeManager k8s.io/kubernetes/pkg/kubelet/kuberuntime.newFakeKubeRuntimeManager
func newFakeKubeRuntimeManager(ctx context.Context, runtimeService internalapi.RuntimeService, imageService internalapi.ImageManagerService, machineInfo *cadvisorapi.MachineInfo,
	osInterface kubecontainer.OSInterface, runtimeHelper kubecontainer.RuntimeHelper, tracer trace.Tracer, recorder *record.FakeRecorder) (*manager, error)

// newManager makes the manager of containers that upstream's tests use.
func newManager(ctx context.Context, runtime internalapi.RuntimeService, images internalapi.ImageManagerService, os kubecontainer.OSInterface, helper kubecontainer.RuntimeHelper, tracer trace.Tracer) (*manager, error) {
	return newFakeKubeRuntimeManager(ctx, runtime, images, &cadvisorapi.MachineInfo{}, os, helper, tracer, &record.FakeRecorder{})
}

// newContainerManager makes one that has nothing to do.
func newContainerManager() cm.ContainerManager { return cm.NewFakeContainerManager(klog.Background()) }

func (statusManager) ClearPodResizePendingCondition(types.UID, metrics.DeferredResizeResolution) {}

func (unmeasured) RecordStatusUpdated(klog.Logger, *v1.Pod) {}
