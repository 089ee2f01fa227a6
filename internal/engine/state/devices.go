package state

import (
	"cmp"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
)

// devices holds the objects that DynamicResources reads. A state without such objects has none.
type devices struct {
	claims    objectTable[*resourcev1.ResourceClaim]
	templates objectTable[*resourcev1.ResourceClaimTemplate]
	slices    objectTable[*resourcev1.ResourceSlice]
	classes   objectTable[*resourcev1.DeviceClass]
	rules     objectTable[*resourcev1.DeviceTaintRule]

	memo *deviceMemo // replaced with each change of the tables
}

// deviceMemo is what was derived from the tables, made on first use.
type deviceMemo struct {
	mapping  sync.Once
	extended map[corev1.ResourceName]*resourcev1.DeviceClass
	made     sync.Map // of *made, by key
}

type made struct {
	making sync.Once
	value  any
}

// put stores an object of one of the kinds. It returns false for any other kind.
func (d *devices) put(edit uint64, obj any) bool {
	switch o := obj.(type) {
	case *resourcev1.ResourceClaim:
		d.claims.put(edit, o.Namespace, o.Name, o)
	case *resourcev1.ResourceClaimTemplate:
		d.templates.put(edit, o.Namespace, o.Name, o)
	case *resourcev1.ResourceSlice:
		d.slices.put(edit, "", o.Name, o)
	case *resourcev1.DeviceClass:
		d.classes.put(edit, "", o.Name, o)
	case *resourcev1.DeviceTaintRule:
		d.rules.put(edit, "", o.Name, o)
	default:
		return false
	}
	return true
}

// remove removes an object. It returns false for any other kind.
func (d *devices) remove(edit uint64, kind, namespace, name string) bool {
	switch kind {
	case "ResourceClaim":
		d.claims.remove(edit, namespace, name)
	case "ResourceClaimTemplate":
		d.templates.remove(edit, namespace, name)
	case "ResourceSlice":
		d.slices.remove(edit, "", name)
	case "DeviceClass":
		d.classes.remove(edit, "", name)
	case "DeviceTaintRule":
		d.rules.remove(edit, "", name)
	default:
		return false
	}
	return true
}

// ResourceClaim finds one; nil without.
func (s *State) ResourceClaim(namespace, name string) *resourcev1.ResourceClaim {
	return s.devices.claims.get(namespace, name)
}

// ResourceClaims lists them by namespace and name.
func (s *State) ResourceClaims() []*resourcev1.ResourceClaim { return s.devices.claims.all() }

// ResourceSlices lists them by name.
func (s *State) ResourceSlices() []*resourcev1.ResourceSlice { return s.devices.slices.all() }

// DeviceClass finds one; nil without.
func (s *State) DeviceClass(name string) *resourcev1.DeviceClass {
	return s.devices.classes.get("", name)
}

// DeviceClasses lists them by name.
func (s *State) DeviceClasses() []*resourcev1.DeviceClass { return s.devices.classes.all() }

// DeviceTaintRules lists them by name.
func (s *State) DeviceTaintRules() []*resourcev1.DeviceTaintRule { return s.devices.rules.all() }

// DeviceMemo returns what make returned for the state's claims, slices, classes and rules on first
// use of the key. All states with the same objects share it, so it must depend on nothing else but
// the key, such as what a release makes of them.
func (s *State) DeviceMemo(key any, make func() any) any {
	m, ok := s.devices.memo.made.Load(key)
	if !ok {
		m, _ = s.devices.memo.made.LoadOrStore(key, &made{})
	}
	one := m.(*made) //nolint:forcetypeassert // nothing else is stored
	one.making.Do(func() { one.value = make() })
	return one.value
}

// ExtendedClass returns the device class that provides an extended resource; nil without. Each
// class provides one resource named after itself. Of several that name the same other resource
// the newest provides it, then the first by name
// (k8s.io/dynamic-resource-allocation/deviceclass/extendedresourcecache).
func (s *State) ExtendedClass(name corev1.ResourceName) *resourcev1.DeviceClass {
	if s.devices.classes.n == 0 {
		return nil
	}
	m := s.devices.memo
	m.mapping.Do(func() {
		m.extended = map[corev1.ResourceName]*resourcev1.DeviceClass{}
		for _, c := range s.DeviceClasses() {
			m.extended[corev1.ResourceName(resourcev1.ResourceDeviceClassPrefix+c.Name)] = c
			if c.Spec.ExtendedResourceName == nil {
				continue
			}
			other := m.extended[corev1.ResourceName(*c.Spec.ExtendedResourceName)]
			if other == nil || cmp.Or(c.CreationTimestamp.Compare(other.CreationTimestamp.Time), strings.Compare(other.Name, c.Name)) > 0 {
				m.extended[corev1.ResourceName(*c.Spec.ExtendedResourceName)] = c
			}
		}
	})
	return m.extended[name]
}

// IsDeviceResource reports whether device classes may provide a resource (pkg/scheduler/util
// IsDRAExtendedResourceName).
func IsDeviceResource(name corev1.ResourceName) bool {
	return IsExtended(name) || strings.HasPrefix(string(name), resourcev1.ResourceDeviceClassPrefix)
}

// AsksForDevices reports whether a pod has claims, or requests resources that a device class
// provides.
func (s *State) AsksForDevices(pod *corev1.Pod) bool {
	if len(pod.Spec.ResourceClaims) > 0 {
		return true
	}
	if s.devices.classes.n == 0 {
		return false
	}
	mapped := func(list corev1.ResourceList) bool {
		for name := range list {
			if s.ExtendedClass(name) != nil {
				return true
			}
		}
		return false
	}
	for _, containers := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range containers {
			if mapped(containers[i].Resources.Requests) {
				return true
			}
		}
	}
	return mapped(pod.Spec.Overhead) || pod.Spec.Resources != nil && mapped(pod.Spec.Resources.Requests)
}
