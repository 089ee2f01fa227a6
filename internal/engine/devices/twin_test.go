package devices_test

import (
	"cmp"
	"slices"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"berth/internal/engine/devices"
)

// twin allocates by brute force: it writes out every way to fill all requests, in
// the order of preference, and takes the first in which nothing is wrong as a
// whole. It knows expressions by what they mean and not by CEL, and amounts as
// whole numbers. What it cannot say is where a search ends with an error, and what
// upstream forgets about distinct values within a request.
type twin struct {
	classes  map[string][]string // expressions
	devices  []*thing
	counters map[string]map[string]int64 // of pools, one set each
	prefix   bool                        // judge beginnings, too, and so leave out what begins badly
	judged   int
}

// thing is a device with what other claims have of it.
type thing struct {
	*resourcev1.Device
	pool  string
	held  bool
	taken int64 // of its memory
	part  bool  // some of it is taken
}

// piece is a device that a request would get.
type piece struct {
	*thing
	claim      int
	base, full string
	admin      bool
	asked      *resourcev1.CapacityRequirements
	tolerant   bool
}

// meanings of the expressions that cases use.
var meanings = map[string]func(*resourcev1.Device) bool{
	`device.driver == "gpu.example.com"`: func(*resourcev1.Device) bool { return true },
	`device.attributes["gpu.example.com"].color == "red"`: func(d *resourcev1.Device) bool {
		return *d.Attributes["color"].StringValue == "red"
	},
	`device.attributes["gpu.example.com"].size >= 2`: func(d *resourcev1.Device) bool { return *d.Attributes["size"].IntValue >= 2 },
	`device.allowMultipleAllocations`:                func(d *resourcev1.Device) bool { return multi(d) },
}

func multi(d *resourcev1.Device) bool {
	return d.AllowMultipleAllocations != nil && *d.AllowMultipleAllocations
}

// newTwin sorts out what one node reaches of objects.
func newTwin(objects []any) *twin {
	w := &twin{classes: map[string][]string{}, counters: map[string]map[string]int64{}}
	var list []*resourcev1.ResourceSlice
	conditional := map[string]bool{}
	for _, o := range objects {
		switch o := o.(type) {
		case *resourcev1.DeviceClass:
			w.classes[o.Name] = expressions(o.Spec.Selectors)
		case *resourcev1.ResourceSlice:
			for _, set := range o.Spec.SharedCounters {
				w.counters[o.Spec.Pool.Name] = map[string]int64{}
				for name, c := range set.Counters {
					w.counters[o.Spec.Pool.Name][name] = c.Value.Value()
				}
			}
			for i := range o.Spec.Devices {
				conditional[o.Spec.Pool.Name] = conditional[o.Spec.Pool.Name] || o.Spec.Devices[i].BindingConditions != nil
			}
			list = append(list, o)
		}
	}
	last := func(s *resourcev1.ResourceSlice) int {
		if conditional[s.Spec.Pool.Name] {
			return 1
		}
		return 0
	}
	slices.SortFunc(list, func(a, b *resourcev1.ResourceSlice) int {
		return cmp.Or(cmp.Compare(last(a), last(b)), cmp.Compare(a.Spec.Pool.Name, b.Spec.Pool.Name), cmp.Compare(a.Name, b.Name))
	})
	for _, s := range list {
		for i := range s.Spec.Devices {
			w.devices = append(w.devices, &thing{Device: &s.Spec.Devices[i], pool: s.Spec.Pool.Name})
		}
	}
	for _, o := range objects {
		if c, ok := o.(*resourcev1.ResourceClaim); ok && c.Status.Allocation != nil {
			w.hold(c.Status.Allocation.Devices.Results)
		}
	}
	return w
}

func (w *twin) hold(results []resourcev1.DeviceRequestAllocationResult) {
	for _, r := range results {
		for _, d := range w.devices {
			switch {
			case d.pool != r.Pool || d.Name != r.Device || r.AdminAccess != nil && *r.AdminAccess:
			case r.ShareID == nil:
				d.held = true
			default:
				q := r.ConsumedCapacity["memory"]
				d.part, d.taken = true, d.taken+q.Value()
			}
			if mine := d.pool == r.Pool && d.Name == r.Device && (r.AdminAccess == nil || !*r.AdminAccess); mine {
				for _, c := range d.ConsumesCounters {
					for name, n := range c.Counters {
						w.counters[d.pool][name] -= n.Value.Value()
					}
				}
			}
		}
	}
}

func expressions(list []resourcev1.DeviceSelector) (out []string) {
	for _, s := range list {
		out = append(out, s.CEL.Expression)
	}
	return out
}

// allocate returns the first way in which nothing is wrong; nil without one.
func (w *twin) allocate(claims []*resourcev1.ResourceClaim) []devices.Given {
	var found []piece
	ok := w.fill(claims, 0, 0, nil, &found)
	if !ok {
		return nil
	}
	out := make([]devices.Given, len(claims))
	for _, p := range found {
		out[p.claim].Devices = append(out[p.claim].Devices, devices.GivenDevice{Request: p.full, ID: devices.ID{Driver: "gpu.example.com", Pool: p.pool, Device: p.Name}, Admin: p.admin})
	}
	return out
}

func (w *twin) fill(claims []*resourcev1.ResourceClaim, claim, request int, have []piece, found *[]piece) bool {
	if claim == len(claims) {
		*found = have
		return w.right(claims, have)
	}
	if request == len(claims[claim].Spec.Devices.Requests) {
		return w.fill(claims, claim+1, 0, have, found)
	}
	r := &claims[claim].Spec.Devices.Requests[request]
	next := func(have []piece) bool { return w.fill(claims, claim, request+1, have, found) }
	if e := r.Exactly; e != nil {
		p := piece{claim: claim, base: r.Name, full: r.Name, admin: e.AdminAccess != nil && *e.AdminAccess, asked: e.Capacity, tolerant: len(e.Tolerations) > 0}
		return w.ways(claims, p, append(w.classes[e.DeviceClassName], expressions(e.Selectors)...), e.AllocationMode, int(e.Count), have, next)
	}
	for _, a := range r.FirstAvailable {
		p := piece{claim: claim, base: r.Name, full: r.Name + "/" + a.Name, asked: a.Capacity, tolerant: len(a.Tolerations) > 0}
		if w.ways(claims, p, append(w.classes[a.DeviceClassName], expressions(a.Selectors)...), a.AllocationMode, int(a.Count), have, next) {
			return true
		}
	}
	return false
}

// ways goes through the combinations of devices for one request.
func (w *twin) ways(claims []*resourcev1.ResourceClaim, p piece, by []string, mode resourcev1.DeviceAllocationMode, n int, have []piece, next func([]piece) bool) bool {
	var match []*thing
	for _, d := range w.devices {
		ok := true
		for _, e := range by {
			ok = ok && meanings[e](d.Device)
		}
		if ok {
			match = append(match, d)
		}
	}
	if mode == resourcev1.DeviceAllocationModeAll {
		match = slices.DeleteFunc(match, func(d *thing) bool { return !d.capacities(p.asked) })
		if n = len(match); n == 0 {
			return false
		}
	}
	var choose func(from, n int, have []piece) bool
	choose = func(from, n int, have []piece) bool {
		if n == 0 {
			return next(have)
		}
		for i := from; i+n <= len(match); i++ {
			p.thing = match[i]
			more := append(slices.Clip(have), p)
			if w.prefix && !w.right(claims, more) {
				continue
			}
			if choose(i+1, n-1, more) {
				return true
			}
		}
		return false
	}
	return choose(0, n, have)
}

// needs is what a request takes of the device's memory; known is false where the
// device has none, allowed where the policy forbids it.
func (d *thing) needs(asked *resourcev1.CapacityRequirements) (n int64, known, allowed bool) {
	c, ok := d.Capacity["memory"]
	if !ok {
		return 0, false, asked == nil
	}
	q, some := resource.Quantity{}, false
	if asked != nil {
		q, some = asked.Requests["memory"]
	}
	n = q.Value()
	if p := c.RequestPolicy; p != nil {
		if !some {
			n = p.Default.Value()
		}
		for _, v := range p.ValidValues {
			if n <= v.Value() {
				return v.Value(), true, true
			}
		}
		return n, true, false
	}
	if !some {
		n = c.Value.Value()
	}
	return n, true, true
}

// capacities reports whether the request would fit beside what other claims have.
func (d *thing) capacities(asked *resourcev1.CapacityRequirements) bool {
	n, known, allowed := d.needs(asked)
	if !known {
		return allowed
	}
	c := d.Capacity["memory"]
	return allowed && n+d.taken <= c.Value.Value()
}

// right reports whether nothing is wrong with what was given out.
func (w *twin) right(claims []*resourcev1.ResourceClaim, have []piece) bool {
	w.judged++
	for i, p := range have {
		if !p.admin && p.held || !p.capacities(p.asked) || tainted(p.Device) && !p.tolerant {
			return false
		}
		for _, o := range have[:i] {
			if o.thing == p.thing && !multi(p.Device) && (!p.admin || o.claim == p.claim) {
				return false
			}
		}
	}
	if !w.shared(have) || !w.counted(have) {
		return false
	}
	for i, c := range claims {
		for _, k := range c.Spec.Devices.Constraints {
			if !holds(k, i, have) {
				return false
			}
		}
	}
	return true
}

func tainted(d *resourcev1.Device) bool {
	for _, t := range d.Taints {
		if t.Effect != resourcev1.DeviceTaintEffectNone {
			return true
		}
	}
	return false
}

// shared reports whether shares of a device add up to no more than there is.
func (w *twin) shared(have []piece) bool {
	for _, d := range w.devices {
		sum := d.taken
		for _, p := range have {
			if p.thing == d {
				n, _, _ := d.needs(p.asked)
				sum += n
			}
		}
		if c, ok := d.Capacity["memory"]; ok && multi(d.Device) && sum > c.Value.Value() {
			return false
		}
	}
	return true
}

// counted reports whether no counter of a pool is used up by devices that draw on it. A device that
// is shared draws once.
func (w *twin) counted(have []piece) bool {
	for pool, counters := range w.counters {
		used, consumptions := map[string]int64{}, false
		for i, p := range have {
			again := multi(p.Device) && (p.part || slices.ContainsFunc(have[:i], func(o piece) bool { return o.thing == p.thing }))
			if p.pool != pool || len(p.ConsumesCounters) == 0 || again {
				continue
			}
			consumptions = true
			for _, c := range p.ConsumesCounters {
				for name, n := range c.Counters {
					used[name] += n.Value.Value()
				}
			}
		}
		for name, n := range counters {
			if consumptions && used[name] > n {
				return false
			}
		}
	}
	return true
}

// holds reports whether a constraint of a claim does.
func holds(k resourcev1.DeviceConstraint, claim int, have []piece) bool {
	name := cmp.Or(k.MatchAttribute, k.DistinctAttribute)
	var values []string
	for _, p := range have {
		if p.claim != claim || len(k.Requests) > 0 && !slices.Contains(k.Requests, p.base) && !slices.Contains(k.Requests, p.full) {
			continue
		}
		a, ok := p.Attributes[resourcev1.QualifiedName((*name)[len("gpu.example.com/"):])]
		if !ok {
			return false
		}
		v := ""
		if a.StringValue != nil {
			v = "string " + *a.StringValue
		} else {
			v = "int " + string(rune('0'+*a.IntValue))
		}
		if slices.Contains(values, v) != (k.MatchAttribute != nil) && len(values) > 0 {
			return false
		}
		values = append(values, v)
	}
	return true
}
