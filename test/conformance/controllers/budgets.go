package controllers

import (
	"context"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	api "k8s.io/kubernetes/pkg/apis/core"
	apiv1 "k8s.io/kubernetes/pkg/apis/core/v1"
	"k8s.io/kubernetes/pkg/apis/policy"
	"k8s.io/kubernetes/pkg/controller/disruption"
	podstorage "k8s.io/kubernetes/pkg/registry/core/pod/storage"
	clocktesting "k8s.io/utils/clock/testing"
)

// budgets are the real disruption controller and Eviction API over a cluster.
type budgets struct {
	rest.StandardStorage // the API's pods: what is not written here is not called
	c                    *cluster
	client               *fake.Clientset
	f                    informers.SharedInformerFactory
	control              *disruption.DisruptionController
	clock                *clocktesting.FakeClock
	api                  *podstorage.EvictionREST
}

func newBudgets(c *cluster) *budgets {
	b := &budgets{c: c, client: fake.NewSimpleClientset(), clock: clocktesting.NewFakeClock(Begin)}
	b.f = informers.NewSharedInformerFactory(b.client, 0)
	apps, core := b.f.Apps().V1(), b.f.Core().V1()
	b.control = disruption.NewDisruptionControllerInternal(context.Background(), core.Pods(), b.f.Policy().V1().PodDisruptionBudgets(),
		core.ReplicationControllers(), apps.ReplicaSets(), apps.Deployments(), apps.StatefulSets(), b.client,
		meta.NewDefaultRESTMapper(nil), nil, b.client.Discovery(), b.clock, 2*time.Minute)
	b.api = newEvictions(b, b.client.PolicyV1())
	for _, pdb := range of[policyv1.PodDisruptionBudget](c.k) {
		must(b.client.Tracker().Add(pdb.DeepCopy()))
	}
	for _, rs := range of[appsv1.ReplicaSet](c.k) {
		rs = rs.DeepCopy()
		must(apps.ReplicaSets().Informer().GetIndexer().Add(rs))
		if ref := metav1.GetControllerOf(rs); ref != nil {
			d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: rs.Namespace, Name: ref.Name, UID: ref.UID}}
			d.Spec.Replicas = rs.Spec.Replicas
			must(apps.Deployments().Informer().GetIndexer().Add(d))
		}
	}
	return b
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// sync has the controller look at every budget, as after a pod's change.
func (b *budgets) sync() error {
	ctx, pods, pdbs := context.Background(), []any{}, b.f.Policy().V1().PodDisruptionBudgets().Informer().GetIndexer()
	for _, p := range b.c.pods {
		pods = append(pods, p)
	}
	if err := b.f.Core().V1().Pods().Informer().GetIndexer().Replace(pods, ""); err != nil {
		return err
	}
	b.clock.SetTime(b.c.instant())
	list, err := b.client.PolicyV1().PodDisruptionBudgets("default").List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for i := range list.Items {
		if err := pdbs.Add(&list.Items[i]); err != nil {
			return err
		}
		if err := syncBudget(b.control, ctx, "default/"+list.Items[i].Name); err != nil {
			return err
		}
	}
	return nil
}

// writeStatuses writes the budgets' statuses into a case.
func (b *budgets) writeStatuses(k *Case) error {
	if err := b.sync(); err != nil {
		return err
	}
	for _, pdb := range of[policyv1.PodDisruptionBudget](k) {
		now, err := b.client.PolicyV1().PodDisruptionBudgets("default").Get(context.Background(), pdb.Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		pdb.Status = now.Status
	}
	return nil
}

// evict calls the Eviction API.
func (b *budgets) evict(name string) error {
	ctx := genericapirequest.WithNamespace(context.Background(), "default")
	o, err := b.api.Create(ctx, name, &policy.Eviction{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}, nil, &metav1.CreateOptions{})
	if s, is := o.(*metav1.Status); err == nil && is && s.Status == metav1.StatusFailure {
		err = &apierrors.StatusError{ErrStatus: *s}
	}
	return err
}

// Get, Update and Delete are the API's storage of pods.
func (b *budgets) Get(_ context.Context, name string, _ *metav1.GetOptions) (runtime.Object, error) {
	p := b.c.pods[name]
	if p == nil {
		return nil, apierrors.NewNotFound(corev1.Resource("pods"), name)
	}
	out := &api.Pod{}
	return out, apiv1.Convert_v1_Pod_To_core_Pod(p.DeepCopy(), out, nil)
}

func (b *budgets) Update(ctx context.Context, name string, _ rest.UpdatedObjectInfo, _ rest.ValidateObjectFunc, _ rest.ValidateObjectUpdateFunc, _ bool, _ *metav1.UpdateOptions) (runtime.Object, bool, error) {
	o, err := b.Get(ctx, name, nil)
	return o, false, err
}

func (b *budgets) Delete(_ context.Context, name string, _ rest.ValidateObjectFunc, _ *metav1.DeleteOptions) (runtime.Object, bool, error) {
	return nil, false, b.c.remove(name)
}

// playDisruption evicts the pods of a case one after the other. Controllers replace what is deleted
// at once.
func playDisruption(k *Case) ([]string, error) {
	c := newCluster(k)
	b := newBudgets(c)
	c.control = b.sync
	c.begins = func(p *corev1.Pod) {
		if ref := metav1.GetControllerOf(p); ref != nil && !over(p) {
			c.createLike(p)
		}
	}
	c.happens(func(e *Event) error {
		if e.Scale != nil {
			return b.scale(e.Scale)
		}
		name := e.Evict.Name
		switch err := b.evict(name).(type) { //nolint:errorlint // the API's own type
		case nil:
		case apierrors.APIStatus:
			c.lines = append(c.lines, fmt.Sprintf("%d refused %s: evict: %s", c.now, name, err.Status().Message))
		default:
			return err
		}
		return nil
	})
	return c.run()
}

// scale has a ReplicaSet want more pods, which are like its first one.
func (b *budgets) scale(to *ScaleTo) error {
	sets := b.f.Apps().V1().ReplicaSets().Informer().GetIndexer()
	o, _, err := sets.GetByKey("default/" + to.Name)
	if err != nil {
		return err
	}
	rs, n := o.(*appsv1.ReplicaSet).DeepCopy(), int32(to.Replicas)
	rs.Spec.Replicas = &n
	if err := sets.Update(rs); err != nil {
		return err
	}
	active := b.c.active(rs.UID)
	if len(active) > 0 { // berth refuses it without
		for range to.Replicas - len(active) {
			b.c.createLike(active[0])
		}
	}
	return b.sync()
}
