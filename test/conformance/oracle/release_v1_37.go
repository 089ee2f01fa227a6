//go:build v1_37

package oracle

import (
	"context"
	"fmt"
	"reflect"
	"unsafe"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/informers"
	clientset "k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/events"
	"k8s.io/dynamic-resource-allocation/resourceslice/tracker"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"k8s.io/kubernetes/pkg/apis/resource"
	"k8s.io/kubernetes/pkg/apis/resource/validation"
	"k8s.io/kubernetes/pkg/apis/storage"
	storagevalidation "k8s.io/kubernetes/pkg/apis/storage/validation"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption"
	"k8s.io/kubernetes/pkg/scheduler/framework/preemption"
)

func newInformers(client clientset.Interface) informers.SharedInformerFactory {
	return scheduler.NewInformerFactory(client, 0, nil)
}

func (cl *cluster) cycle(ctx context.Context, state fwk.CycleState, pod *framework.PodInfo) (scheduler.ScheduleResult, error) {
	return cl.sched.SchedulePod(ctx, cl.framework, state, &framework.QueuedPodInfo{PodInfo: pod})
}

func podChanges(is, was *v1.Pod, waiting bool) []fwk.ClusterEvent {
	return framework.PodSchedulingPropertiesChange(is, was, waiting)
}

func noEvents(string) events.EventRecorderLogger { return nil }

func (cl *cluster) queue(ctx context.Context, p *v1.Pod) { cl.sched.SchedulingQueue.Add(ctx, p) }

func pending(claims claimTracker, c *resourcev1.ResourceClaim) (*resourcev1.AllocationResult, error) {
	return claims.GetPendingAllocation(c.UID), nil
}

func invalidCSINode(n *storage.CSINode) field.ErrorList { return storagevalidation.ValidateCSINode(n) }

func (cl *cluster) laterStore(obj runtime.Object) cache.Store {
	if isLater(obj) {
		return cl.informers.Resource().V1().DeviceTaintRules().Informer().GetStore()
	}
	return nil
}

func tame(p *defaultpreemption.DefaultPreemption) {
	p.Executor.PreemptPod = func(context.Context, preemption.Candidate, preemption.ExecutorPreemptor, *v1.Pod, string) (bool, error) {
		return true, nil
	}
	p.MoreImportantVictim = func(a, b preemption.Victim) bool {
		return preemption.MoreImportantVictim(a, b) ||
			!preemption.MoreImportantVictim(b, a) && named(a.Pods()[0].GetPod()) < named(b.Pods()[0].GetPod())
	}
}

func isLater(obj runtime.Object) bool {
	_, ok := obj.(*resourcev1.DeviceTaintRule)
	return ok
}

func invalidLater(obj runtime.Object) (field.ErrorList, error) {
	var in resource.DeviceTaintRule
	err := legacyscheme.Scheme.Convert(obj, &in, nil)
	return validation.ValidateDeviceTaintRule(&in), err
}

// syncSlice is what the tracker of slices does on each of its events. The tracker keeps slices with
// the taints that rules add, and lists no others.
//
//go:linkname syncSlice k8s.io/dynamic-resource-allocation/resourceslice/tracker.(*Tracker).syncSlice
func syncSlice(t *tracker.Tracker, ctx context.Context, name string, sendEvent bool)

func (cl *cluster) announceAll(ctx context.Context) error {
	lister := cl.framework.SharedDRAManager().ResourceSlices()
	field := reflect.ValueOf(lister).Elem().FieldByName("tracker")
	if !field.IsValid() {
		return fmt.Errorf("%T has no tracker", lister)
	}
	t, ok := reflect.NewAt(field.Type(), unsafe.Pointer(field.UnsafeAddr())).Elem().Interface().(*tracker.Tracker)
	if !ok {
		return fmt.Errorf("the tracker of slices is a %s", field.Type())
	}
	for _, name := range cl.informers.Resource().V1().ResourceSlices().Informer().GetStore().ListKeys() {
		syncSlice(t, ctx, name, false)
	}
	return nil
}
