package enginetest

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Driver is the driver of all devices here, unless a test says otherwise.
const Driver = "gpu.example.com"

// DeviceClass builds a device class that selects by CEL expressions.
func DeviceClass(name string, expressions ...string) *resourcev1.DeviceClass {
	c := &resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: name, CreationTimestamp: metav1.NewTime(Epoch)}}
	c.Spec.Selectors = Selectors(expressions...)
	return c
}

// Selectors makes selectors of CEL expressions.
func Selectors(expressions ...string) (out []resourcev1.DeviceSelector) {
	for _, e := range expressions {
		out = append(out, resourcev1.DeviceSelector{CEL: &resourcev1.CELDeviceSelector{Expression: e}})
	}
	return out
}

// Device builds a device; each pair of kv is a string attribute.
func Device(name string, kv ...string) resourcev1.Device {
	d := resourcev1.Device{Name: name, Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{}}
	for i := 0; i < len(kv); i += 2 {
		d.Attributes[resourcev1.QualifiedName(kv[i])] = resourcev1.DeviceAttribute{StringValue: &kv[i+1]}
	}
	return d
}

// Capacity sets the device's memory, to share or to select by.
func Capacity(d resourcev1.Device, memory string, shared bool) resourcev1.Device {
	d.Capacity = map[resourcev1.QualifiedName]resourcev1.DeviceCapacity{"memory": {Value: resource.MustParse(memory)}}
	if shared {
		d.AllowMultipleAllocations = &shared
	}
	return d
}

// Slice builds the one slice of a pool that is named as it is; on a node, or for
// all where node is empty.
func Slice(name, node string, devices ...resourcev1.Device) *resourcev1.ResourceSlice {
	s := &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: resourcev1.ResourceSliceSpec{
		Driver: Driver, Pool: resourcev1.ResourcePool{Name: name, Generation: 1, ResourceSliceCount: 1}, Devices: devices,
	}}
	if node != "" {
		s.Spec.NodeName = &node
	} else {
		all := true
		s.Spec.AllNodes = &all
	}
	return s
}

// TaintRule builds a rule that taints the devices of a driver, pool and name, each of which may be
// empty for any.
func TaintRule(name, driver, pool, device string) *resourcev1.DeviceTaintRule {
	wanted := func(s string) *string {
		if s == "" {
			return nil
		}
		return &s
	}
	return &resourcev1.DeviceTaintRule{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: resourcev1.DeviceTaintRuleSpec{
		DeviceSelector: &resourcev1.DeviceTaintSelector{Driver: wanted(driver), Pool: wanted(pool), Device: wanted(device)},
		Taint:          resourcev1.DeviceTaint{Key: "sick", Effect: resourcev1.DeviceTaintEffectNoExecute},
	}}
}

// Wants builds a request for a number of devices of a class; 0 stands for all.
func Wants(name, class string, n int64, expressions ...string) resourcev1.DeviceRequest {
	e := &resourcev1.ExactDeviceRequest{DeviceClassName: class, AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: n, Selectors: Selectors(expressions...)}
	if n == 0 {
		e.AllocationMode = resourcev1.DeviceAllocationModeAll
	}
	return resourcev1.DeviceRequest{Name: name, Exactly: e}
}

// FirstOf builds a request that leaves a choice: the alternatives are named after
// the requests given, in order.
func FirstOf(name string, of ...resourcev1.DeviceRequest) resourcev1.DeviceRequest {
	r := resourcev1.DeviceRequest{Name: name}
	for _, o := range of {
		r.FirstAvailable = append(r.FirstAvailable, resourcev1.DeviceSubRequest{
			Name: o.Name, DeviceClassName: o.Exactly.DeviceClassName, AllocationMode: o.Exactly.AllocationMode, Count: o.Exactly.Count, Selectors: o.Exactly.Selectors,
		})
	}
	return r
}

// DeviceClaim builds a claim of namespace default.
func DeviceClaim(name string, requests ...resourcev1.DeviceRequest) *resourcev1.ResourceClaim {
	c := &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID("claim-" + name)}}
	c.Spec.Devices.Requests = requests
	return c
}

// Given allocates devices of pools that are named after nodes to a claim, each
// written pool/device, for the node where one is named.
func Given(c *resourcev1.ResourceClaim, node string, devices ...string) *resourcev1.ResourceClaim {
	at := metav1.NewTime(Epoch.Add(-time.Minute))
	a := &resourcev1.AllocationResult{AllocationTimestamp: &at}
	for _, d := range devices {
		r := resourcev1.DeviceRequestAllocationResult{Request: "r", Driver: Driver}
		for i := range d {
			if d[i] == '/' {
				r.Pool, r.Device = d[:i], d[i+1:]
			}
		}
		a.Devices.Results = append(a.Devices.Results, r)
	}
	if node != "" {
		a.NodeSelector = &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchFields: []corev1.NodeSelectorRequirement{{
			Key: "metadata.name", Operator: corev1.NodeSelectorOpIn, Values: []string{node},
		}}}}}
	}
	c.Status.Allocation = a
	return c
}

// Claims makes the pod refer to claims.
func Claims(names ...string) PodOption {
	return func(p *corev1.Pod) {
		for i := range names {
			p.Spec.ResourceClaims = append(p.Spec.ResourceClaims, corev1.PodResourceClaim{Name: fmt.Sprintf("ref%d", i), ResourceClaimName: &names[i]})
		}
	}
}

// FromTemplate makes the pod refer to a claim that is made from a template;
// empty stands for none yet.
func FromTemplate(claim string) PodOption {
	return func(p *corev1.Pod) {
		template := "template"
		p.Spec.ResourceClaims = append(p.Spec.ResourceClaims, corev1.PodResourceClaim{Name: "made", ResourceClaimTemplateName: &template})
		if claim != "" {
			p.Status.ResourceClaimStatuses = append(p.Status.ResourceClaimStatuses, corev1.PodResourceClaimStatus{Name: "made", ResourceClaimName: &claim})
		}
	}
}
