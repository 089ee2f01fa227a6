package devices

import (
	"fmt"
	"slices"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// request is one request of a claim, or one of the alternatives of a request.
type request struct {
	claim        string // with its namespace
	name, parent string // parent: the request of which it is an alternative
	slot         int    // the first index among the claim's requests with its name, or its parent's
	class        string
	selectors    []resourcev1.DeviceSelector
	mode         resourcev1.DeviceAllocationMode
	count        int64
	admin        bool
	tolerations  []resourcev1.DeviceToleration
	capacity     *resourcev1.CapacityRequirements
	derived      bool // selectors may read attributes that are derived

	// On the current node: how many devices are needed, and, where all are, which.
	need int
	all  []int32 // ascending
	// The selectors of class and request.
	byClass, byRequest selector
	// By constraint of the claim: whether it applies to the request.
	bound []bool

	// Results so far, by index of the listed device: the devices that can serve the request, in
	// order; how many were looked at; and the verdict on each.
	list     []int32
	looked   int
	verdicts []uint8
	// what it would take of a device's capacities; nil where it may not
	parts map[int][]resource.Quantity
	// By index of the listed device: the judgement that also stands for the next alternative, where
	// both are for all devices.
	known map[int]bool
	// By index in the list: the index of the previous equivalent device; -1 without.
	equivalent []int32
}

// bind records which constraints apply to the request.
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

// base and alternative are the names that constraints use.
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

// alternatives are the alternatives of a request in order of preference: one, or those of
// firstAvailable.
type alternatives struct {
	of     []request
	choose bool
}

// unshared ignores or refuses amounts of capacity where devices share none.
func (as *Behaviour) unshared(c *resourcev1.ResourceClaim, l *alternatives) error {
	for i := range l.of {
		r := &l.of[i]
		switch {
		case as.shares || r.capacity == nil:
			continue
		case as.plain:
			r.capacity = nil
			continue
		}
		what := "request " + r.base()
		if r.parent != "" && !as.alpha {
			what = "subrequest " + r.name
		}
		return fmt.Errorf("claim %s/%s, %s: has capacity requests, but the DRAConsumableCapacity feature is disabled", c.Namespace, c.Name, what)
	}
	return nil
}

// requestsOf reads a claim's requests.
func requestsOf(c *resourcev1.ResourceClaim) []alternatives {
	out := make([]alternatives, len(c.Spec.Devices.Requests))
	for i := range c.Spec.Devices.Requests {
		r := &c.Spec.Devices.Requests[i]
		slot := slices.IndexFunc(c.Spec.Devices.Requests, func(o resourcev1.DeviceRequest) bool { return o.Name == r.Name })
		if len(r.FirstAvailable) == 0 {
			one := request{name: r.Name, slot: slot}
			if e := r.Exactly; e != nil {
				one = request{
					name: r.Name, slot: slot, class: e.DeviceClassName, selectors: e.Selectors, mode: e.AllocationMode, count: e.Count,
					admin: yes(e.AdminAccess), tolerations: e.Tolerations, capacity: e.Capacity,
					derived: len(e.DerivedAttributes) > 0,
				}
			}
			out[i] = alternatives{of: []request{one}}
			continue
		}
		out[i].choose = true
		for k := range r.FirstAvailable {
			a := &r.FirstAvailable[k]
			out[i].of = append(out[i].of, request{
				name: a.Name, parent: r.Name, slot: slot, class: a.DeviceClassName, selectors: a.Selectors, mode: a.AllocationMode, count: a.Count,
				tolerations: a.Tolerations, capacity: a.Capacity, derived: len(a.DerivedAttributes) > 0,
			})
		}
	}
	return out
}

// need works out how many devices a request needs on the node. A request for all devices is an
// error while a pool is incomplete or invalid (structured/internal/incubating
// validateDeviceRequest). Devices are judged as for another alternative where upstream takes it
// for this one.
func (s *search) need(c *resourcev1.ResourceClaim, r, as *request) error {
	r.claim = c.Namespace + "/" + c.Name
	whose := fmt.Sprintf("claim %s, request %s", r.claim, r.name)
	if r.derived && s.inv.as.derivedAttributesFail {
		return fmt.Errorf("%s: cannot handle request with derived attributes, the feature is disabled", whose)
	}
	var err error
	if r.byRequest, err = s.inv.selector(s.expr, r.selectors, "claim "+r.claim); err != nil {
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
			for ; s.lists(i) && int(s.listed[i].pool) == at; i++ {
				ok, err := s.selectable(r, i, as)
				if err != nil {
					return err
				}
				if !ok {
					continue
				}
				if err := s.checked(r, i, s.listed[i].Name); err != nil {
					return err
				}
				if s.inv.as.allCountsFull && s.whole(r, i) || !s.inv.as.allCountsFull && s.capacityFor(r, i) {
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

// selectable reports whether class and request select a device, and whether the node reaches a
// device that names its own nodes. Where upstream mixes up alternatives that are for all devices,
// the first judgement as one of them stands; as is nil elsewhere.
func (s *search) selectable(r *request, i int, as *request) (bool, error) {
	if as == nil || !s.inv.as.mixesAlternatives || r.parent == "" {
		return s.judged(r, s.listed[i].device)
	}
	if ok, judged := as.known[i]; judged {
		return ok, nil
	}
	ok, err := s.judged(r, s.listed[i].device)
	if err == nil {
		if as.known == nil {
			as.known = map[int]bool{}
		}
		as.known[i] = ok
	}
	return ok, err
}

// judged is selectable for one request alone.
func (s *search) judged(r *request, d *device) (bool, error) {
	if !s.inv.as.conditions && len(d.BindingConditions) > 0 {
		return false, nil
	}
	for _, by := range []*selector{&r.byClass, &r.byRequest} {
		if ok, err := by.selects(s.ctx, s.inv, d); err != nil || !ok {
			return false, err
		}
	}
	if yes(d.slice.Spec.PerDeviceNodeSelection) {
		return s.node.reaches(text(d.NodeName), yes(d.AllNodes), d.NodeSelector)
	}
	return true, nil
}
