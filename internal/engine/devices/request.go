package devices

import (
	"fmt"
	"slices"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// request is one request of a claim, or one of the alternatives of a request.
type request struct {
	name, parent string // parent: the request that it is an alternative in
	slot         int    // the first place among the claim's requests of its name, or its parent's
	class        string
	selectors    []resourcev1.DeviceSelector
	mode         resourcev1.DeviceAllocationMode
	count        int64
	admin        bool
	tolerations  []resourcev1.DeviceToleration
	capacity     *resourcev1.CapacityRequirements

	// On the node at hand: how many devices are needed, and which where all are.
	need int
	all  []int32 // ascending
	// What class and request select by.
	byClass, byRequest selector
	// By constraint of the claim: whether it concerns the request.
	bound []bool

	// What was found out so far, by offer: the devices that may do, in order, of
	// the first so many that were looked at; and what was said of each.
	list     []int32
	looked   int
	verdicts []uint8
	parts    map[int][]resource.Quantity // what it would take of a room; nil where it may not
	// By place in the list: the place before of a device that is alike; -1 without.
	alike []int32
}

// bind notes which constraints concern the request.
func (r *request) bind(list []constraint) {
	r.bound = make([]bool, len(list))
	for k := range list {
		r.bound[k] = list[k].concerns(r)
	}
}

// full is the name under which an allocation reports the request.
func (r *request) full() string {
	if r.parent == "" {
		return r.name
	}
	return r.parent + "/" + r.name
}

// base and alternative are the names that constraints go by.
func (r *request) base() string {
	if r.parent == "" {
		return r.name
	}
	return r.parent
}

func (r *request) alternative() string {
	if r.parent == "" {
		return ""
	}
	return r.name
}

// line is a request with its alternatives: one, or the list in order of
// preference.
type line struct {
	of     []request
	choose bool
}

// linesOf reads a claim's requests.
func linesOf(c *resourcev1.ResourceClaim) []line {
	out := make([]line, len(c.Spec.Devices.Requests))
	for i := range c.Spec.Devices.Requests {
		r := &c.Spec.Devices.Requests[i]
		slot := slices.IndexFunc(c.Spec.Devices.Requests, func(o resourcev1.DeviceRequest) bool { return o.Name == r.Name })
		if len(r.FirstAvailable) == 0 {
			one := request{name: r.Name, slot: slot}
			if e := r.Exactly; e != nil {
				one = request{
					name: r.Name, slot: slot, class: e.DeviceClassName, selectors: e.Selectors, mode: e.AllocationMode, count: e.Count,
					admin: yes(e.AdminAccess), tolerations: e.Tolerations, capacity: e.Capacity,
				}
			}
			out[i] = line{of: []request{one}}
			continue
		}
		out[i].choose = true
		for k := range r.FirstAvailable {
			a := &r.FirstAvailable[k]
			out[i].of = append(out[i].of, request{
				name: a.Name, parent: r.Name, slot: slot, class: a.DeviceClassName, selectors: a.Selectors, mode: a.AllocationMode, count: a.Count,
				tolerations: a.Tolerations, capacity: a.Capacity,
			})
		}
	}
	return out
}

// need works out how many devices a request needs on the node. Where it asks for
// all, pools that are being updated or are broken leave no answer, which is an
// error (structured/internal/incubating validateDeviceRequest).
func (s *search) need(c *resourcev1.ResourceClaim, r *request) error {
	whose := fmt.Sprintf("claim %s/%s, request %s", c.Namespace, c.Name, r.name)
	var err error
	if r.byRequest, err = s.inv.selector(s.expr, r.selectors, "claim "+c.Namespace+"/"+c.Name); err != nil {
		return err
	}
	if r.class == "" {
		return fmt.Errorf("%s: missing device class name (unsupported request type?)", whose)
	}
	class := s.inv.Class(r.class)
	if class == nil {
		return fmt.Errorf("%s: could not retrieve device class %s: deviceclass.resource.k8s.io %q not found", whose, r.class, r.class)
	}
	if r.byClass, err = s.inv.selector(s.expr, class.Spec.Selectors, "class "+class.Name); err != nil {
		return err
	}
	switch r.mode {
	case resourcev1.DeviceAllocationModeExactCount:
		r.need = int(r.count)
	case resourcev1.DeviceAllocationModeAll:
		r.all = make([]int32, 0, resourcev1.AllocationResultsMaxSize)
		i := 0
		for at, p := range s.pools {
			if p.incomplete {
				return fmt.Errorf("%s: asks for all devices, but resource pool %s is currently being updated", whose, p.poolID)
			}
			if p.invalid != "" {
				return fmt.Errorf("%s: asks for all devices, but resource pool %s is currently invalid", whose, p.poolID)
			}
			for ; s.lists(i) && int(s.offers[i].pool) == at; i++ {
				ok, err := s.selectable(r, s.offers[i].device)
				if err != nil {
					return err
				}
				if ok && s.roomFor(r, i) {
					r.all = append(r.all, int32(i))
				}
			}
		}
		r.need = len(r.all)
	default:
		return fmt.Errorf("%s: unsupported count mode %s", whose, r.mode)
	}
	return nil
}

// selectable says whether class and request select a device, and, where devices
// say for themselves where they are, whether the node reaches it.
func (s *search) selectable(r *request, d *device) (bool, error) {
	for _, by := range []*selector{&r.byClass, &r.byRequest} {
		if ok, err := by.selects(s.ctx, d); err != nil || !ok {
			return false, err
		}
	}
	if yes(d.slice.Spec.PerDeviceNodeSelection) {
		return s.node.reaches(text(d.NodeName), yes(d.AllNodes), d.NodeSelector)
	}
	return true, nil
}
