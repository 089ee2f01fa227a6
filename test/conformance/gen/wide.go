package gen

import (
	"math/rand/v2"
	"strings"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// widen adds to a part of the cases with devices what devices.go and claims.go draw with one value
// or never: a second capacity and a second set of counters, policies with parts missing, attributes
// under their full names or of another type, tolerations by value, several constraints over several
// requests, two names for one claim, pools of two drivers that are both named after the node. It
// changes what is there and draws from numbers of its own; without opts.Wide every seed stays what
// it was.
func (m *maker) widen(seed uint64, incoming *v1.Pod) {
	w := &widener{maker: *m}
	w.Rand = rand.New(rand.NewPCG(seed, 0x77696465))
	if !w.chance(m.opts.Wide) {
		return
	}
	for _, f := range []string{"bandwidth", "sets", "attributes", "tolerations", "constraints", "twice", "bindings", "names"} {
		w.on["wide "+f] = w.chance(45)
	}
	if w.on["wide names"] {
		w.names()
	}
	// A pool is changed as a whole: its slices agree on counters.
	sets := map[string]bool{}
	for _, o := range w.objs {
		if s, ok := o.(*resourcev1.ResourceSlice); ok && len(s.Spec.SharedCounters) > 0 && w.on["wide sets"] {
			s.Spec.SharedCounters = append(s.Spec.SharedCounters, resourcev1.CounterSet{Name: "other", Counters: map[string]resourcev1.Counter{
				"slices": {Value: *resource.NewQuantity(int64(w.between(1, 4)), resource.DecimalSI)},
			}})
			sets[s.Spec.Driver+"/"+s.Spec.Pool.Name] = true
		}
	}
	for _, o := range w.objs {
		switch o := o.(type) {
		case *resourcev1.ResourceSlice:
			for i := range o.Spec.Devices {
				w.device(&o.Spec.Devices[i], o.Spec.Driver, sets[o.Spec.Driver+"/"+o.Spec.Pool.Name])
			}
		case *resourcev1.ResourceClaim:
			w.claim(o)
		}
	}
	if n := len(incoming.Spec.ResourceClaims); n > 0 && w.on["wide twice"] {
		again := incoming.Spec.ResourceClaims[w.IntN(n)]
		if again.ResourceClaimName != nil {
			again.Name = "again"
			incoming.Spec.ResourceClaims = append(incoming.Spec.ResourceClaims, again)
		}
	}
	m.objs, m.serial = w.objs, w.serial
}

type widener struct{ maker }

// names calls the pools of nodes after the node alone, so that those of two
// drivers bear one name, and gives most of these counters. Only one node reaches
// such a pool: for others upstream's answer depends on which node it asks first.
func (w *widener) names() {
	rename := func(driver, pool string) string { return strings.TrimPrefix(pool, driver[:3]+"-") }
	pools := map[string]map[string][]*resourcev1.ResourceSlice{} // by name and driver
	var order []string
	for _, o := range w.objs {
		switch o := o.(type) {
		case *resourcev1.ResourceSlice:
			name := rename(o.Spec.Driver, o.Spec.Pool.Name)
			if name == o.Spec.Pool.Name {
				continue
			}
			o.Spec.Pool.Name = name
			if pools[name] == nil {
				pools[name] = map[string][]*resourcev1.ResourceSlice{}
				order = append(order, name)
			}
			pools[name][o.Spec.Driver] = append(pools[name][o.Spec.Driver], o)
		case *resourcev1.ResourceClaim:
			for i := range o.Status.Devices {
				d := &o.Status.Devices[i]
				d.Pool = rename(d.Driver, d.Pool)
			}
			if o.Status.Allocation == nil {
				continue
			}
			for i := range o.Status.Allocation.Devices.Results {
				r := &o.Status.Allocation.Devices.Results[i]
				r.Pool = rename(r.Driver, r.Pool)
			}
		}
	}
	for _, name := range order {
		if len(pools[name]) < 2 || !w.chance(80) {
			continue
		}
		for _, driver := range []string{"gpu.example.com", "nic.example.com"} {
			w.counters(pools[name][driver])
		}
	}
}

// counters adds a set of them to a pool that has none, for the devices of the
// generation that was published first to draw on.
func (w *widener) counters(pool []*resourcev1.ResourceSlice) {
	for _, s := range pool {
		if len(s.Spec.SharedCounters) > 0 {
			return
		}
	}
	first := pool[0].DeepCopy()
	set := pick(&w.maker, "set", "set", "own")
	for _, s := range pool {
		if s.Spec.Pool.Generation != first.Spec.Pool.Generation {
			continue
		}
		s.Spec.Pool.ResourceSliceCount++
		for i := range s.Spec.Devices {
			if w.chance(80) {
				s.Spec.Devices[i].ConsumesCounters = []resourcev1.DeviceCounterConsumption{{CounterSet: set, Counters: map[string]resourcev1.Counter{
					"slices": {Value: *resource.NewQuantity(int64(w.between(1, 3)), resource.DecimalSI)},
				}}}
			}
		}
	}
	s := first
	s.ObjectMeta = w.meta("", first.Name+"-counters", nil)
	s.Spec.Pool.ResourceSliceCount++
	s.Spec.Devices, s.Spec.SharedCounters = nil, []resourcev1.CounterSet{{Name: set, Counters: map[string]resourcev1.Counter{
		"slices": {Value: *resource.NewQuantity(int64(w.between(1, 5)), resource.DecimalSI)},
	}}}
	w.objs = append(w.objs, s)
}

func (w *widener) device(d *resourcev1.Device, driver string, other bool) {
	if other && w.chance(60) {
		d.ConsumesCounters = append(d.ConsumesCounters, resourcev1.DeviceCounterConsumption{CounterSet: "other", Counters: map[string]resourcev1.Counter{
			"slices": {Value: *resource.NewQuantity(int64(w.between(1, 2)), resource.DecimalSI)},
		}})
	}
	if w.on["wide bandwidth"] && d.Capacity != nil {
		c := resourcev1.DeviceCapacity{Value: resource.MustParse(pick(&w.maker, "10G", "40G", "16G"))}
		if d.AllowMultipleAllocations != nil {
			c.RequestPolicy = w.policy()
		}
		d.Capacity["bandwidth"] = c
	}
	if w.on["wide attributes"] {
		for _, name := range []resourcev1.QualifiedName{"model", "index", "version", "fast"} {
			a, ok := d.Attributes[name]
			if !ok || !w.chance(35) {
				continue
			}
			delete(d.Attributes, name)
			if w.chance(40) { // the same name, of another type
				text := pick(&w.maker, "1", "2.0.0", "true")
				a = resourcev1.DeviceAttribute{StringValue: &text}
			}
			d.Attributes[pick(&w.maker, name, resourcev1.QualifiedName(driver)+"/"+name)] = a
		}
	}
	if w.on["wide bindings"] && len(d.BindingConditions) > 0 {
		d.BindingConditions = append(d.BindingConditions, "example.com/warm")
		if w.chance(40) {
			d.BindingFailureConditions = append(d.BindingFailureConditions, "example.com/burnt")
		}
	}
}

// policy leaves out what may be left out.
func (w *widener) policy() *resourcev1.CapacityRequestPolicy {
	def, least, most, step := resource.MustParse("1G"), resource.MustParse("1G"), resource.MustParse("9G"), resource.MustParse("2G")
	switch w.IntN(4) {
	case 0:
		return nil
	case 1:
		return &resourcev1.CapacityRequestPolicy{Default: &def, ValidRange: &resourcev1.CapacityRequestPolicyRange{Min: &least}}
	case 2:
		return &resourcev1.CapacityRequestPolicy{Default: &def, ValidRange: &resourcev1.CapacityRequestPolicyRange{Min: &least, Max: &most}}
	}
	return &resourcev1.CapacityRequestPolicy{Default: &def, ValidRange: &resourcev1.CapacityRequestPolicyRange{Min: &least, Step: &step}}
}

func (w *widener) claim(c *resourcev1.ResourceClaim) {
	var names []string
	for i := range c.Spec.Devices.Requests {
		r := &c.Spec.Devices.Requests[i]
		names = append(names, r.Name)
		if r.Exactly != nil {
			w.asks(&r.Exactly.Capacity, &r.Exactly.Tolerations)
		}
		for k := range r.FirstAvailable {
			w.asks(&r.FirstAvailable[k].Capacity, &r.FirstAvailable[k].Tolerations)
			names = append(names, r.Name+"/"+r.FirstAvailable[k].Name)
		}
	}
	if !w.on["wide constraints"] || !w.chance(70) || c.Status.Allocation != nil {
		return
	}
	for range w.between(1, 2) {
		a := resourcev1.FullyQualifiedName(pick(&w.maker, "gpu.example.com/version", "gpu.example.com/model", "gpu.example.com/index", "nic.example.com/fast", "shared.example.com/numa"))
		k := resourcev1.DeviceConstraint{MatchAttribute: &a}
		if w.chance(50) {
			k = resourcev1.DeviceConstraint{DistinctAttribute: &a}
		}
		if w.chance(60) {
			w.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
			k.Requests = append(k.Requests, names[:w.between(1, min(2, len(names)))]...)
		}
		c.Spec.Devices.Constraints = append(c.Spec.Devices.Constraints, k)
	}
}

// asks widens what a request says of capacity and taints.
func (w *widener) asks(capacity **resourcev1.CapacityRequirements, tolerations *[]resourcev1.DeviceToleration) {
	if w.on["wide bandwidth"] && w.chance(50) {
		if *capacity == nil {
			*capacity = &resourcev1.CapacityRequirements{Requests: map[resourcev1.QualifiedName]resource.Quantity{}}
		}
		(*capacity).Requests["bandwidth"] = resource.MustParse(pick(&w.maker, "500M", "1G", "2G", "4G", "8G", "12G", "40G"))
	}
	if w.on["wide tolerations"] && w.chance(60) {
		t := resourcev1.DeviceToleration{
			Key: pick(&w.maker, "example.com/sick", "example.com/slow"), Operator: pick(&w.maker, "", resourcev1.DeviceTolerationOpEqual), Value: pick(&w.maker, "", "very", "not"),
			Effect: pick(&w.maker, "", resourcev1.DeviceTaintEffectNoSchedule, resourcev1.DeviceTaintEffectNoExecute),
		}
		if w.chance(25) {
			t.Operator, t.Value = resourcev1.DeviceTolerationOpExists, ""
		}
		*tolerations = append(*tolerations, t)
	}
}
