//go:build !v1_34 && !v1_35 && !v1_37

// What kube-scheduler's functions take in one release and not in another. The file of a release
// is chosen by its build tag (release.sh); without one it is the release of go.mod.

package oracle

import (
	"context"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/informers"
	clientset "k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/events"
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

// podChanges are the events of an update of a pod; waiting is true of the pod that waits.
func podChanges(is, was *v1.Pod, _ bool) []fwk.ClusterEvent {
	return framework.PodSchedulingPropertiesChange(is, was)
}

// noEvents records none.
func noEvents(string) events.EventRecorderLogger { return nil }

// queue puts a pod that waits into the scheduler's queue.
func (cl *cluster) queue(ctx context.Context, p *v1.Pod) { cl.sched.SchedulingQueue.Add(ctx, p) }

// pending is what Reserve has given to a claim; nil: nothing.
func pending(claims claimTracker, c *resourcev1.ResourceClaim) (*resourcev1.AllocationResult, error) {
	return claims.GetPendingAllocation(c.UID), nil
}

func invalidCSINode(n *storage.CSINode) field.ErrorList { return storagevalidation.ValidateCSINode(n) }

// laterStore is the informer's store of a kind that not every release has; nil for others.
func (cl *cluster) laterStore(runtime.Object) cache.Store { return nil }

// tame has preemption evict no pod, and leaves nothing of its order to the clock: until v1.36 two
// pods without a start are compared by the times of the comparison, and each is before the other.
func tame(p *defaultpreemption.DefaultPreemption) {
	p.Executor.PreemptPod = func(context.Context, preemption.Candidate, preemption.ExecutorPreemptor, *v1.Pod, string) error {
		return nil
	}
	now := metav1.Now()
	p.MoreImportantPod = total(func(a, b *v1.Pod) bool { return util.MoreImportantPod(startedBy(a, now), startedBy(b, now)) })
}

// isLater reports whether an object is of such a kind. They have no namespaces.
func isLater(runtime.Object) bool { return false }

// invalidLater runs upstream's validation of such a kind.
func invalidLater(runtime.Object) (field.ErrorList, error) { return nil, nil }

// announceAll tells those about all objects who learn of them neither from a store nor by announce.
func (cl *cluster) announceAll(context.Context) error { return nil }
