package oracle

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"unsafe"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"k8s.io/kubernetes/pkg/apis/resource"
	"k8s.io/kubernetes/pkg/apis/resource/validation"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
	"k8s.io/kubernetes/pkg/scheduler/util/assumecache"

	_ "k8s.io/kubernetes/pkg/apis/resource/install"
)

// deviceStore is the informer's store for a kind of dynamic resource allocation;
// nil for others.
func (cl *cluster) deviceStore(obj runtime.Object) cache.Store {
	group := cl.informers.Resource().V1()
	switch obj.(type) {
	case *resourcev1.ResourceClaim:
		return group.ResourceClaims().Informer().GetStore()
	case *resourcev1.ResourceSlice:
		return group.ResourceSlices().Informer().GetStore()
	case *resourcev1.DeviceClass:
		return group.DeviceClasses().Informer().GetStore()
	}
	return nil
}

// announce tells those about an object who hear of it by events and not from a
// store: the assume cache of claims, which in turn tells the count of allocated
// devices, and the mapping from extended resources to classes. Both take it in
// before they return.
func (cl *cluster) announce(obj runtime.Object) error {
	manager := cl.framework.SharedDRAManager()
	switch o := obj.(type) {
	case *resourcev1.ResourceClaim:
		tracker := reflect.ValueOf(manager.ResourceClaims()).Elem().FieldByName("cache")
		if !tracker.IsValid() {
			return fmt.Errorf("%T has no cache", manager.ResourceClaims())
		}
		claims, ok := reflect.NewAt(tracker.Type(), unsafe.Pointer(tracker.UnsafeAddr())).Elem().Interface().(*assumecache.AssumeCache)
		if !ok {
			return fmt.Errorf("the cache of claims is a %s", tracker.Type())
		}
		assumecache.AddTestObject(claims, o)
	case *resourcev1.DeviceClass:
		resolver := classResolver(cl.framework)
		if resolver == nil || reflect.ValueOf(resolver).IsNil() {
			return nil // a release that asks no class for extended resources
		}
		mapping, ok := resolver.(cache.ResourceEventHandler)
		if !ok {
			return fmt.Errorf("%T hears of no class", resolver)
		}
		mapping.OnAdd(o, true)
	case *v1.PersistentVolume:
		return cl.announceVolume(o, "pvCache")
	case *v1.PersistentVolumeClaim:
		return cl.announceVolume(o, "pvcCache")
	}
	return nil
}

// clientFor is a clientset that holds the case's claims, because PostFilter
// writes to them; the shared empty one without any.
func clientFor(o *objects) *fake.Clientset {
	var claims []runtime.Object
	for _, obj := range o.other {
		if c, ok := obj.(*resourcev1.ResourceClaim); ok {
			claims = append(claims, c.DeepCopy())
		}
	}
	if len(claims) == 0 {
		return nil
	}
	return fake.NewSimpleClientset(claims...)
}

// invalidDevices runs upstream's validation of a kind of dynamic resource
// allocation, of claims with what their status says.
func invalidDevices(obj runtime.Object) (field.ErrorList, error) {
	convert := func(into any) error { return legacyscheme.Scheme.Convert(obj, into, nil) }
	switch obj.(type) {
	case *resourcev1.ResourceClaim:
		var in resource.ResourceClaim
		if err := convert(&in); err != nil {
			return nil, err
		}
		errs := validation.ValidateResourceClaim(&in)
		before := in.DeepCopy()
		before.Status = resource.ResourceClaimStatus{}
		in.ResourceVersion, before.ResourceVersion = "1", "1"
		return append(errs, validation.ValidateResourceClaimStatusUpdate(&in, before)...), nil
	case *resourcev1.ResourceSlice:
		var in resource.ResourceSlice
		err := convert(&in)
		return validation.ValidateResourceSlice(&in), err
	case *resourcev1.DeviceClass:
		var in resource.DeviceClass
		err := convert(&in)
		return validation.ValidateDeviceClass(&in), err
	}
	return nil, nil
}

// allotted asks upstream what the pod's own claims get on each of the best nodes,
// by reserving them there and taking it back. The claim that it makes up for
// extended resources cannot be asked about.
func (cl *cluster) allotted(ctx context.Context, state fwk.CycleState, v *Verdict) error {
	plugin, ok := cl.plugins[names.DynamicResources].(reservePlugin)
	if !ok || len(cl.pod.Spec.ResourceClaims) == 0 {
		return nil
	}
	tracker := cl.framework.SharedDRAManager().ResourceClaims()
	var claims []*resourcev1.ResourceClaim
	for _, ref := range cl.pod.Spec.ResourceClaims {
		name := ref.ResourceClaimName
		if i := slices.IndexFunc(cl.pod.Status.ResourceClaimStatuses, func(s v1.PodResourceClaimStatus) bool { return s.Name == ref.Name }); name == nil && i >= 0 {
			name = cl.pod.Status.ResourceClaimStatuses[i].ResourceClaimName
		}
		if name == nil {
			continue
		}
		c, err := tracker.Get(cl.pod.Namespace, *name)
		if err != nil {
			return err
		}
		// One that the pod names twice is given once.
		if !slices.ContainsFunc(claims, func(o *resourcev1.ResourceClaim) bool { return o.UID == c.UID }) {
			claims = append(claims, c)
		}
	}
	v.Devices = map[string][]string{}
	for _, node := range v.Best {
		if s := plugin.Reserve(ctx, state, cl.pod, node); !s.IsSuccess() {
			return fmt.Errorf("reserve on %s: %w", node, s.AsError())
		}
		list := []string{}
		for _, c := range claims {
			a, err := pending(tracker, c)
			if err != nil {
				return err
			}
			if a == nil || c.Status.Allocation != nil {
				continue
			}
			for _, r := range a.Devices.Results {
				list = append(list, fmt.Sprintf("%s %s %s/%s/%s", c.Name, r.Request, r.Driver, r.Pool, r.Device))
			}
		}
		v.Devices[node] = list
		plugin.Unreserve(ctx, state, cl.pod, node)
	}
	return nil
}
