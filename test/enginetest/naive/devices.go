package naive

import (
	"context"
	"fmt"
	"sort"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	dracel "k8s.io/dynamic-resource-allocation/cel"

	"berth/internal/engine"
	"berth/internal/engine/rules"
)

// gadget is a device that a node reaches.
type gadget struct {
	*resourcev1.Device
	id string
}

// pick is a device that was given to a request of a claim.
type pick struct {
	claim    int
	request  string // with the alternative behind a slash
	base     string
	admin    bool
	gadget   *gadget
	tolerant bool
}

// claims are the pod's, or why it has to wait.
func (y *cycle) claims() (out []*resourcev1.ResourceClaim, why string) {
	for _, ref := range y.pod.Spec.ResourceClaims {
		var found *resourcev1.ResourceClaim
		for _, c := range y.resourceClaims {
			if c.Namespace == y.pod.Namespace && c.Name == *ref.ResourceClaimName {
				found = c
			}
		}
		if found == nil {
			return nil, fmt.Sprintf("could not find ResourceClaim %q", y.pod.Namespace+"/"+*ref.ResourceClaimName)
		}
		out = append(out, found)
	}
	return out, ""
}

// classless names a request whose class is not there.
func (y *cycle) classless() string {
	known := map[string]bool{}
	for _, c := range y.deviceClasses {
		known[c.Name] = true
	}
	claims, _ := y.claims()
	for _, c := range claims {
		for _, r := range c.Spec.Devices.Requests {
			if c.Status.Allocation != nil {
				continue
			}
			if e := r.Exactly; e != nil && !known[e.DeviceClassName] {
				return fmt.Sprintf("request %s: device class %s does not exist", r.Name, e.DeviceClassName)
			}
			for _, a := range r.FirstAvailable {
				if !known[a.DeviceClassName] {
					return fmt.Sprintf("request %s/%s: device class %s does not exist", r.Name, a.Name, a.DeviceClassName)
				}
			}
		}
	}
	return ""
}

// gadgets returns the devices that a node reaches, in order.
func (y *cycle) gadgets(n *node) (out []*gadget) {
	newest := map[string]int64{}
	reached := func(s *resourcev1.ResourceSlice) bool { return s.Spec.NodeName == nil || *s.Spec.NodeName == n.Name }
	for _, s := range y.slices {
		if reached(s) {
			newest[s.Spec.Pool.Name] = max(newest[s.Spec.Pool.Name], s.Spec.Pool.Generation)
		}
	}
	sort.Slice(y.slices, func(i, j int) bool {
		a, b := y.slices[i], y.slices[j]
		if a.Spec.Pool.Name != b.Spec.Pool.Name {
			return a.Spec.Pool.Name < b.Spec.Pool.Name
		}
		return a.Name < b.Name
	})
	for _, s := range y.slices {
		there := int64(0)
		for _, o := range y.slices {
			if o.Spec.Pool.Name == s.Spec.Pool.Name && o.Spec.Pool.Generation == s.Spec.Pool.Generation {
				there++
			}
		}
		if !reached(s) || s.Spec.Pool.Generation < newest[s.Spec.Pool.Name] || there != s.Spec.Pool.ResourceSliceCount {
			continue
		}
		for i := range s.Spec.Devices {
			d := &s.Spec.Devices[i]
			out = append(out, &gadget{d, s.Spec.Pool.Name + "/" + d.Name})
		}
	}
	return out
}

// selected asks every expression anew.
func (y *cycle) selected(g *gadget, class string, own []resourcev1.DeviceSelector) bool {
	all := own
	for _, c := range y.deviceClasses {
		if c.Name == class {
			all = append(append([]resourcev1.DeviceSelector{}, c.Spec.Selectors...), own...)
		}
	}
	compiler := dracel.GetCompiler(dracel.Features{EnableConsumableCapacity: true})
	for _, s := range all {
		e := y.compiled[s.CEL.Expression]
		if e == nil {
			r := compiler.CompileCELExpression(s.CEL.Expression, dracel.Options{DisableCostEstimation: true})
			e = &r
			y.compiled[s.CEL.Expression] = e
		}
		ok, _, err := e.DeviceMatches(context.Background(), dracel.Device{Driver: "gpu.example.com", Attributes: g.Attributes})
		if err != nil || !ok {
			return false
		}
	}
	return true
}

// held reports whether some claim has a device to itself.
func (y *cycle) held(id string) bool {
	for _, c := range y.resourceClaims {
		if c.Status.Allocation == nil {
			continue
		}
		for _, r := range c.Status.Allocation.Devices.Results {
			if (r.AdminAccess == nil || !*r.AdminAccess) && r.Pool+"/"+r.Device == id {
				return true
			}
		}
	}
	return false
}

// allocate returns the first list of picks, in the order of everything, that passes from its first
// to its last one; ok is false without any.
func (y *cycle) allocate(n *node, claims []*resourcev1.ResourceClaim) (out []pick, ok bool) {
	gadgets := y.gadgets(n)
	y.last = map[[2]int]map[string]string{}
	var line func(claim, request int, have []pick) ([]pick, bool)
	line = func(claim, request int, have []pick) ([]pick, bool) {
		if claim == len(claims) {
			return have, true
		}
		if request == len(claims[claim].Spec.Devices.Requests) {
			return line(claim+1, 0, have)
		}
		next := func(have []pick) ([]pick, bool) { return line(claim, request+1, have) }
		r := &claims[claim].Spec.Devices.Requests[request]
		if e := r.Exactly; e != nil {
			p := pick{claim: claim, request: r.Name, base: r.Name, admin: e.AdminAccess != nil && *e.AdminAccess, tolerant: len(e.Tolerations) > 0}
			return y.fill(gadgets, claims, p, e.DeviceClassName, e.Selectors, e.AllocationMode, int(e.Count), have, next)
		}
		for _, a := range r.FirstAvailable {
			p := pick{claim: claim, request: r.Name + "/" + a.Name, base: r.Name, tolerant: len(a.Tolerations) > 0}
			if got, ok := y.fill(gadgets, claims, p, a.DeviceClassName, a.Selectors, a.AllocationMode, int(a.Count), have, next); ok {
				return got, true
			}
		}
		return nil, false
	}
	return line(0, 0, nil)
}

// fill tries all ways to satisfy one request, in order.
func (y *cycle) fill(gadgets []*gadget, claims []*resourcev1.ResourceClaim, p pick, class string, sel []resourcev1.DeviceSelector, mode resourcev1.DeviceAllocationMode, count int, have []pick, next func([]pick) ([]pick, bool)) ([]pick, bool) {
	var match []*gadget
	for _, g := range gadgets {
		if y.selected(g, class, sel) {
			match = append(match, g)
		}
	}
	all := mode == resourcev1.DeviceAllocationModeAll
	if all {
		if count = len(match); count == 0 {
			return nil, false
		}
	}
	var rest func(from, left int, have []pick) ([]pick, bool)
	rest = func(from, left int, have []pick) ([]pick, bool) {
		if left == 0 {
			return next(have)
		}
		for i := from; i < len(match); i++ {
			p.gadget = match[i]
			more := append(have[:len(have):len(have)], p)
			if y.passes(more, claims[p.claim]) {
				if got, ok := rest(i+1, left-1, more); ok {
					return got, true
				}
				y.forget(p, claims[p.claim].Spec.Devices.Constraints)
			}
			if all {
				return nil, false
			}
		}
		return nil, false
	}
	return rest(0, count, have)
}

// passes reports whether the last pick may stand beside those before it.
func (y *cycle) passes(have []pick, c *resourcev1.ResourceClaim) bool {
	p := have[len(have)-1]
	if !p.admin && y.held(p.gadget.id) {
		return false
	}
	for _, o := range have[:len(have)-1] {
		if o.gadget.id == p.gadget.id && (!p.admin || o.claim == p.claim) {
			return false
		}
	}
	for _, t := range p.gadget.Taints {
		if (t.Effect == resourcev1.DeviceTaintEffectNoSchedule || t.Effect == resourcev1.DeviceTaintEffectNoExecute) && !p.tolerant {
			return false
		}
	}
	for i, k := range c.Spec.Devices.Constraints {
		if !concerns(k, p) {
			continue
		}
		fits := k.MatchAttribute != nil && matches(have, p.claim, k) || k.DistinctAttribute != nil && y.differs(p, i, k)
		if !fits {
			y.forget(p, c.Spec.Devices.Constraints[:i])
			return false
		}
	}
	return true
}

func concerns(k resourcev1.DeviceConstraint, p pick) bool {
	return len(k.Requests) == 0 || contains(k.Requests, p.base) || contains(k.Requests, p.request)
}

func (g *gadget) text(name *resourcev1.FullyQualifiedName) string {
	short := strings.TrimPrefix(string(*name), "gpu.example.com/")
	if v := g.Attributes[resourcev1.QualifiedName(short)].StringValue; v != nil {
		return *v
	}
	return ""
}

// matches compares all of the claim's picks.
func matches(have []pick, claim int, k resourcev1.DeviceConstraint) bool {
	first := ""
	for _, p := range have {
		if p.claim != claim || !concerns(k, p) {
			continue
		}
		v := p.gadget.text(k.MatchAttribute)
		if v == "" || first != "" && v != first {
			return false
		}
		first = v
	}
	return true
}

// differs compares a pick with the last value of each request of the claim, and
// writes its own value down as its request's. i is the constraint's index
// (structured/internal/incubating/constraint.go distinctAttributeConstraint.add).
func (y *cycle) differs(p pick, i int, k resourcev1.DeviceConstraint) bool {
	v := p.gadget.text(k.DistinctAttribute)
	last := y.last[[2]int{p.claim, i}]
	for _, o := range last {
		if o == v {
			return false
		}
	}
	if v == "" {
		return false
	}
	if last == nil {
		last = map[string]string{}
		y.last[[2]int{p.claim, i}] = last
	}
	last[p.base] = v
	return true
}

// forget takes a pick back from constraints. The value of its request goes even
// where the request keeps an earlier device, which a later pick may then repeat
// (distinctAttributeConstraint.remove).
func (y *cycle) forget(p pick, from []resourcev1.DeviceConstraint) {
	for i, k := range from {
		if k.DistinctAttribute != nil && concerns(k, p) {
			delete(y.last[[2]int{p.claim, i}], p.base)
		}
	}
}

// elsewhere lists the pod's claims that are allocated for other nodes.
func (y *cycle) elsewhere(n *node) (out []*resourcev1.ResourceClaim) {
	claims, _ := y.claims()
	for _, c := range claims {
		if a := c.Status.Allocation; a != nil && a.NodeSelector != nil && a.NodeSelector.NodeSelectorTerms[0].MatchFields[0].Values[0] != n.Name {
			out = append(out, c)
		}
	}
	return out
}

func (y *cycle) dynamicResources(n *node, _ []*corev1.Pod) status {
	claims, _ := y.claims()
	var open []*resourcev1.ResourceClaim
	for _, c := range claims {
		if c.Status.Allocation == nil {
			open = append(open, c)
		}
	}
	picks, ok := y.allocate(n, open)
	if len(open) > 0 && !ok {
		return hard("DynamicResources", rules.ReasonNoDevices)
	}
	if len(y.elsewhere(n)) > 0 {
		return hard("DynamicResources", rules.ReasonClaimElsewhere)
	}
	if len(open) > 0 {
		y.given[n.Name] = score(claims, open, picks)
		y.gifts[n.Name] = nil
		for _, p := range picks {
			pool, device, _ := strings.Cut(p.gadget.id, "/")
			y.gifts[n.Name] = append(y.gifts[n.Name], engine.AllottedDevice{Claim: open[p.claim].Name, Request: p.request, Driver: "gpu.example.com", Pool: pool, Device: device})
		}
	}
	return status{}
}

// score counts how early the alternatives stand that were chosen, or had been.
func score(claims, open []*resourcev1.ResourceClaim, picks []pick) (total int64) {
	for _, c := range claims {
		for _, r := range c.Spec.Devices.Requests {
			for i, a := range r.FirstAvailable {
				chosen := false
				for _, p := range picks {
					chosen = chosen || open[p.claim] == c && p.request == r.Name+"/"+a.Name
				}
				if chosen {
					total += int64(8 - i)
				}
			}
		}
	}
	return total
}

// deallocation is what PostFilter says.
func (y *cycle) deallocation(d *engine.Decision) string {
	if len(y.pod.Spec.ResourceClaims) == 0 || y.classless() != "" {
		return "no new claims to deallocate"
	}
	for _, v := range d.Nodes {
		if !contains(v.Reasons, rules.ReasonClaimElsewhere) {
			continue
		}
		for _, c := range y.elsewhere(y.byName[v.Name]) {
			if len(c.Status.ReservedFor) == 0 {
				return "deallocation of ResourceClaim completed"
			}
		}
	}
	return "still not schedulable"
}
