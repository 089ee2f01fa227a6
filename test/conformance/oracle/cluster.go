package oracle

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"unsafe"

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/informers"
	clientset "k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/latest"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/scheme"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/validation"
	schedcache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// cluster is a real scheduler over a case's objects. Its informers never run:
// their stores are filled directly, so that a case is complete the moment it
// is built and no watch has to be waited for.
type cluster struct {
	sched     *scheduler.Scheduler
	framework framework.Framework
	profiles  []config.KubeSchedulerProfile
	other     []runtime.Object // neither nodes nor pods
	plugins   map[string]plugin
	informers informers.SharedInformerFactory
	snapshot  *schedcache.Snapshot
	pod       *v1.Pod
}

var quiet = sync.OnceFunc(func() {
	klog.SetLogger(klog.Logger{})   // the zero logger drops everything
	utilruntime.ReallyCrash = false // a plugin's panic ends its case, not the trial
	utilruntime.PanicHandlers = nil // which say so
})

// profiles reads the configuration, or takes upstream's defaults.
func profiles(raw json.RawMessage) ([]config.KubeSchedulerProfile, error) {
	if len(raw) == 0 {
		cfg, err := latest.Default()
		if err != nil {
			return nil, err
		}
		return cfg.Profiles, nil
	}
	obj, err := runtime.Decode(scheme.Codecs.UniversalDecoder(), raw)
	if err != nil {
		return nil, fmt.Errorf("decode configuration: %w", err)
	}
	cfg, ok := obj.(*config.KubeSchedulerConfiguration)
	if !ok {
		return nil, fmt.Errorf("the configuration is a %T", obj)
	}
	if err := validation.ValidateKubeSchedulerConfiguration(cfg); err != nil {
		return nil, fmt.Errorf("the configuration is refused: %w", err)
	}
	return cfg.Profiles, nil
}

// newCluster builds the scheduler of a case and tells it about every object.
// The context must be cancelled by the caller when the cluster is done with.
func newCluster(ctx context.Context, c *Case, o *objects) (*cluster, error) {
	quiet()
	profs, err := profiles(c.Config)
	if err != nil {
		return nil, err
	}
	client := sharedClient()
	if own := clientFor(o); own != nil {
		client = own
	}
	factory := newInformers(client)
	all := int32(100)
	s, err := scheduler.New(ctx, client, factory, nil, noEvents,
		scheduler.WithProfiles(profs...), scheduler.WithPercentageOfNodesToScore(&all), scheduler.WithParallelism(1))
	if err != nil {
		return nil, fmt.Errorf("build scheduler: %w", err)
	}
	cl := &cluster{sched: s, informers: factory, profiles: profs, other: o.other}
	for _, p := range o.pods {
		if p.Namespace == c.Pod.Namespace && p.Name == c.Pod.Name {
			cl.pod = p
		}
	}
	if cl.pod == nil {
		return nil, fmt.Errorf("the case holds no pod %s/%s", c.Pod.Namespace, c.Pod.Name)
	}
	f := s.Profiles[cl.pod.Spec.SchedulerName]
	if f == nil {
		f = s.Profiles[profs[0].SchedulerName]
	}
	cl.framework = f
	if cl.plugins, err = pluginsOf(f); err != nil {
		return nil, err
	}
	if err := cl.sortPools(); err != nil {
		return nil, err
	}
	snapshot, ok := f.SnapshotSharedLister().(*schedcache.Snapshot)
	if !ok {
		return nil, fmt.Errorf("the framework's lister is a %T", f.SnapshotSharedLister())
	}
	cl.snapshot = snapshot
	if err := cl.feed(ctx, o); err != nil {
		return nil, err
	}
	return cl, s.Cache.UpdateSnapshot(klog.FromContext(ctx), snapshot)
}

// feed does what the event handlers do on an Add of each object
// (pkg/scheduler/eventhandlers.go): pods of terminal phase never arrive,
// because the pod informer's field selector holds them back.
func (cl *cluster) feed(ctx context.Context, o *objects) error {
	log := klog.FromContext(ctx)
	core := cl.informers.Core().V1()
	for _, n := range o.nodes {
		if err := core.Nodes().Informer().GetStore().Add(n); err != nil {
			return err
		}
		cl.sched.Cache.AddNode(log, n)
	}
	for _, obj := range o.other {
		if err := cl.store(obj).Add(obj); err != nil {
			return err
		}
		if err := cl.announce(obj); err != nil {
			return err
		}
	}
	var live []*v1.Pod
	for _, p := range o.pods {
		if p != cl.pod && (p.Status.Phase == v1.PodSucceeded || p.Status.Phase == v1.PodFailed) {
			continue
		}
		live = append(live, p)
		if err := core.Pods().Informer().GetStore().Add(p); err != nil {
			return err
		}
	}
	// As an informer lists them. Where two victims are equal, the order on the node decides.
	slices.SortFunc(live, func(a, b *v1.Pod) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	for _, p := range live {
		switch {
		case p == cl.pod:
		case p.Spec.NodeName != "":
			if err := cl.sched.Cache.AddPod(log, p); err != nil {
				return fmt.Errorf("add pod to the cache: %w", err)
			}
		case cl.sched.Profiles[p.Spec.SchedulerName] != nil:
			cl.queue(ctx, p)
		}
	}
	return cl.announceAll(ctx)
}

// store is the informer's store for a kind.
func (cl *cluster) store(obj runtime.Object) cache.Store {
	switch obj.(type) {
	case *v1.Namespace:
		return cl.informers.Core().V1().Namespaces().Informer().GetStore()
	case *v1.Service:
		return cl.informers.Core().V1().Services().Informer().GetStore()
	case *v1.ReplicationController:
		return cl.informers.Core().V1().ReplicationControllers().Informer().GetStore()
	case *appsv1.ReplicaSet:
		return cl.informers.Apps().V1().ReplicaSets().Informer().GetStore()
	case *appsv1.StatefulSet:
		return cl.informers.Apps().V1().StatefulSets().Informer().GetStore()
	case *policyv1.PodDisruptionBudget:
		return cl.informers.Policy().V1().PodDisruptionBudgets().Informer().GetStore()
	}
	if store := cl.storageStore(obj); store != nil {
		return store
	}
	if store := cl.deviceStore(obj); store != nil {
		return store
	}
	if store := cl.laterStore(obj); store != nil {
		return store
	}
	return cache.NewStore(cache.MetaNamespaceKeyFunc)
}

// sharedClient is one empty clientset for all cases: nothing reads from it or
// writes to it, but upstream's constructors ask for one.
var sharedClient = sync.OnceValue(func() clientset.Interface { return fake.NewClientset() })

// pluginsOf reads the framework's own plugin instances. They are unexported,
// and raw scores can be had from nowhere else: RunScorePlugins normalises
// before it returns. The field's name is pinned with the release in go.mod.
func pluginsOf(f framework.Framework) (map[string]plugin, error) {
	field := reflect.ValueOf(f).Elem().FieldByName("pluginsMap")
	if !field.IsValid() {
		return nil, fmt.Errorf("%T has no pluginsMap", f)
	}
	plugins, ok := reflect.NewAt(field.Type(), unsafe.Pointer(field.UnsafeAddr())).Elem().Interface().(map[string]plugin)
	if !ok {
		return nil, fmt.Errorf("pluginsMap is a %s", field.Type())
	}
	return plugins, nil
}
