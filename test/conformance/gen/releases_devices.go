package gen

import (
	"slices"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"
)

// claimed changes the claims that wait and those that hold devices in what releases judge
// differently: several devices whose values have to differ, all devices with amounts of capacity,
// also among alternatives, and shares without amounts.
func (r *releaser) claimed() {
	all := r.chance(40)
	for _, o := range r.objs {
		c, ok := o.(*resourcev1.ResourceClaim)
		if !ok {
			continue
		}
		if c.Status.Allocation != nil {
			for i := range c.Status.Allocation.Devices.Results {
				if result := &c.Status.Allocation.Devices.Results[i]; result.ShareID != nil && r.chance(40) {
					result.ConsumedCapacity = nil
				}
			}
			continue
		}
		for i := range c.Spec.Devices.Requests {
			q := &c.Spec.Devices.Requests[i]
			if q.Exactly != nil {
				r.more(&q.Exactly.AllocationMode, &q.Exactly.Count, &q.Exactly.Capacity, all)
			}
			for k := range q.FirstAvailable {
				r.more(&q.FirstAvailable[k].AllocationMode, &q.FirstAvailable[k].Count, &q.FirstAvailable[k].Capacity, all)
			}
		}
		if len(c.Spec.Devices.Constraints) == 0 && r.chance(60) {
			name := resourcev1.FullyQualifiedName(pick(&r.maker, "shared.example.com/numa", "gpu.example.com/model", "gpu.example.com/version"))
			c.Spec.Devices.Constraints = []resourcev1.DeviceConstraint{{DistinctAttribute: &name}}
		}
	}
}

func (r *releaser) more(mode *resourcev1.DeviceAllocationMode, count *int64, asked **resourcev1.CapacityRequirements, all bool) {
	if all && r.chance(60) {
		*mode, *count = resourcev1.DeviceAllocationModeAll, 0
	} else if *count > 0 && r.chance(40) {
		*count = 2
	}
	if *asked == nil && r.on["capacity"] && r.chance(40) {
		*asked = &resourcev1.CapacityRequirements{Requests: map[resourcev1.QualifiedName]resource.Quantity{
			"memory": resource.MustParse(pick(&r.maker, "1Gi", "9Gi", "14Gi", "9223372036854775807")),
		}}
	}
}

// counted changes pools with shared counters: one lacks a slice, which concerns its own node or
// all, or one has the name of another driver's.
func (r *releaser) counted() {
	pools := map[string][]*resourcev1.ResourceSlice{}
	var with []*resourcev1.ResourceSlice
	for _, o := range r.objs {
		if s, ok := o.(*resourcev1.ResourceSlice); ok {
			id := s.Spec.Driver + "/" + s.Spec.Pool.Name
			pools[id] = append(pools[id], s)
			if len(s.Spec.SharedCounters) > 0 {
				with = append(with, s)
			}
		}
	}
	if len(with) == 0 {
		return
	}
	one := pick(&r.maker, with...).Spec
	if r.chance(50) {
		for _, s := range pools[one.Driver+"/"+one.Pool.Name] {
			s.Spec.Pool.ResourceSliceCount++
		}
		return
	}
	other := pick(&r.maker, with...).Spec
	if one.Driver == other.Driver || len(pools[one.Driver+"/"+other.Pool.Name]) > 0 || held(r.objs, other.Pool.Name) {
		return
	}
	for _, s := range pools[other.Driver+"/"+other.Pool.Name] {
		s.Spec.Pool.Name = one.Pool.Name
	}
}

// held reports whether some claim has devices of a pool.
func held(objs []runtime.Object, pool string) bool {
	for _, o := range objs {
		if c, ok := o.(*resourcev1.ResourceClaim); ok && c.Status.Allocation != nil {
			for i := range c.Status.Allocation.Devices.Results {
				if c.Status.Allocation.Devices.Results[i].Pool == pool {
					return true
				}
			}
		}
	}
	return false
}

// alpha writes fields of slices and claims whose gates are off: groups of devices that may share
// counters, attributes that are derived, and operations that nodes leave out.
func (r *releaser) alpha() {
	which := r.IntN(3)
	if which == 2 {
		for _, n := range r.nodes {
			if r.chance(50) {
				r.declare(n, "DRAOptionalNodeOperations")
			}
		}
	}
	for _, o := range r.objs {
		switch o := o.(type) {
		case *resourcev1.ResourceSlice:
			i := slices.IndexFunc(o.Spec.Devices, func(d resourcev1.Device) bool { return len(d.ConsumesCounters) > 0 })
			if which == 0 && i >= 0 && r.chance(40) {
				r.write(o, func(o tree) {
					at(at(o["spec"].(tree), "devices", i), "consumesCounters", 0)["compatibilityGroups"] = []any{"blue"}
				})
			}
			if which == 2 && r.chance(40) {
				r.write(o, func(o tree) { o["spec"].(tree)["skipNodeOperations"] = []any{"*"} })
			}
		case *resourcev1.ResourceClaim:
			switch {
			case which == 1 && o.Status.Allocation == nil && len(o.Spec.Devices.Requests) > 0 && r.chance(40):
				r.derive(o)
			case which == 2 && o.Status.Allocation != nil && len(o.Status.Allocation.Devices.Results) > 0 && r.chance(60):
				r.write(o, func(o tree) {
					at(o["status"].(tree)["allocation"].(tree)["devices"].(tree), "results", 0)["skipNodeOperations"] = []any{"*"}
				})
			}
		}
	}
}

// derive has a request of a claim that waits derive an attribute, which a constraint is about.
func (r *releaser) derive(c *resourcev1.ResourceClaim) {
	i := r.IntN(len(c.Spec.Devices.Requests))
	name := resourcev1.FullyQualifiedName("derived/same")
	c.Spec.Devices.Constraints = []resourcev1.DeviceConstraint{{MatchAttribute: &name}}
	k := r.IntN(max(1, len(c.Spec.Devices.Requests[i].FirstAvailable)))
	r.write(c, func(o tree) {
		request := at(o["spec"].(tree)["devices"].(tree), "requests", i)
		if request["exactly"] != nil {
			request = request["exactly"].(tree)
		} else {
			request = at(request, "firstAvailable", k)
		}
		request["derivedAttributes"] = []any{tree{"name": string(name), "expression": "device.driver"}}
	})
}

// at returns an object of a list.
func at(of tree, list string, i int) tree { return of[list].([]any)[i].(tree) }
