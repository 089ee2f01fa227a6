package devices

import (
	"fmt"
	"slices"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"
)

// constraint is a claim's constraint during a search: all its devices have one value of an
// attribute, or all have different ones. add reports whether a device satisfies it together with
// those added before, and adds it. Devices are removed in reverse order.
type constraint struct {
	about
	n     int
	value *resourcev1.DeviceAttribute   // of all
	last  []*resourcev1.DeviceAttribute // where values are to differ: by request, or those of all
	all   bool                          // last are those of all
	any   bool                          // any two values differ
	known []lookup                      // by index of the listed device
}

// lookup is a remembered attribute.
type lookup struct {
	done  bool
	value *resourcev1.DeviceAttribute
}

// constraintsOf reads a claim's constraints.
func (as *Behaviour) constraintsOf(c *resourcev1.ResourceClaim) ([]constraint, error) {
	out := make([]constraint, 0, len(c.Spec.Devices.Constraints))
	for i := range c.Spec.Devices.Constraints {
		k := &c.Spec.Devices.Constraints[i]
		switch {
		case k.MatchAttribute != nil:
			out = append(out, constraint{about: about{k.Requests, string(*k.MatchAttribute)}})
		case k.DistinctAttribute != nil && !as.plain:
			last := make([]*resourcev1.DeviceAttribute, len(c.Spec.Devices.Requests))
			if as.distinctFromAll {
				last = last[:0]
			}
			out = append(out, constraint{about: about{k.Requests, string(*k.DistinctAttribute)}, last: last, all: as.distinctFromAll, any: as.distinctByAddress})
		default:
			return nil, fmt.Errorf("claim %s/%s, constraint #%d: empty constraint (unsupported constraint type?)", c.Namespace, c.Name, i)
		}
	}
	return out, nil
}

// about is the scope of a constraint: some requests or alternatives, or all of a claim, and an
// attribute.
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

// of returns the attribute: by its full name, or by its name alone if the domain is the device's
// driver.
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

// valueOf is of, looked up once.
func (k *constraint) valueOf(i int, d *device) *resourcev1.DeviceAttribute {
	if i >= len(k.known) {
		k.known = append(k.known, make([]lookup, i+1-len(k.known))...)
	}
	l := &k.known[i]
	if !l.done {
		*l = lookup{true, k.of(d)}
	}
	return l.value
}

// distinct reports whether values have to differ.
func (k *constraint) distinct() bool { return k.last != nil }

// add is called for requests that the constraint concerns. Where values have to differ, it may
// keep only the last value of each request, as upstream did: devices then differ from those of
// other requests and from the one before, but not each from each (structured/internal/incubating
// matchAttributeConstraint, distinctAttributeConstraint).
func (k *constraint) add(r *request, i int, d *device) bool {
	v := k.valueOf(i, d)
	if v == nil {
		return false
	}
	if k.distinct() {
		if k.n > 0 {
			for _, other := range k.last {
				if other == nil {
					continue
				}
				if ok, known := equal(v, other); !known || ok && !k.any {
					return false
				}
			}
		}
		if k.all {
			k.last = append(k.last, v)
		} else {
			k.last[r.slot] = v
		}
	} else {
		if k.n == 0 {
			k.value = v
		} else if ok, known := equal(v, k.value); !known || !ok {
			return false
		}
	}
	k.n++
	return true
}

// remove forgets the request's last value, and with it the request's earlier devices, where
// upstream keeps no others.
func (k *constraint) remove(r *request) {
	switch {
	case k.all:
		k.last = k.last[:len(k.last)-1]
	case k.distinct():
		k.last[r.slot] = nil
	}
	k.n--
}
