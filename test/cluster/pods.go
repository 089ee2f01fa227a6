package main

import (
	"context"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
)

var (
	getNow     = metav1.GetOptions{}
	listAll    = metav1.ListOptions{}
	everything = fields.Everything()
)

// life is what became of a pod.
type life struct {
	namespace, name string
	uid             types.UID
	nodes           []string // that it was ever on; more than one must not be
	nominated       []string
	bound           time.Time
	deleting, gone  bool
	first, last     *corev1.Pod
}

// kubelets watch all pods, and finish deletions some time after they were asked
// for, as kubelets do.
type kubelets struct {
	client kubernetes.Interface
	delay  time.Duration

	mu    sync.Mutex
	lives map[types.UID]*life
}

func startKubelets(ctx context.Context, client kubernetes.Interface, delay time.Duration) *kubelets {
	k := &kubelets{client: client, delay: delay, lives: map[types.UID]*life{}}
	see := func(o any) {
		if pod, ok := o.(*corev1.Pod); ok {
			k.see(ctx, pod)
		}
	}
	_, informer := cache.NewInformerWithOptions(cache.InformerOptions{
		ListerWatcher: cache.NewListWatchFromClient(client.CoreV1().RESTClient(), "pods", "", everything), ObjectType: &corev1.Pod{},
		Handler: cache.ResourceEventHandlerFuncs{AddFunc: see, UpdateFunc: func(_, o any) { see(o) }, DeleteFunc: func(o any) {
			if unknown, ok := o.(cache.DeletedFinalStateUnknown); ok {
				o = unknown.Obj
			}
			see(o)
			k.mu.Lock()
			defer k.mu.Unlock()
			k.lives[o.(*corev1.Pod).UID].gone = true
		}},
	})
	go informer.RunWithContext(ctx)
	cache.WaitForCacheSync(ctx.Done(), informer.HasSynced)
	return k
}

func (k *kubelets) see(ctx context.Context, pod *corev1.Pod) {
	k.mu.Lock()
	defer k.mu.Unlock()
	l := k.lives[pod.UID]
	if l == nil {
		l = &life{namespace: pod.Namespace, name: pod.Name, uid: pod.UID, first: pod}
		k.lives[pod.UID] = l
	}
	l.last = pod
	if n := pod.Spec.NodeName; n != "" && !slices.Contains(l.nodes, n) {
		l.nodes = append(l.nodes, n)
		l.bound = time.Now()
	}
	if n := pod.Status.NominatedNodeName; n != "" && !slices.Contains(l.nominated, n) {
		l.nominated = append(l.nominated, n)
	}
	if pod.DeletionTimestamp != nil && !l.deleting {
		l.deleting = true
		time.AfterFunc(k.delay, func() {
			zero := int64(0)
			_ = k.client.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{
				GracePeriodSeconds: &zero, Preconditions: &metav1.Preconditions{UID: &pod.UID},
			}) // what waits for it notices
		})
	}
}

// of returns the lives of a namespace, by name.
func (k *kubelets) of(namespace string) (list []life) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, l := range k.lives {
		if l.namespace == namespace {
			list = append(list, *l)
		}
	}
	slices.SortFunc(list, func(a, b life) int {
		if a.name < b.name {
			return -1
		}
		return 1
	})
	return list
}

// alive returns those that are neither gone nor on their way out.
func (k *kubelets) alive(namespace string) []life {
	return slices.DeleteFunc(k.of(namespace), func(l life) bool { return l.gone || l.deleting })
}
