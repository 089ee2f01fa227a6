//go:build v1_34 || v1_35

package termination

import (
	"time"
	_ "unsafe" // for go:linkname

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/kubernetes/pkg/kubelet"
	"k8s.io/kubernetes/pkg/kubelet/allocation"
	kubecontainer "k8s.io/kubernetes/pkg/kubelet/container"
	"k8s.io/kubernetes/pkg/kubelet/util/queue"
)

//go:linkname podWorkersOf k8s.io/kubernetes/pkg/kubelet.newPodWorkers
func podWorkersOf(syncer, recorder any, work queue.WorkQueue, resync, backOff time.Duration, cache kubecontainer.Cache, allocated allocation.Manager) kubelet.PodWorkers

// newPodWorkers makes the kubelet's workers. Of its parts the cache of the runtime
// and the allocation manager are needed here; syncer and recorder are nil.
func newPodWorkers(work queue.WorkQueue, cache runtimeCache) kubelet.PodWorkers {
	return podWorkersOf(nil, nil, work, time.Hour, time.Hour, readOnly{runtimeCache: cache}, allocated{})
}

// readOnly is a cache that is not written.
type readOnly struct {
	runtimeCache
	writes
}

// writes are a cache's other methods, none of which is called.
type writes interface {
	Set(types.UID, *kubecontainer.PodStatus, error, time.Time) bool
	Delete(types.UID)
	UpdateTime(time.Time)
}

// tell lets workers hear of a pod.
func tell(w kubelet.PodWorkers, o kubelet.UpdatePodOptions) { w.UpdatePod(o) }
