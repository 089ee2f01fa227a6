package enginetest

import (
	"fmt"
	"math/rand/v2"

	resourcev1 "k8s.io/api/resource/v1"
)

// devices adds devices to one case in four, and makes the pod claim some. It
// draws from numbers of its own, so that the rest of a case stays as it is.
// Nothing of it fails: no selector, and no request for all devices where a
// constraint or a pool that is not all there could turn it into an error.
func devices(seed uint64, nodes []string, c *Case) {
	g := &generator{r: rand.New(rand.NewPCG(seed, 0x64657669)), nodes: nodes}
	if !g.in(4) {
		return
	}
	expression := func() string {
		return g.of(`device.attributes["gpu.example.com"].?model.orValue("") == "a"`, `"model" in device.attributes["gpu.example.com"]`, `device.driver == "gpu.example.com"`, "true")
	}
	c.Objects = append(c.Objects, DeviceClass("gpu"), DeviceClass("fine", expression()))
	var names []string
	allowed := g.in(3) // requests for all
	for i, n := range append(nodes[:min(len(nodes), 12):min(len(nodes), 12)], "") {
		if g.in(4) {
			continue
		}
		s := Slice(fmt.Sprintf("pool%02d", i), n)
		for k := range 1 + g.r.IntN(4) {
			d := Device(fmt.Sprintf("d%d", k))
			if !g.in(4) {
				d = Device(d.Name, "model", g.of("a", "b"), "shared.example.com/numa", g.of("0", "1"))
			}
			if g.in(6) {
				d.Taints = []resourcev1.DeviceTaint{{Key: "sick", Effect: resourcev1.DeviceTaintEffectNoSchedule}}
			}
			s.Spec.Devices = append(s.Spec.Devices, d)
			names = append(names, s.Name+"/"+d.Name)
		}
		if !allowed && g.in(8) {
			s.Spec.Pool.ResourceSliceCount = 2
		}
		c.Objects = append(c.Objects, s)
		if g.in(8) {
			newer := Slice(s.Name+"-newer", n, Device("e0", "model", "a"))
			newer.Spec.Pool = resourcev1.ResourcePool{Name: s.Name, Generation: 2, ResourceSliceCount: 1}
			c.Objects = append(c.Objects, newer)
		}
	}
	request := func(name string) resourcev1.DeviceRequest {
		n := int64(1 + g.r.IntN(5)/3)
		if allowed && g.in(4) {
			n = 0
		}
		r := Wants(name, g.of("gpu", "gpu", "fine"), n)
		if g.in(3) {
			r.Exactly.Selectors = Selectors(expression())
		}
		return r
	}
	claim := func(name string) *resourcev1.ResourceClaim {
		k := DeviceClaim(name)
		for i := range 1 + g.r.IntN(2) {
			r := request(fmt.Sprintf("r%d", i))
			switch {
			case g.in(3):
				r = FirstOf(r.Name, request("x"), request("y"))
			case g.in(5):
				yes := true
				r.Exactly.AdminAccess = &yes
			case g.in(4):
				r.Exactly.Tolerations = []resourcev1.DeviceToleration{{Operator: resourcev1.DeviceTolerationOpExists}}
			}
			k.Spec.Devices.Requests = append(k.Spec.Devices.Requests, r)
		}
		if !allowed && g.in(2) {
			a := resourcev1.FullyQualifiedName(g.of("shared.example.com/numa", "gpu.example.com/model"))
			one := resourcev1.DeviceConstraint{MatchAttribute: &a}
			if g.in(3) {
				one = resourcev1.DeviceConstraint{DistinctAttribute: &a}
			}
			if g.in(3) {
				one.Requests = []string{"r0"}
			}
			k.Spec.Devices.Constraints = append(k.Spec.Devices.Constraints, one)
		}
		return k
	}
	given := func(k *resourcev1.ResourceClaim) *resourcev1.ResourceClaim {
		if len(names) == 0 {
			return k
		}
		node := g.aNode()
		if g.in(4) {
			node = ""
		}
		Given(k, node, g.of(names...))
		if g.in(2) {
			k.Status.ReservedFor = []resourcev1.ResourceClaimConsumerReference{{Resource: "pods", Name: "other", UID: "other"}}
		}
		return k
	}
	for i := range g.r.IntN(5) {
		c.Objects = append(c.Objects, given(claim(fmt.Sprintf("held%d", i))))
	}
	for i := range 1 + g.r.IntN(2) {
		k := claim(fmt.Sprintf("mine%d", i))
		if g.in(4) {
			k = given(k)
		}
		k.Namespace = c.Pod.Namespace
		if !g.in(25) {
			c.Objects = append(c.Objects, k)
		}
		Claims(k.Name)(c.Pod)
	}
}
