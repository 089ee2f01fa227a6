package devices

import (
	"fmt"
	"slices"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"
)

// constraint is a claim's constraint while devices come and go. add says whether
// a device may join those that are there, and lets it join; whatever was added
// last is removed first.
type constraint interface {
	add(r *request, d *device) bool
	remove(r *request)
}

// constraintsOf reads a claim's constraints.
func constraintsOf(c *resourcev1.ResourceClaim) ([]constraint, error) {
	out := make([]constraint, 0, len(c.Spec.Devices.Constraints))
	for i := range c.Spec.Devices.Constraints {
		k := &c.Spec.Devices.Constraints[i]
		switch {
		case k.MatchAttribute != nil:
			out = append(out, &same{about: about{k.Requests, string(*k.MatchAttribute)}})
		case k.DistinctAttribute != nil:
			out = append(out, &distinct{about: about{k.Requests, string(*k.DistinctAttribute)}, last: map[string]*resourcev1.DeviceAttribute{}})
		default:
			return nil, fmt.Errorf("claim %s/%s, constraint #%d: empty constraint (unsupported constraint type?)", c.Namespace, c.Name, i)
		}
	}
	return out, nil
}

// about is what a constraint is about: some requests, or alternatives, or all of
// a claim, and an attribute.
type about struct {
	requests  []string
	attribute string
}

func (a *about) concerns(r *request) bool {
	if len(a.requests) == 0 || slices.Contains(a.requests, r.base()) {
		return true
	}
	return r.alternative() != "" && slices.Contains(a.requests, r.full())
}

// of finds the attribute: by its full name, or by its name alone if the domain is
// the device's driver.
func (a *about) of(d *device) *resourcev1.DeviceAttribute {
	if v, ok := d.Attributes[resourcev1.QualifiedName(a.attribute)]; ok {
		return &v
	}
	domain, name, qualified := strings.Cut(a.attribute, "/")
	if !qualified || domain != d.slice.Spec.Driver {
		return nil
	}
	if v, ok := d.Attributes[resourcev1.QualifiedName(name)]; ok {
		return &v
	}
	return nil
}

// equal compares values of one type; known is false for types that constraints
// do not know, such as lists.
func equal(a, b *resourcev1.DeviceAttribute) (same, known bool) {
	switch {
	case a.StringValue != nil:
		return b.StringValue != nil && *a.StringValue == *b.StringValue, true
	case a.IntValue != nil:
		return b.IntValue != nil && *a.IntValue == *b.IntValue, true
	case a.BoolValue != nil:
		return b.BoolValue != nil && *a.BoolValue == *b.BoolValue, true
	case a.VersionValue != nil:
		return b.VersionValue != nil && *a.VersionValue == *b.VersionValue, true
	}
	return false, false
}

// same wants one value on all devices
// (structured/internal/incubating matchAttributeConstraint).
type same struct {
	about
	value *resourcev1.DeviceAttribute
	n     int
}

func (k *same) add(r *request, d *device) bool {
	if !k.concerns(r) {
		return true
	}
	v := k.of(d)
	if v == nil {
		return false
	}
	if k.n == 0 {
		k.value, k.n = v, 1
		return true
	}
	if ok, known := equal(v, k.value); !known || !ok {
		return false
	}
	k.n++
	return true
}

func (k *same) remove(r *request) {
	if k.concerns(r) {
		k.n--
	}
}

// distinct wants values to differ. Of several devices of one request it
// remembers the last alone, as upstream does, so that they differ from other
// requests' and from the one before, and not each from each
// (structured/internal/incubating distinctAttributeConstraint).
type distinct struct {
	about
	last map[string]*resourcev1.DeviceAttribute // by request
	n    int
}

func (k *distinct) add(r *request, d *device) bool {
	if !k.concerns(r) {
		return true
	}
	v := k.of(d)
	if v == nil {
		return false
	}
	if k.n > 0 {
		for _, other := range k.last {
			if ok, known := equal(v, other); !known || ok {
				return false
			}
		}
	}
	k.last[r.base()] = v
	k.n++
	return true
}

func (k *distinct) remove(r *request) {
	if k.concerns(r) {
		delete(k.last, r.base())
		k.n--
	}
}
