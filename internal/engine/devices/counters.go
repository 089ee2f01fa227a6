package devices

import (
	"slices"

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

// draws lists what a device takes of the book's counters. A valid pool has all
// that its own devices use; what another pool's book lacks is not kept.
func (b *book) draws(d *device) []draw {
	out := []draw{}
	for i := range d.ConsumesCounters {
		c := &d.ConsumesCounters[i]
		for name, n := range c.Counters {
			if at, ok := b.place[[2]string{c.CounterSet, name}]; ok {
				out = append(out, draw{at, n.Value.DeepCopy()})
			}
		}
	}
	return out
}

// account is what a search takes of counters. Pools of one name, which different
// drivers may have, are one account: upstream keeps counters by that name alone,
// those of whichever pool a device is taken of first. It does so for all nodes at
// once; here each node is judged as if it were the first.
type account struct {
	of   *book
	used []resource.Quantity
	all  bool // every take has all counters looked at
}

// opened gives the account of a pool. What opens it is the first take, even if it
// fails or is undone.
func (s *search) opened(p *pool) *account {
	if a := s.accounts[p.name]; a != nil {
		return a
	}
	b := p.booked(&s.inv.held)
	a := &account{of: b, used: make([]resource.Quantity, len(b.left)), all: b.overdrawn}
	for _, o := range s.pools {
		a.all = a.all || o.name == p.name && o.booked(&s.inv.held).gives
	}
	if s.accounts == nil {
		s.accounts = map[string]*account{}
	}
	s.accounts[p.name] = a
	return a
}

// contested says that it is not settled yet whose counters the pools of this
// one's name go by.
func (s *search) contested(p *pool) bool {
	if s.accounts[p.name] != nil {
		return false
	}
	return slices.ContainsFunc(s.pools, func(o *pool) bool { return o != p && o.name == p.name && len(o.counters) > 0 })
}

// count takes a device's counters if there is still enough of every counter of
// the account then, whether the device uses it or not
// (structured/internal/incubating checkAvailableCounters).
func (s *search) count(i int) bool {
	o := &s.offers[i]
	if o.account == nil {
		o.account = s.opened(s.pools[o.pool])
		o.draws = o.account.of.draws(o.device)
	}
	b, used := o.account.of, o.account.used
	for k := range o.draws {
		used[o.draws[k].counter].Add(o.draws[k].amount)
	}
	enough := true
	if o.account.all {
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
	used := o.account.used
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
