package engine

import resourcev1 "k8s.io/api/resource/v1"

// devices holds the objects that DynamicResources reads. A state without any
// has none of it.
type devices struct {
	claims    objectTable[*resourcev1.ResourceClaim]
	templates objectTable[*resourcev1.ResourceClaimTemplate]
	slices    objectTable[*resourcev1.ResourceSlice]
	classes   objectTable[*resourcev1.DeviceClass]
}

// put files an object of one of the kinds; false says that it is of none.
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
	default:
		return false
	}
	return true
}

// remove takes an object out; false says that the kind is none of these.
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
