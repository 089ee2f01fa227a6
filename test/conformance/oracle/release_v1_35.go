//go:build v1_34 || v1_35

package oracle

import (
	"context"
	"fmt"
	"reflect"
	"sync"
	"unsafe"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/informers"
	clientset "k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/apis/storage"
	storagevalidation "k8s.io/kubernetes/pkg/apis/storage/validation"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption"
	"k8s.io/kubernetes/pkg/scheduler/framework/preemption"
	"k8s.io/kubernetes/pkg/scheduler/util"
)

func newInformers(client clientset.Interface) informers.SharedInformerFactory {
	return scheduler.NewInformerFactory(client, 0)
}

func (cl *cluster) cycle(ctx context.Context, state fwk.CycleState, pod *framework.PodInfo) (scheduler.ScheduleResult, error) {
	return cl.sched.SchedulePod(ctx, cl.framework, state, pod.Pod)
}

func podChanges(is, was *v1.Pod, _ bool) []fwk.ClusterEvent {
	return framework.PodSchedulingPropertiesChange(is, was)
}

func noEvents(string) events.EventRecorder { return nil }

func (cl *cluster) queue(ctx context.Context, p *v1.Pod) {
	cl.sched.SchedulingQueue.Add(klog.FromContext(ctx), p)
}

// pending reads the tracker's own map, which this release does not export.
func pending(claims claimTracker, c *resourcev1.ResourceClaim) (*resourcev1.AllocationResult, error) {
	flights := reflect.ValueOf(claims).Elem().FieldByName("inFlightAllocations")
	if !flights.IsValid() {
		return nil, fmt.Errorf("%T has no inFlightAllocations", claims)
	}
	all, ok := reflect.NewAt(flights.Type(), unsafe.Pointer(flights.UnsafeAddr())).Elem().Interface().(*sync.Map)
	if !ok {
		return nil, fmt.Errorf("inFlightAllocations is a %s", flights.Type())
	}
	if v, ok := all.Load(c.UID); ok {
		return v.(*resourcev1.ResourceClaim).Status.Allocation, nil
	}
	return nil, nil
}

func invalidCSINode(n *storage.CSINode) field.ErrorList {
	return storagevalidation.ValidateCSINode(n, storagevalidation.CSINodeValidationOptions{})
}

func (cl *cluster) laterStore(runtime.Object) cache.Store { return nil }

func tame(p *defaultpreemption.DefaultPreemption) {
	p.Evaluator.PreemptPod = func(context.Context, preemption.Candidate, *v1.Pod, *v1.Pod, string) error { return nil }
	now := metav1.Now()
	p.MoreImportantPod = total(func(a, b *v1.Pod) bool { return util.MoreImportantPod(startedBy(a, now), startedBy(b, now)) })
}

func isLater(runtime.Object) bool { return false }

func invalidLater(runtime.Object) (field.ErrorList, error) { return nil, nil }

func (cl *cluster) announceAll(context.Context) error { return nil }
