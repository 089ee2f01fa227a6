package devices

import (
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

func (a amounts) sub(less amounts) {
	for name, n := range less {
		if q, ok := a[name]; ok {
			q = q.DeepCopy()
			q.Sub(n)
			a[name] = q
		}
	}
}

// share is what a request takes of a device: of each capacity what it asks for,
// as the capacity's policy rounds it, or else the policy's default, or all of it
// (structured/internal/incubating GetConsumedCapacityFromRequest).
func share(d *device, asked *resourcev1.CapacityRequirements) amounts {
	out := amounts{}
	for name, c := range d.Capacity {
		want, some := requested(asked, name)
		out[name] = consumed(want, some, &c)
	}
	return out
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

// roomFor says whether what a request takes of a device is allowed and still
// there beside what others hold and what was given out before. It is asked of all
// devices: one that is not shared has room for its policy's default at least
// (structured/internal/incubating CmpRequestOverCapacity).
func (s *search) roomFor(d *device, asked *resourcev1.CapacityRequirements) bool {
	if d.plain && asked == nil && s.inv.held.capacity[d.id] == nil {
		return true
	}
	if asked != nil {
		for name := range asked.Requests {
			if _, ok := d.Capacity[name]; !ok {
				return false
			}
		}
	}
	for name, c := range d.Capacity {
		want, some := requested(asked, name)
		sum := consumed(want, some, &c)
		if forbidden(&sum, c.RequestPolicy) {
			return false
		}
		if q, ok := s.inv.held.capacity[d.id][name]; ok {
			sum.Add(q)
		}
		if q, ok := s.shares[d.id][name]; ok {
			sum.Add(q)
		}
		if sum.Cmp(c.Value) > 0 {
			return false
		}
	}
	return true
}

// forbidden says that a policy does not allow an amount.
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
