package devices

import "fmt"

// listedDevice is a device in one search. Among those that a node reaches, names are unique:
// duplicates make a pool invalid.
type listedDevice struct {
	*device
	pool         int32 // its index among the search's pools
	held         bool  // allocated to another claim alone
	users        int32 // claims to which this search allocated it
	capacities   *capacities
	account      *account      // the account of its counters, once any were consumed
	consumptions []consumption // what it consumes
}

// cursor is a position in the order of devices.
type cursor struct{ pool, slice, device int }

// lists reports whether there is an ith device, listing as many as needed. Most searches end with
// the first few.
func (s *search) lists(i int) bool {
	for len(s.listed) <= i {
		at := &s.ahead
		switch {
		case at.pool == len(s.pools) || s.inv.as.invalidPoolsFail && s.pools[at.pool].invalid != "":
			return false
		case at.slice == len(s.pools[at.pool].slices):
			*at = cursor{pool: at.pool + 1}
		case at.device == len(s.pools[at.pool].slices[at.slice].devices):
			*at = cursor{pool: at.pool, slice: at.slice + 1}
		default:
			d := &s.pools[at.pool].slices[at.slice].devices[at.device]
			s.listed = append(s.listed, listedDevice{device: d, pool: int32(at.pool), held: s.inv.held.whole[d.id]})
			at.device++
		}
	}
	return true
}

// verdicts of a request on a device, whatever else is allocated.
const (
	unjudged uint8 = iota
	unsuited
	suited
)

// suits reports whether the device can serve the request before anything is allocated: the request
// selects it, no claim holds it, its capacity is enough and its taints are tolerated. The selectors
// of a held device are not evaluated, so that none fails on it.
func (s *search) suits(r *request, i int) (bool, error) {
	for len(r.verdicts) <= i {
		r.verdicts = append(r.verdicts, unjudged)
	}
	if v := r.verdicts[i]; v != unjudged {
		return v == suited, nil
	}
	d, held := s.listed[i].device, s.listed[i].held
	ok := r.admin || !held
	if ok {
		var err error
		if ok, err = s.selectable(r, i, nil); err != nil {
			return false, err
		}
		if ok {
			err = s.checked(r, i, s.inv.names[d.id].String())
		}
		if err != nil {
			return false, err
		}
		ok = ok && s.allowed(r, i) && tolerated(d, r.tolerations)
	}
	r.verdicts[i] = unsuited
	if ok {
		r.verdicts[i] = suited
	}
	return ok, nil
}

// look lists the node's devices until one more can serve the request, and reports whether one does.
// A device that this search has allocated is judged once it is free again: upstream evaluates no
// selector before.
func (s *search) look(claim int, r *request) (bool, error) {
	for s.lists(r.looked) {
		i := r.looked
		r.looked++
		if err := s.step(); err != nil {
			return false, err
		}
		ok := s.given(claim, r, i)
		if !ok {
			var err error
			if ok, err = s.suits(r, i); err != nil {
				return false, err
			}
		}
		if ok {
			r.list = append(r.list, int32(i))
			return true, nil
		}
	}
	return false, s.invalid()
}

// invalid returns an error where the devices end at an invalid pool.
func (s *search) invalid() error {
	if s.ahead.pool == len(s.pools) || !s.inv.as.invalidPoolsFail {
		return nil
	}
	p := s.pools[s.ahead.pool]
	return fmt.Errorf("pool %s is invalid: %s", p.name, p.invalid)
}

// given reports whether this search has allocated the device such that the request cannot have it
// as well.
func (s *search) given(claim int, r *request, i int) bool {
	if !r.admin {
		return s.inUse(i)
	}
	if s.listed[i].users == 0 {
		return false
	}
	for _, t := range s.taken[claim] {
		if int(t.index) == i {
			return true
		}
	}
	return false
}

// inUse reports whether this search has allocated the device.
func (s *search) inUse(i int) bool {
	return s.listed[i].users > 0
}

// stride is the number of steps between two checks of the context.
const stride = 1 << 10

// step counts a device that is tried.
func (s *search) step() error {
	if s.left--; s.left < 0 {
		return ErrGaveUp
	}
	if s.left%stride == 0 {
		if err := s.ctx.Err(); err != nil {
			return stopped(err)
		}
	}
	return nil
}
