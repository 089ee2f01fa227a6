package devices

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// balance is what allocated devices leave of a pool's counters.
type balance struct {
	place map[[2]string]int32 // by set and name
	left  []resource.Quantity // may be negative
	// overdrawn reports that some counter is negative, or that a device adds to a counter instead
	// of consuming it. Every allocation then checks all counters.
	overdrawn bool
	gives     bool
}

// consumption is what a device consumes of one counter.
type consumption struct {
	counter int32
	amount  resource.Quantity
}

// balanceOf returns a pool's balance, worked out once.
func (inv *Inventory) balanceOf(p *pool) *balance {
	p.balanceOnce.Do(func() {
		p.balance.place = map[[2]string]int32{}
		for set, counters := range p.counters {
			for name, c := range counters {
				p.balance.place[[2]string{set, name}] = int32(len(p.balance.left))
				p.balance.left = append(p.balance.left, c.Value.DeepCopy())
			}
		}
		for _, list := range [][]*slice{p.slices, p.others} {
			for _, sl := range list {
				for i := range sl.devices {
					d := &sl.devices[i]
					for _, w := range p.balance.consumptions(d) {
						if w.amount.Sign() < 0 {
							p.balance.overdrawn, p.balance.gives = true, true
						}
						if inv.consumes(d.id) {
							p.balance.left[w.counter].Sub(w.amount)
						}
					}
				}
			}
		}
		for i := range p.balance.left {
			p.balance.overdrawn = p.balance.overdrawn || p.balance.left[i].Sign() < 0
		}
	})
	return &p.balance
}

// consumptions lists what a device consumes of the counters. A valid pool has all counters that
// its own devices use. A counter that another pool's balance lacks is left out.
func (b *balance) consumptions(d *device) []consumption {
	out := []consumption{}
	for i := range d.ConsumesCounters {
		c := &d.ConsumesCounters[i]
		for name, n := range c.Counters {
			if at, ok := b.place[[2]string{c.CounterSet, name}]; ok {
				out = append(out, consumption{at, n.Value.DeepCopy()})
			}
		}
	}
	return out
}

// account is what a search consumes of counters. Pools of one name, which may belong to
// different drivers, share an account where upstream keeps counters by that name alone, those of
// the pool from which a device is allocated first. Upstream does so across all nodes; here each
// node is judged as if it were the first.
type account struct {
	of   *balance
	used []resource.Quantity
	all  bool // every allocation checks all counters
}

// opened returns the account of a pool. The first attempt to allocate opens it, even if it fails
// or is undone.
func (s *search) opened(p *pool) *account {
	if a := s.accounts[p.counts]; a != nil {
		return a
	}
	b := s.inv.balanceOf(p)
	a := &account{of: b, used: make([]resource.Quantity, len(b.left)), all: b.overdrawn}
	for _, o := range s.pools {
		a.all = a.all || o.counts == p.counts && s.inv.balanceOf(o).gives
	}
	if s.accounts == nil {
		s.accounts = map[string]*account{}
	}
	s.accounts[p.counts] = a
	return a
}

// contested reports whether it is still open whose counters the pools of one account use.
func (s *search) contested(p *pool) bool {
	if s.accounts[p.counts] != nil {
		return false
	}
	return slices.ContainsFunc(s.pools, func(o *pool) bool { return o != p && o.counts == p.counts && len(o.counters) > 0 })
}

// count consumes a device's counters if every counter of the account stays sufficient, whether
// the device uses it or not (structured/internal/incubating checkAvailableCounters).
func (s *search) count(i int) bool {
	o := &s.listed[i]
	if o.account == nil {
		o.account = s.opened(s.pools[o.pool])
		o.consumptions = o.account.of.consumptions(o.device)
	}
	b, used := o.account.of, o.account.used
	for k := range o.consumptions {
		used[o.consumptions[k].counter].Add(o.consumptions[k].amount)
	}
	enough := true
	if o.account.all {
		for c := range used {
			enough = enough && b.left[c].Cmp(used[c]) >= 0
		}
	} else {
		for k := range o.consumptions {
			c := o.consumptions[k].counter
			enough = enough && b.left[c].Cmp(used[c]) >= 0
		}
	}
	if !enough {
		s.uncount(i)
	}
	return enough
}

func (s *search) uncount(i int) {
	o := &s.listed[i]
	used := o.account.used
	for k := range o.consumptions {
		used[o.consumptions[k].counter].Sub(o.consumptions[k].amount)
	}
}

// tolerated reports whether no taint keeps the device from being allocated. Upstream ignores
// other effects than these two as well.
func tolerated(d *device, by []resourcev1.DeviceToleration) bool {
	for i := range d.taints {
		t := &d.taints[i]
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

// tolerates matches like a toleration of a node's taint: an empty effect or key matches any,
// Exists matches any value (k8s.io/dynamic-resource-allocation/resourceclaim ToleratesTaint).
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
