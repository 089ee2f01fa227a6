package devices

// offer is a device as one search sees it. Within what a node reaches no two bear
// one name, since that makes a pool invalid.
type offer struct {
	*device
	pool    int32 // its place among the search's pools
	held    bool  // allocated to another claim alone
	users   int32 // claims that it was given to just now
	room    *room
	account *account // that its counters are taken of, once any were; and
	draws   []draw   // what it takes
}

// cursor is a place in the order of devices.
type cursor struct{ pool, slice, device int }

// lists says whether there is an ith device, having listed so many. Most searches
// end with the first few.
func (s *search) lists(i int) bool {
	for len(s.offers) <= i {
		at := &s.ahead
		switch {
		case at.pool == len(s.pools):
			return false
		case at.slice == len(s.pools[at.pool].slices):
			*at = cursor{pool: at.pool + 1}
		case at.device == len(s.pools[at.pool].slices[at.slice].devices):
			*at = cursor{pool: at.pool, slice: at.slice + 1}
		default:
			d := &s.pools[at.pool].slices[at.slice].devices[at.device]
			s.offers = append(s.offers, offer{device: d, pool: int32(at.pool), held: s.inv.held.whole[d.id]})
			at.device++
		}
	}
	return true
}

// verdicts of a request on an offer, whatever else is given out.
const (
	unjudged uint8 = iota
	unsuited
	suited
)

// suits says what can be said of a device before anything is given out: whether
// the request selects it and nobody holds it, it has room by itself, and its
// taints are tolerated. Of a device that somebody holds nothing is asked, so that
// no selector fails on it.
func (s *search) suits(r *request, i int) (bool, error) {
	for len(r.verdicts) <= i {
		r.verdicts = append(r.verdicts, unjudged)
	}
	if v := r.verdicts[i]; v != unjudged {
		return v == suited, nil
	}
	d, held := s.offers[i].device, s.offers[i].held
	ok := r.admin || !held
	if ok {
		var err error
		if ok, err = s.selectable(r, d); err != nil {
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

// look goes on through the node's devices until one more may do for the request,
// and says whether one does. A device that the search itself has given away is
// left to be asked about when it is free: upstream asks no selector before.
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
	return false, nil
}

// given says that the search itself gave the device away, so that the request
// cannot have it as well.
func (s *search) given(claim int, r *request, i int) bool {
	if !r.admin {
		return s.inUse(i)
	}
	if s.offers[i].users == 0 {
		return false
	}
	for _, t := range s.taken[claim] {
		if int(t.offer) == i {
			return true
		}
	}
	return false
}

// inUse says that a claim was given the device just now.
func (s *search) inUse(i int) bool {
	return s.offers[i].users > 0
}

// stride is how many steps are taken between two looks at the context.
const stride = 1 << 10

// step counts a device that is looked at.
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
