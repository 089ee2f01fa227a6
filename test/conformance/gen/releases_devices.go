package gen

import (
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
