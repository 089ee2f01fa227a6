package controllers

import (
	"context"
	"reflect"
	"time"
	"unsafe" // for go:linkname, too

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/registry/rest"
	batchinformers "k8s.io/client-go/informers/batch/v1"
	coreinformers "k8s.io/client-go/informers/core/v1"
	schedulinginformers "k8s.io/client-go/informers/scheduling/v1alpha2"
	"k8s.io/client-go/kubernetes"
	policyclient "k8s.io/client-go/kubernetes/typed/policy/v1"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/controller"
	"k8s.io/kubernetes/pkg/controller/cronjob"
	"k8s.io/kubernetes/pkg/controller/daemon"
	"k8s.io/kubernetes/pkg/controller/disruption"
	"k8s.io/kubernetes/pkg/controller/job"
	"k8s.io/kubernetes/pkg/controller/nodelifecycle"
	"k8s.io/kubernetes/pkg/controller/replicaset"
	"k8s.io/kubernetes/pkg/controller/tainteviction"
	podstorage "k8s.io/kubernetes/pkg/registry/core/pod/storage"
	"k8s.io/utils/clock"
)

// What Kubernetes does not export is reached by the names that the linker knows it by.

//go:linkname relatedPods k8s.io/kubernetes/pkg/controller/replicaset.(*ReplicaSetController).getIndirectlyRelatedPods
func relatedPods(c *replicaset.ReplicaSetController, log klog.Logger, rs *appsv1.ReplicaSet) ([]*corev1.Pod, error)

//go:linkname rankedPods k8s.io/kubernetes/pkg/controller/replicaset.getPodsRankedByRelatedPodsOnSameNode
func rankedPods(pods, related []*corev1.Pod) controller.ActivePodsWithRanks

//go:linkname syncBudget k8s.io/kubernetes/pkg/controller/disruption.(*DisruptionController).sync
func syncBudget(c *disruption.DisruptionController, ctx context.Context, key string) error

//go:linkname newEvictions k8s.io/kubernetes/pkg/registry/core/pod/storage.newEvictionStorage
func newEvictions(store rest.StandardStorage, client policyclient.PodDisruptionBudgetsGetter) *podstorage.EvictionREST

//go:linkname newJobs k8s.io/kubernetes/pkg/controller/job.newControllerWithClock
func newJobs(ctx context.Context, client kubernetes.Interface, clock clock.WithTicker, pods coreinformers.PodInformer, jobs batchinformers.JobInformer, workloads schedulinginformers.WorkloadInformer, groups schedulinginformers.PodGroupInformer) (*job.Controller, error)

//go:linkname syncJob k8s.io/kubernetes/pkg/controller/job.(*Controller).syncJob
func syncJob(c *job.Controller, ctx context.Context, key string) error

//go:linkname newFinalizerExpectations k8s.io/kubernetes/pkg/controller/job.newUIDTrackingExpectations
func newFinalizerExpectations() unsafe.Pointer

//go:linkname handleDisruption k8s.io/kubernetes/pkg/controller/nodelifecycle.(*Controller).handleDisruption
func handleDisruption(c *nodelifecycle.Controller, ctx context.Context, conditions map[string][]*corev1.NodeCondition, nodes []*corev1.Node)

//go:linkname newZone k8s.io/kubernetes/pkg/controller/nodelifecycle.(*Controller).addPodEvictorForNewZone
func newZone(c *nodelifecycle.Controller, log klog.Logger, node *corev1.Node)

//go:linkname syncDaemons k8s.io/kubernetes/pkg/controller/daemon.(*DaemonSetsController).syncDaemonSet
func syncDaemons(c *daemon.DaemonSetsController, ctx context.Context, key string) error

//go:linkname manageDaemons k8s.io/kubernetes/pkg/controller/daemon.(*DaemonSetsController).manage
func manageDaemons(c *daemon.DaemonSetsController, ctx context.Context, set *appsv1.DaemonSet, nodes []*corev1.Node, hash string) error

//go:linkname rollDaemons k8s.io/kubernetes/pkg/controller/daemon.(*DaemonSetsController).rollingUpdate
func rollDaemons(c *daemon.DaemonSetsController, ctx context.Context, set *appsv1.DaemonSet, nodes []*corev1.Node, hash string) error

//go:linkname syncNode k8s.io/kubernetes/pkg/controller/daemon.(*DaemonSetsController).syncNodeUpdate
func syncNode(c *daemon.DaemonSetsController, ctx context.Context, name string) error

//go:linkname shouldIgnoreNode k8s.io/kubernetes/pkg/controller/daemon.shouldIgnoreNodeUpdate
func shouldIgnoreNode(before, after corev1.Node) bool

//go:linkname syncCronJob k8s.io/kubernetes/pkg/controller/cronjob.(*ControllerV2).syncCronJob
func syncCronJob(c *cronjob.ControllerV2, ctx context.Context, cron *batchv1.CronJob, jobs []*batchv1.Job) (*time.Duration, bool, error)

//go:linkname cleanUpJobs k8s.io/kubernetes/pkg/controller/cronjob.(*ControllerV2).cleanupFinishedJobs
func cleanUpJobs(c *cronjob.ControllerV2, ctx context.Context, cron *batchv1.CronJob, jobs []*batchv1.Job) bool

// nodeHealth is upstream's nodeHealthData.
type nodeHealth struct {
	probed, ready metav1.Time
	status        *corev1.NodeStatus
	lease         unsafe.Pointer
}

//go:linkname setNodeHealth k8s.io/kubernetes/pkg/controller/nodelifecycle.(*nodeHealthMap).set
func setNodeHealth(all unsafe.Pointer, name string, h *nodeHealth)

// setField sets a field of upstream's that is not exported.
func setField(of any, name string, value any) {
	f := reflect.ValueOf(of).Elem().FieldByName(name)
	reflect.NewAt(f.Type(), f.Addr().UnsafePointer()).Elem().Set(reflect.ValueOf(value))
}

// setPointer sets one whose type is not exported either.
func setPointer(of any, name string, value unsafe.Pointer) {
	f := reflect.ValueOf(of).Elem().FieldByName(name)
	*(*unsafe.Pointer)(f.Addr().UnsafePointer()) = value
}

//go:linkname judgeTaints k8s.io/kubernetes/pkg/controller/tainteviction.(*Controller).processPodOnNode
func judgeTaints(c *tainteviction.Controller, ctx context.Context, pod types.NamespacedName, node string, tolerations []corev1.Toleration, taints []corev1.Taint, now time.Time)
