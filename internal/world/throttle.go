package world

import (
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Client is a client of the API server that limits its own calls.
type Client struct {
	// every is between two calls once so many have been made that burst is used up.
	every time.Duration
	burst int
	// next is when the last call but burst would be made at this rate.
	next time.Duration
}

// The rates of clients: those of kube-controller-manager's controllers, each of which has one of
// its own (pkg/controller/apis/config/v1alpha1/defaults.go), of kube-scheduler
// (pkg/scheduler/apis/config/v1/defaults.go) and of kubectl (k8s.io/client-go/rest/config.go).
const (
	controllerCalls, controllerBurst = 20, 30
	schedulerCalls, schedulerBurst   = 50, 100
	kubectlCalls, kubectlBurst       = 5, 10
)

func newClient(calls, burst int) *Client {
	return &Client{every: time.Second / time.Duration(calls), burst: burst}
}

// clients are those of a world; nil ones are not limited.
type clients struct {
	replicaSets, taints, scheduler *Client
	waited                         int // calls
}

// Throttle has clients make their calls at upstream's rates: the controllers of ReplicaSets and of
// taint eviction, kube-scheduler, and what NewKubectl returns.
func (w *World) Throttle() {
	w.clients = clients{
		replicaSets: newClient(controllerCalls, controllerBurst), taints: newClient(controllerCalls, controllerBurst),
		scheduler: newClient(schedulerCalls, schedulerBurst),
	}
}

// Throttled returns how many calls had to wait for the rates of their clients.
func (w *World) Throttled() int { return w.clients.waited }

// NewKubectl returns the client of one kubectl; nil where clients are not limited.
func (w *World) NewKubectl() *Client {
	if w.clients.scheduler == nil {
		return nil
	}
	return newClient(kubectlCalls, kubectlBurst)
}

// Call returns in which second a client has made a number of further calls. Calls wait for each
// other in the order in which they are to be made (k8s.io/client-go/util/flowcontrol
// NewTokenBucketRateLimiter).
func (w *World) Call(c *Client, calls int) (second int64) {
	if c == nil {
		return w.Seconds()
	}
	was, waited := c.next, w.clients.waited
	w.OnUndo(func() { c.next, w.clients.waited = was, waited })
	c.next = max(c.next, w.now) + time.Duration(calls)*c.every
	at := c.next - time.Duration(c.burst)*c.every
	if at <= w.now {
		return w.Seconds()
	}
	w.clients.waited += calls
	return seconds(at + time.Second - 1)
}

// called does something once a client has made its calls for it: at once where it need not wait.
func (w *World) called(c *Client, calls int, object string, do func() error) error {
	second := w.Call(c, calls)
	if second <= w.Seconds() {
		return do()
	}
	w.At(second, object, do)
	return nil
}

// bound has a pod start once kube-scheduler has called for its bind: its room is taken before.
func (w *World) bound(c *created, pod *corev1.Pod, second int64) error {
	if second <= w.Seconds() {
		return w.volumes.starts(c, pod)
	}
	w.At(second, NameOf(pod).String(), func() error {
		if c.pod != pod {
			return nil // it has left
		}
		w.tellPod(PodBound, pod, "")
		return w.volumes.starts(c, pod)
	})
	return nil
}

// creates makes the call for a pod of a ReplicaSet. The second is when it is made.
func (w *World) creates(p *corev1.Pod) (second int64) {
	k := keyOf(p)
	if k.Kind != kindReplicaSet {
		return w.Seconds()
	}
	second = w.Call(w.clients.replicaSets, 1)
	if second > w.Seconds() {
		setIn(w.Fork, w.coming, k, second)
	}
	return second
}

// postponed has something done about a ReplicaSet once its controller, amid a sync, has created its
// pods. It returns false where that is not so.
func (w *World) postponed(k ownerKey, do func() error) bool {
	at := w.coming[k]
	if at <= w.Seconds() {
		return false
	}
	w.At(at, k.namespace+"/"+k.Name+"~scale", do) // behind what happens to its pods
	return true
}
