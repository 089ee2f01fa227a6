package admit

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/resourcequota"
	quota "k8s.io/apiserver/pkg/quota/v1"
	"k8s.io/apiserver/pkg/quota/v1/generic"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	nodeclient "k8s.io/client-go/kubernetes/typed/node/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"k8s.io/kubernetes/pkg/apis/core"
	evaluators "k8s.io/kubernetes/pkg/quota/v1/evaluator/core"
	"k8s.io/kubernetes/plugin/pkg/admission/limitranger"
	"k8s.io/kubernetes/plugin/pkg/admission/runtimeclass"
	"k8s.io/utils/clock"
)

// Scene is what LimitRanger, RuntimeClass and ResourceQuota read in a namespace. Ranges and quotas
// are in the order of their names: upstream takes them in any order, berth in this one.
type Scene struct {
	Ranges []*corev1.LimitRange
	Quotas []*corev1.ResourceQuota
	Others []runtime.Object // pods, claims, services, disruption budgets, runtime classes
}

// Objects lists all of a scene, with the nodes that both sides know.
func (s *Scene) Objects() (list []any) {
	for _, n := range Nodes() {
		list = append(list, n)
	}
	for _, r := range s.Ranges {
		list = append(list, r)
	}
	for _, q := range s.Quotas {
		list = append(list, q)
	}
	for _, o := range s.Others {
		list = append(list, o)
	}
	return list
}

// In returns an oracle of NewOracle with a scene's objects and the plugins that read them.
func (o *Oracle) In(s *Scene) (*Oracle, error) {
	f := informers.NewSharedInformerFactory(nil, 0)
	for _, x := range s.Others {
		if err := storeOf(f, x).Add(x); err != nil {
			return nil, err
		}
	}
	q, err := newQuotas(f, s)
	if err != nil {
		return nil, err
	}
	r := runtimeclass.NewRuntimeClass()
	r.SetExternalKubeInformerFactory(f)
	r.SetReadyFunc(func() bool { return true })
	r.SetExternalKubeClientSet(noClient{})
	l := &limits{Handler: admission.NewHandler(admission.Create, admission.Update), ranges: s.Ranges}
	// o.plugins are Priority, DefaultTolerationSeconds and PodTopologyLabels.
	plugins := []admission.MutationInterface{l, o.plugins[0], o.plugins[1], r, o.plugins[2]}
	return &Oracle{plugins, []admission.ValidationInterface{l, r, q}}, nil
}

func storeOf(f informers.SharedInformerFactory, x runtime.Object) cache.Store {
	switch x.(type) {
	case *corev1.Pod:
		return f.Core().V1().Pods().Informer().GetStore()
	case *corev1.PersistentVolumeClaim:
		return f.Core().V1().PersistentVolumeClaims().Informer().GetStore()
	case *corev1.Service:
		return f.Core().V1().Services().Informer().GetStore()
	case *policyv1.PodDisruptionBudget:
		return f.Policy().V1().PodDisruptionBudgets().Informer().GetStore()
	}
	return f.Node().V1().RuntimeClasses().Informer().GetStore()
}

// limits are upstream's actions of LimitRanger, on ranges in an order that is known.
type limits struct {
	*admission.Handler
	ranges  []*corev1.LimitRange
	actions limitranger.DefaultLimitRangerActions
}

func (l *limits) each(a admission.Attributes, do func(*corev1.LimitRange, string, runtime.Object) error) error {
	if !l.actions.SupportsAttributes(a) {
		return nil
	}
	for _, r := range l.ranges {
		if err := do(r, a.GetResource().Resource, a.GetObject()); err != nil {
			return admission.NewForbidden(a, err)
		}
	}
	return nil
}

// Admit is of admission.MutationInterface.
func (l *limits) Admit(_ context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	return l.each(a, l.actions.MutateLimit)
}

// Validate is of admission.ValidationInterface.
func (l *limits) Validate(_ context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	return l.each(a, l.actions.ValidateLimit)
}

// quotas are upstream's evaluators, and its check of a request, on quotas whose status is what its
// controller would write.
type quotas struct {
	*admission.Handler
	list     []corev1.ResourceQuota
	registry quota.Registry
}

var budgets = policyv1.SchemeGroupVersion.WithResource("poddisruptionbudgets")

func newQuotas(f informers.SharedInformerFactory, s *Scene) (*quotas, error) {
	lister := func(gvr schema.GroupVersionResource) (cache.GenericLister, error) {
		i, err := f.ForResource(gvr)
		if err != nil {
			return nil, err
		}
		return i.Lister(), nil
	}
	q := &quotas{Handler: admission.NewHandler(admission.Create, admission.Update), registry: generic.NewRegistry([]quota.Evaluator{
		evaluators.NewPodEvaluator(lister, clock.RealClock{}),
		evaluators.NewServiceEvaluator(lister),
		evaluators.NewPersistentVolumeClaimEvaluator(lister),
		generic.NewObjectCountEvaluator(budgets.GroupResource(), generic.ListResourceUsingListerFunc(lister, budgets), ""),
	})}
	for _, x := range s.Quotas {
		x = x.DeepCopy()
		used, err := quota.CalculateUsage(x.Namespace, x.Spec.Scopes, x.Spec.Hard, q.registry, x.Spec.ScopeSelector)
		if err != nil {
			return nil, err
		}
		x.Status.Hard, x.Status.Used = x.Spec.Hard, used
		q.list = append(q.list, *x)
	}
	return q, nil
}

// Validate is of admission.ValidationInterface.
func (q *quotas) Validate(_ context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	evaluator := q.registry.Get(a.GetResource().GroupResource())
	if evaluator == nil || !evaluator.Handles(a) || len(q.list) == 0 {
		return nil
	}
	_, err := resourcequota.CheckRequest(q.list, a, evaluator, nil)
	return err
}

// noClient is a client of a cluster without runtime classes.
type noClient struct{ kubernetes.Interface }

type noNodeV1 struct{ nodeclient.NodeV1Interface }

type noRuntimes struct {
	nodeclient.RuntimeClassInterface
}

// NodeV1 is of kubernetes.Interface.
func (noClient) NodeV1() nodeclient.NodeV1Interface { return noNodeV1{} }

// RuntimeClasses is of NodeV1Interface.
func (noNodeV1) RuntimeClasses() nodeclient.RuntimeClassInterface { return noRuntimes{} }

// Get is of RuntimeClassInterface.
func (noRuntimes) Get(_ context.Context, name string, _ metav1.GetOptions) (*nodev1.RuntimeClass, error) {
	return nil, apierrors.NewNotFound(nodev1.Resource("runtimeclasses"), name)
}

// Object judges an object of another kind that is to be created, or to take the place of old; nil:
// of none. It returns the error of the plugin that refuses it; empty: none does.
func (o *Oracle) Object(x, old runtime.Object) (string, error) {
	kind, gvr := budgets.GroupVersion().WithKind("PodDisruptionBudget"), budgets
	switch x.(type) {
	case *corev1.PersistentVolumeClaim:
		kind, gvr = corev1.SchemeGroupVersion.WithKind("PersistentVolumeClaim"), corev1.SchemeGroupVersion.WithResource("persistentvolumeclaims")
	case *corev1.Service:
		kind, gvr = corev1.SchemeGroupVersion.WithKind("Service"), corev1.SchemeGroupVersion.WithResource("services")
	}
	op := admission.Create
	if old != nil {
		op = admission.Update
	}
	now, err := claimOf(x)
	if err != nil {
		return "", err
	}
	if old, err = claimOf(old); err != nil {
		return "", err
	}
	meta := x.(metav1.Object)
	a := admission.NewAttributesRecord(now, old, kind, meta.GetNamespace(), meta.GetName(), gvr, "", op, &metav1.CreateOptions{}, false, nil)
	return o.validate(a), nil
}

// claimOf converts a claim to the type that upstream's plugins take.
func claimOf(x runtime.Object) (runtime.Object, error) {
	claim, is := x.(*corev1.PersistentVolumeClaim)
	if !is {
		return x, nil
	}
	claim = claim.DeepCopy()
	claim.ResourceVersion = "5"
	legacyscheme.Scheme.Default(claim)
	out := &core.PersistentVolumeClaim{}
	return out, legacyscheme.Scheme.Convert(claim, out, nil)
}

// Apply creates or updates an object in berth's ledger. It returns in which words berth refuses it;
// empty: it does not.
func (c *Client) Apply(x any) (string, error) {
	status, body, err := c.post("/v1/snapshots/"+c.Cluster+"@latest/changes", map[string]any{"apply": []any{x}})
	if err != nil {
		return "", err
	}
	var problem struct{ Detail string }
	switch {
	case status < http.StatusMultipleChoices:
		return "", nil
	case status == http.StatusForbidden:
		err := json.Unmarshal(body, &problem)
		return problem.Detail, err
	}
	return "", fmt.Errorf("%d %s", status, body)
}
