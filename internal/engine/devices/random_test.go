package devices_test

import (
	"fmt"
	"math/rand/v2"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	et "berth/test/enginetest"
)

// dice draws cases of one node.
type dice struct {
	*rand.Rand
	wild bool // also what the brute twin knows nothing of
}

func (d dice) in(n int) bool { return d.IntN(n) == 0 }

// objects draws classes, slices and what others hold.
func (d dice) objects(most int) []any {
	out := []any{
		et.Node("n"),
		et.DeviceClass("any", `device.driver == "gpu.example.com"`),
		et.DeviceClass("red", `device.attributes["gpu.example.com"].color == "red"`),
	}
	left := 1 + d.IntN(most)
	for pool := 0; left > 0; pool++ {
		name := fmt.Sprintf("pool%d", pool)
		n := 1 + d.IntN(left)
		left -= n
		counters := d.in(3)
		first := d.slice(name, "b", n, counters)
		all := []*resourcev1.ResourceSlice{first}
		if n > 2 && d.in(2) { // one pool of two slices, which come in order of their names
			second := *first
			second.Name = name + "-a"
			second.Spec.Devices, first.Spec.Devices = first.Spec.Devices[:1], first.Spec.Devices[1:]
			all = append(all, &second)
		}
		if counters {
			shared := et.Slice(name, "n")
			shared.Name = name + "-counters"
			shared.Spec.SharedCounters = []resourcev1.CounterSet{{Name: "set", Counters: map[string]resourcev1.Counter{"a": count(1 + d.IntN(4)), "b": count(1 + d.IntN(4))}}}
			all = append(all, shared)
		}
		for _, s := range all {
			s.Spec.Pool.ResourceSliceCount = int64(len(all))
			out = append(out, s)
			for i := range s.Spec.Devices {
				if d.in(8) {
					out = append(out, d.holder(name, &s.Spec.Devices[i], len(out)))
				}
			}
		}
	}
	return out
}

func count(n int) resourcev1.Counter {
	return resourcev1.Counter{Value: *resource.NewQuantity(int64(n), resource.DecimalSI)}
}

func (d dice) slice(pool, suffix string, n int, counters bool) *resourcev1.ResourceSlice {
	s := et.Slice(pool, "n")
	s.Name = pool + "-" + suffix
	conditions := d.in(6)
	for i := range n {
		v := et.Device(fmt.Sprintf("d%d", i), "color", []string{"red", "blue"}[d.IntN(2)])
		size := int64(1 + d.IntN(2))
		v.Attributes["size"] = resourcev1.DeviceAttribute{IntValue: &size}
		if d.in(8) {
			v.Attributes["root"] = resourcev1.DeviceAttribute{IntValue: &size}
		} else if !d.in(6) {
			v.Attributes["root"] = v.Attributes["color"]
		}
		if d.wild && d.in(12) {
			delete(v.Attributes, "color")
		}
		if d.in(6) {
			v.Taints = []resourcev1.DeviceTaint{{Key: "sick", Effect: []resourcev1.DeviceTaintEffect{resourcev1.DeviceTaintEffectNone, resourcev1.DeviceTaintEffectNoSchedule, resourcev1.DeviceTaintEffectNoExecute}[d.IntN(3)]}}
		}
		if d.in(3) {
			v = et.Capacity(v, "4", d.in(2))
			if c := v.Capacity["memory"]; d.in(2) {
				def := resource.MustParse("2")
				c.RequestPolicy = &resourcev1.CapacityRequestPolicy{Default: &def, ValidValues: []resource.Quantity{resource.MustParse("1"), def}}
				v.Capacity["memory"] = c
			}
		}
		if counters && !d.in(4) {
			v.ConsumesCounters = []resourcev1.DeviceCounterConsumption{{CounterSet: "set", Counters: map[string]resourcev1.Counter{"a": count(1 + d.IntN(2))}}}
			if d.in(2) {
				v.ConsumesCounters[0].Counters["b"] = count(d.IntN(3))
			}
		}
		if conditions {
			v.BindingConditions = []string{"ready"}
		}
		s.Spec.Devices = append(s.Spec.Devices, v)
	}
	return s
}

// holder is a claim that has the device, or a part of it, or looks after it.
func (d dice) holder(pool string, v *resourcev1.Device, nth int) *resourcev1.ResourceClaim {
	c := et.Given(et.DeviceClaim(fmt.Sprintf("holder%d", nth)), "n", pool+"/"+v.Name)
	r := &c.Status.Allocation.Devices.Results[0]
	if yes := true; d.in(4) {
		r.AdminAccess = &yes
	} else if multi(v) {
		share := c.UID
		r.ShareID, r.ConsumedCapacity = &share, map[resourcev1.QualifiedName]resource.Quantity{"memory": *resource.NewQuantity(int64(1+d.IntN(3)), resource.DecimalSI)}
	}
	return c
}

// claims draws the claims of a pod.
func (d dice) claims() (out []*resourcev1.ResourceClaim) {
	for i := range 1 + d.IntN(2) {
		c := et.DeviceClaim(fmt.Sprintf("c%d", i))
		single, bare := true, []string{}
		for k := range 1 + d.IntN(2) {
			r := d.request(fmt.Sprintf("r%d", k))
			if yes := true; d.in(8) {
				r.Exactly.AdminAccess = &yes
			}
			single = single && r.Exactly.Count == 1
			if r.Exactly.AllocationMode == resourcev1.DeviceAllocationModeExactCount {
				bare = append(bare, r.Name)
			}
			if d.in(4) {
				other := d.request("y")
				r.Exactly.AdminAccess, r.Exactly.Tolerations, r.Exactly.Capacity = nil, nil, nil
				r.Name = "x"
				name := fmt.Sprintf("r%d", k)
				if other.Exactly.AllocationMode != resourcev1.DeviceAllocationModeExactCount {
					bare = bare[:0]
				}
				single = single && other.Exactly.Count == 1
				r = et.FirstOf(name, r, other)
			}
			c.Spec.Devices.Requests = append(c.Spec.Devices.Requests, r)
		}
		if d.in(2) && (d.wild || len(bare) == len(c.Spec.Devices.Requests)) {
			c.Spec.Devices.Constraints = d.constraints(bare, single)
		}
		out = append(out, c)
	}
	return out
}

func (d dice) request(name string) resourcev1.DeviceRequest {
	n := int64(1 + d.IntN(3))
	if d.in(6) {
		n = 0
	}
	r := et.Wants(name, []string{"any", "any", "red"}[d.IntN(3)], n)
	e := r.Exactly
	switch d.IntN(6) {
	case 0:
		e.Selectors = et.Selectors(`device.attributes["gpu.example.com"].size >= 2`)
	case 1:
		e.Selectors = et.Selectors(`device.allowMultipleAllocations`)
	}
	if d.in(4) {
		e.Tolerations = []resourcev1.DeviceToleration{{Operator: resourcev1.DeviceTolerationOpExists}}
	}
	if d.in(5) {
		e.Capacity = &resourcev1.CapacityRequirements{Requests: map[resourcev1.QualifiedName]resource.Quantity{"memory": *resource.NewQuantity(int64(1+d.IntN(3)), resource.DecimalSI)}}
	}
	return r
}

// constraints draws those of a claim whose requests are all for a number of
// devices; values are to differ only where each request is for one.
func (d dice) constraints(requests []string, single bool) (out []resourcev1.DeviceConstraint) {
	for range 1 + d.IntN(2) {
		name := resourcev1.FullyQualifiedName("gpu.example.com/" + []string{"root", "color", "size"}[d.IntN(3)])
		k := resourcev1.DeviceConstraint{MatchAttribute: &name}
		if (single || d.wild) && d.in(3) {
			k = resourcev1.DeviceConstraint{DistinctAttribute: &name}
		}
		if len(requests) > 0 && d.in(3) {
			k.Requests = requests[:1]
		}
		out = append(out, k)
	}
	return out
}
