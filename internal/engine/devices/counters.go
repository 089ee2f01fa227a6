package devices

import (
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// counterSets are amounts of counters, by set and name.
type counterSets map[string]map[string]resource.Quantity

func (c counterSets) change(of []resourcev1.DeviceCounterConsumption, add bool) {
	for i := range of {
		set := c[of[i].CounterSet]
		if set == nil {
			set = map[string]resource.Quantity{}
			c[of[i].CounterSet] = set
		}
		for name, n := range of[i].Counters {
			q := set[name].DeepCopy()
			if add {
				q.Add(n.Value)
			} else {
				q.Sub(n.Value)
			}
			set[name] = q
		}
	}
}

// available is what allocated devices leave of a pool's counters; it may be
// less than nothing.
func (p *pool) available(h *held) counterSets {
	p.left.Do(func() {
		p.leftOver = counterSets{}
		for name, set := range p.counters {
			p.leftOver[name] = map[string]resource.Quantity{}
			for counter, c := range set {
				p.leftOver[name][counter] = c.Value.DeepCopy()
			}
		}
		for _, list := range [][]*slice{p.slices, p.others} {
			for _, sl := range list {
				for i := range sl.devices {
					if d := &sl.devices[i]; h.any(d.id) {
						p.leftOver.change(d.ConsumesCounters, false)
					}
				}
			}
		}
	})
	return p.leftOver
}

// count takes a device's counters if the whole pool still has enough of every
// counter then, whether the device uses it or not
// (structured/internal/incubating checkAvailableCounters).
func (s *search) count(p *pool, d *device) bool {
	taken := s.counters[p]
	if taken == nil {
		if s.counters == nil {
			s.counters = map[*pool]counterSets{}
		}
		taken = counterSets{}
		s.counters[p] = taken
	}
	taken.change(d.ConsumesCounters, true)
	for set, counters := range p.available(&s.inv.held) {
		for name, have := range counters {
			if have.Cmp(taken[set][name]) < 0 {
				taken.change(d.ConsumesCounters, false)
				return false
			}
		}
	}
	return true
}

// tolerated says that no taint keeps the device from being allocated. Effects
// other than the two are none to upstream either.
func tolerated(d *device, by []resourcev1.DeviceToleration) bool {
	for i := range d.Taints {
		t := &d.Taints[i]
		if t.Effect != resourcev1.DeviceTaintEffectNoSchedule && t.Effect != resourcev1.DeviceTaintEffectNoExecute {
			continue
		}
		ok := false
		for k := range by {
			ok = ok || tolerates(&by[k], t)
		}
		if !ok {
			return false
		}
	}
	return true
}

// tolerates matches as tolerations of nodes' taints do: an empty effect or key
// stands for any, Exists for any value
// (k8s.io/dynamic-resource-allocation/resourceclaim ToleratesTaint).
func tolerates(o *resourcev1.DeviceToleration, t *resourcev1.DeviceTaint) bool {
	if o.Effect != "" && o.Effect != t.Effect || o.Key != "" && o.Key != t.Key {
		return false
	}
	switch corev1.TolerationOperator(o.Operator) {
	case corev1.TolerationOpExists:
		return true
	case "", corev1.TolerationOpEqual:
		return o.Value == t.Value
	}
	return false
}
