package devices

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// amounts are amounts of a device's capacity, by its name.
type amounts map[resourcev1.QualifiedName]resource.Quantity

func (a amounts) add(more amounts) {
	for name, n := range more {
		q := a[name].DeepCopy()
		q.Add(n)
		a[name] = q
	}
}

func requested(asked *resourcev1.CapacityRequirements, name resourcev1.QualifiedName) (q resource.Quantity, ok bool) {
	if asked == nil {
		return q, false
	}
	q, ok = asked.Requests[name]
	return q, ok
}

func consumed(want resource.Quantity, some bool, c *resourcev1.DeviceCapacity) resource.Quantity {
	policy := c.RequestPolicy
	switch {
	case !some && policy != nil && policy.Default != nil:
		return policy.Default.DeepCopy()
	case !some:
		return c.Value.DeepCopy()
	case policy == nil:
	case policy.ValidRange != nil && policy.ValidRange.Min != nil:
		return upTo(want, policy.ValidRange)
	case policy.ValidValues != nil:
		for _, v := range policy.ValidValues {
			if want.Cmp(v) <= 0 {
				return v.DeepCopy()
			}
		}
	}
	return want.DeepCopy()
}

// upTo rounds up to the range's next step, counted from its least value.
func upTo(want resource.Quantity, r *resourcev1.CapacityRequestPolicyRange) resource.Quantity {
	if want.Cmp(*r.Min) < 0 {
		return r.Min.DeepCopy()
	}
	if r.Step == nil || r.Step.Value() == 0 {
		return want.DeepCopy()
	}
	least, step := r.Min.Value(), r.Step.Value()
	n := want.Value() - least
	if n%step != 0 {
		n += step - n%step
	}
	return *resource.NewQuantity(least+n, resource.BinarySI)
}

// capacities are a device's capacities by name: the whole of each, and what is taken of it.
type capacities struct {
	names  []resourcev1.QualifiedName
	whole  []resource.Quantity
	taken  []resource.Quantity
	shares int // allocated by this search
}

func newCapacities(d *device, held amounts) *capacities {
	m := &capacities{}
	for name, c := range d.Capacity {
		q := held[name]
		m.names, m.whole, m.taken = append(m.names, name), append(m.whole, c.Value.DeepCopy()), append(m.taken, q.DeepCopy())
	}
	return m
}

// part is what a request takes of a device. Of each capacity that is the requested amount, rounded
// by the capacity's policy; without a request it is the policy's default, or all of it. It is nil
// where a requested capacity does not exist or the policy forbids the amount
// (structured/internal/incubating GetConsumedCapacityFromRequest).
func (m *capacities) part(d *device, asked *resourcev1.CapacityRequirements) []resource.Quantity {
	if asked != nil {
		for name := range asked.Requests {
			if _, ok := d.Capacity[name]; !ok {
				return nil
			}
		}
	}
	out := make([]resource.Quantity, len(m.names))
	for k, name := range m.names {
		c := d.Capacity[name]
		want, some := requested(asked, name)
		out[k] = consumed(want, some, &c)
		if forbidden(&out[k], c.RequestPolicy) {
			return nil
		}
	}
	return out
}

// Errors about amounts, in upstream's words.
var (
	errTooLarge = errors.New("capacity request cannot be represented in the device's range arithmetic")
	errNegative = errors.New("capacity value is negative")
)

// badAmount returns what is wrong with the amounts that a request would take of a device, of the
// first capacity by name; nil where nothing is, or where the device lacks a capacity
// (structured/internal/incubating CmpRequestOverCapacity).
func badAmount(d *device, asked *resourcev1.CapacityRequirements) error {
	if asked != nil {
		for name := range asked.Requests {
			if _, ok := d.Capacity[name]; !ok {
				return nil
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(d.Capacity)) {
		c := d.Capacity[name]
		want, some := requested(asked, name)
		err := tooLarge(want, some, c.RequestPolicy)
		if part := consumed(want, some, &c); err == nil && part.Sign() < 0 {
			err = errNegative
		}
		if err != nil {
			return fmt.Errorf("capacity %q: %w", name, err)
		}
	}
	return nil
}

// rounding is the range by whose steps a policy rounds amounts up; nil where it rounds to none.
func rounding(policy *resourcev1.CapacityRequestPolicy) *resourcev1.CapacityRequestPolicyRange {
	if policy == nil || policy.ValidRange == nil || policy.ValidRange.Min == nil || policy.ValidRange.Step == nil {
		return nil
	}
	return policy.ValidRange
}

// tooLarge returns an error where an amount cannot be rounded up in 64 bits.
func tooLarge(want resource.Quantity, some bool, policy *resourcev1.CapacityRequestPolicy) error {
	r := rounding(policy)
	if !some || r == nil || want.Cmp(*r.Min) < 0 {
		return nil
	}
	if want.CmpInt64(math.MaxInt64) > 0 {
		return fmt.Errorf("%w: request %s exceeds MaxInt64", errTooLarge, want.String())
	}
	least, step := r.Min.Value(), r.Step.Value()
	if step == 0 {
		return nil
	}
	n := (want.Value() - least) / step
	if (want.Value()-least)%step != 0 {
		n++
	}
	if least >= 0 && n > (math.MaxInt64-least)/step {
		return fmt.Errorf("%w: rounding request %s up to the next step passes MaxInt64", errTooLarge, want.String())
	}
	return nil
}

// partOf is part, worked out once.
func (s *search) partOf(r *request, i int) []resource.Quantity {
	part, ok := r.parts[i]
	if ok {
		return part
	}
	o := &s.listed[i]
	if o.capacities == nil {
		o.capacities = newCapacities(o.device, s.inv.held.capacity[o.id])
	}
	if r.parts == nil {
		r.parts = map[int][]resource.Quantity{}
	}
	part = o.capacities.part(o.device, r.capacity)
	r.parts[i] = part
	return part
}

// boundless reports whether a device always has enough capacity for the request, whatever else is
// allocated.
func (s *search) boundless(r *request, i int) bool {
	d := s.listed[i].device
	return d.plain && r.capacity == nil && s.inv.held.capacity[d.id] == nil
}

// allowed reports whether the request could have a part of the device if all of it were free.
func (s *search) allowed(r *request, i int) bool {
	if s.listed[i].multi {
		return s.partOf(r, i) != nil
	}
	return s.capacityFor(r, i)
}

// checked returns an error where the request's amounts cannot be taken of the device, or of any. It
// is for the request of a claim on a named device.
func (s *search) checked(r *request, i int, device string) error {
	if !s.inv.as.badAmountsFail || s.boundless(r, i) {
		return nil
	}
	if err := badAmount(s.listed[i].device, r.capacity); err != nil {
		return fmt.Errorf("claim %s, request %s: checking capacity for device %s: %w", r.claim, r.name, device, err)
	}
	return nil
}

// whole reports whether the device has enough capacity for the request where none of it is taken.
func (s *search) whole(r *request, i int) bool {
	if s.boundless(r, i) {
		return true
	}
	part := s.partOf(r, i)
	for k := range part {
		if part[k].Cmp(s.listed[i].capacities.whole[k]) > 0 {
			return false
		}
	}
	return part != nil
}

// capacityFor reports whether the device has enough capacity left for the request, beside what
// other claims hold and what this search allocated. It is checked for all devices: one that is not
// shared has at least its policy's default (structured/internal/incubating CmpRequestOverCapacity).
func (s *search) capacityFor(r *request, i int) bool {
	if s.boundless(r, i) {
		return true
	}
	part := s.partOf(r, i)
	if part == nil {
		return false
	}
	m := s.listed[i].capacities
	for k := range part {
		sum := part[k].DeepCopy()
		sum.Add(m.taken[k])
		if sum.Cmp(m.whole[k]) > 0 {
			return false
		}
	}
	return true
}

// shared reports whether part of a device is taken.
func (s *search) shared(i int) bool {
	if m := s.listed[i].capacities; m != nil && m.shares > 0 {
		return true
	}
	id := s.listed[i].id
	_, before := s.inv.held.capacity[id]
	return before || s.inv.as.sharesUseCounters && s.inv.held.parts[id]
}

// share allocates the request's part of a device, or takes it back.
func (s *search) share(r *request, i int, give bool) {
	part, m := s.partOf(r, i), s.listed[i].capacities
	for k := range part {
		if give {
			m.taken[k].Add(part[k])
		} else {
			m.taken[k].Sub(part[k])
		}
	}
	if give {
		m.shares++
	} else {
		m.shares--
	}
}

// forbidden reports whether a policy does not allow an amount.
func forbidden(n *resource.Quantity, policy *resourcev1.CapacityRequestPolicy) bool {
	switch {
	case policy == nil || policy.Default != nil && *n == *policy.Default:
		return false
	case policy.ValidRange != nil:
		r := policy.ValidRange
		if r.Max != nil && n.Cmp(*r.Max) > 0 {
			return true
		}
		return r.Step != nil && r.Min != nil && r.Step.Value() != 0 && (n.Value()-r.Min.Value())%r.Step.Value() != 0
	case len(policy.ValidValues) > 0:
		for _, v := range policy.ValidValues {
			if n.Cmp(v) == 0 {
				return false
			}
		}
		return true
	}
	return false
}
