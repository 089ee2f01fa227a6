package devices

import (
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// book is what allocated devices leave of a pool's counters.
type book struct {
	place map[[2]string]int32 // by set and name
	left  []resource.Quantity // may be less than nothing
	// overdrawn says that some counter is below nothing, or that a device gives
	// instead of taking: then every take has all of them looked at.
	overdrawn bool
	gives     bool
}

// draw is what a device takes of one counter.
type draw struct {
	counter int32
	amount  resource.Quantity
}

// booked gives a pool's book, worked out at first.
func (p *pool) booked(h *held) *book {
	p.booking.Do(func() {
		p.book.place = map[[2]string]int32{}
		for set, counters := range p.counters {
			for name, c := range counters {
				p.book.place[[2]string{set, name}] = int32(len(p.book.left))
				p.book.left = append(p.book.left, c.Value.DeepCopy())
			}
		}
		for _, list := range [][]*slice{p.slices, p.others} {
			for _, sl := range list {
				for i := range sl.devices {
					d := &sl.devices[i]
					for _, w := range p.book.draws(d) {
						if w.amount.Sign() < 0 {
							p.book.overdrawn, p.book.gives = true, true
						}
						if h.any(d.id) {
							p.book.left[w.counter].Sub(w.amount)
						}
					}
				}
			}
		}
		for i := range p.book.left {
			p.book.overdrawn = p.book.overdrawn || p.book.left[i].Sign() < 0
		}
	})
	return &p.book
}

// draws lists what a device takes of the pool's counters, all of which are there
// in a valid pool.
func (b *book) draws(d *device) []draw {
	out := []draw{}
	for i := range d.ConsumesCounters {
		c := &d.ConsumesCounters[i]
		for name, n := range c.Counters {
			out = append(out, draw{b.place[[2]string{c.CounterSet, name}], n.Value.DeepCopy()})
		}
	}
	return out
}

// count takes a device's counters if the whole pool still has enough of every
// counter then, whether the device uses it or not
// (structured/internal/incubating checkAvailableCounters).
func (s *search) count(i int) bool {
	o := &s.offers[i]
	b := s.pools[o.pool].booked(&s.inv.held)
	if o.draws == nil {
		o.draws = b.draws(o.device)
	}
	used := s.used[o.pool]
	if used == nil {
		used = make([]resource.Quantity, len(b.left))
		s.used[o.pool] = used
	}
	for k := range o.draws {
		used[o.draws[k].counter].Add(o.draws[k].amount)
	}
	enough := true
	if b.overdrawn {
		for c := range used {
			enough = enough && b.left[c].Cmp(used[c]) >= 0
		}
	} else {
		for k := range o.draws {
			c := o.draws[k].counter
			enough = enough && b.left[c].Cmp(used[c]) >= 0
		}
	}
	if !enough {
		s.uncount(i)
	}
	return enough
}

func (s *search) uncount(i int) {
	o := &s.offers[i]
	used := s.used[o.pool]
	for k := range o.draws {
		used[o.draws[k].counter].Sub(o.draws[k].amount)
	}
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
