package termination

import (
	"context"
	"unsafe"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	_ "k8s.io/apiserver/pkg/registry/rest" // its clock
	"k8s.io/klog/v2"
	statsapi "k8s.io/kubelet/pkg/apis/stats/v1alpha1"
	"k8s.io/kubernetes/pkg/controller/podgc"
	"k8s.io/kubernetes/pkg/kubelet"
	kubeletconfig "k8s.io/kubernetes/pkg/kubelet/apis/config"
	kubecontainer "k8s.io/kubernetes/pkg/kubelet/container"
	_ "k8s.io/kubernetes/pkg/kubelet/eviction"
	_ "k8s.io/kubernetes/pkg/kubelet/kuberuntime"
	"k8s.io/kubernetes/pkg/kubelet/nodeshutdown"
)

// What Kubernetes does not export is reached by the names that the linker knows
// it by. Types that are not exported stand as what has their layout. What differs
// between releases is in the release_*.go, of which build tags choose.

// effectivePeriod is the kubelet's period of a whole pod; status is a podSyncStatus.
//
//go:linkname effectivePeriod k8s.io/kubernetes/pkg/kubelet.calculateEffectiveGracePeriod
func effectivePeriod(status unsafe.Pointer, pod *corev1.Pod, options *kubelet.KillPodOptions) (int64, bool)

// isPodInactive reports whether the kubelet leaves a pod out where it looks at active
// ones.
//
//go:linkname isPodInactive k8s.io/kubernetes/pkg/kubelet.(*Kubelet).isPodInactive
func isPodInactive(kl *kubelet.Kubelet, pod *corev1.Pod) bool

// probePeriod is the period of one container that is killed for a reason.
//
//go:linkname probePeriod k8s.io/kubernetes/pkg/kubelet/kuberuntime.setTerminationGracePeriod
func probePeriod(ctx context.Context, pod *corev1.Pod, c *corev1.Container, name string, id kubecontainer.ContainerID, reason string) int64

// killContainers kills a pod's containers as a whole.
//
//go:linkname killContainers k8s.io/kubernetes/pkg/kubelet/kuberuntime.(*kubeGenericRuntimeManager).killContainersWithSyncResult
func killContainers(manager unsafe.Pointer, ctx context.Context, pod *corev1.Pod, running kubecontainer.Pod, override *int64) []*kubecontainer.SyncResult

// killContainer kills one.
//
//go:linkname killContainer k8s.io/kubernetes/pkg/kubelet/kuberuntime.(*kubeGenericRuntimeManager).killContainer
func killContainer(manager unsafe.Pointer, ctx context.Context, pod *corev1.Pod, id kubecontainer.ContainerID, name, message, reason string, override *int64, ordering unsafe.Pointer) error

// migrateShares makes shares by priority of the two durations, in nanoseconds.
//
//go:linkname migrateShares k8s.io/kubernetes/pkg/kubelet/nodeshutdown.migrateConfig
func migrateShares(requested, critical int64) []kubeletconfig.ShutdownGracePeriodByPodPriority

// shutdownGroup is upstream's podShutdownGroup.
type shutdownGroup struct {
	kubeletconfig.ShutdownGracePeriodByPodPriority
	pods []*corev1.Pod
}

//go:linkname groupByPriority k8s.io/kubernetes/pkg/kubelet/nodeshutdown.groupByPriority
func groupByPriority(shares []kubeletconfig.ShutdownGracePeriodByPodPriority, pods []*corev1.Pod) []shutdownGroup

// newShutdown makes what kills a node's pods when it shuts down.
//
//go:linkname newShutdown k8s.io/kubernetes/pkg/kubelet/nodeshutdown.newPodManager
func newShutdown(conf *nodeshutdown.Config) unsafe.Pointer

// evictPod evicts one.
//
//go:linkname evictPod k8s.io/kubernetes/pkg/kubelet/eviction.(*managerImpl).evictPod
func evictPod(manager unsafe.Pointer, log klog.Logger, pod *corev1.Pod, period int64, message string, annotations map[string]string, condition *corev1.PodCondition) bool

// statsFunc finds a pod's statistics.
type statsFunc = func(*corev1.Pod) (statsapi.PodStats, bool)

//go:linkname rankMemory k8s.io/kubernetes/pkg/kubelet/eviction.rankMemoryPressure
func rankMemory(pods []*corev1.Pod, stats statsFunc)

//go:linkname rankPIDs k8s.io/kubernetes/pkg/kubelet/eviction.rankPIDPressure
func rankPIDs(pods []*corev1.Pod, stats statsFunc)

//go:linkname rankDisk k8s.io/kubernetes/pkg/kubelet/eviction.rankDiskPressureFunc
func rankDisk(measure []string, resource corev1.ResourceName) func([]*corev1.Pod, statsFunc)

// The steps of PodGC's one pass.
//
//go:linkname gcTerminated k8s.io/kubernetes/pkg/controller/podgc.(*PodGCController).gcTerminated
func gcTerminated(c *podgc.PodGCController, ctx context.Context, pods []*corev1.Pod)

//go:linkname gcTerminating k8s.io/kubernetes/pkg/controller/podgc.(*PodGCController).gcTerminating
func gcTerminating(c *podgc.PodGCController, ctx context.Context, pods []*corev1.Pod)

//go:linkname gcOrphaned k8s.io/kubernetes/pkg/controller/podgc.(*PodGCController).gcOrphaned
func gcOrphaned(c *podgc.PodGCController, ctx context.Context, pods []*corev1.Pod, nodes []*corev1.Node)

//go:linkname gcUnscheduled k8s.io/kubernetes/pkg/controller/podgc.(*PodGCController).gcUnscheduledTerminating
func gcUnscheduled(c *podgc.PodGCController, ctx context.Context, pods []*corev1.Pod)

// gcPass is the whole pass.
//
//go:linkname gcPass k8s.io/kubernetes/pkg/controller/podgc.(*PodGCController).gc
func gcPass(c *podgc.PodGCController, ctx context.Context)

// apiClock is the clock of deletes.
//
//go:linkname apiClock k8s.io/apiserver/pkg/registry/rest.metav1Now
var apiClock func() metav1.Time
