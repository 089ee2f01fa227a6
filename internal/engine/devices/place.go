package devices

import (
	"fmt"
	"slices"

	resourcev1 "k8s.io/api/resource/v1"

	"berth/internal/planted"
)

// outcome is what came of trying to fill the places from one on.
type outcome uint8

const (
	nothing outcome = iota
	done
	// tooMany says that the claim would get more devices than an allocation can
	// hold. Whoever sees it gives up at once instead of trying other devices, but
	// for alternatives that need fewer.
	tooMany
)

// spot is one device that is needed: the nth of an alternative of a request.
type spot struct{ claim, line, alternative, nth int }

// cursor is a place in the order of devices. Within a request devices are taken
// in that order only, since another order would be the same answer.
type cursor struct{ pool, slice, device int }

// place fills a spot and all that follow; chosen says that the alternative is
// settled. It backtracks as upstream does, step for step, so that it finds the
// same answer, and none where upstream finds none
// (structured/internal/incubating allocateOne).
func (s *search) place(at spot, chosen bool, from cursor) (outcome, error) {
	if at.claim == len(s.claims) {
		return done, nil
	}
	if at.line == len(s.lines[at.claim]) {
		out, err := s.place(spot{claim: at.claim + 1}, false, cursor{})
		if out == tooMany {
			out = nothing // earlier claims may leave this one an alternative with fewer
		}
		return out, err
	}
	l := &s.lines[at.claim][at.line]
	if l.choose && !chosen {
		return s.alternatives(at, l)
	}
	r := &l.of[at.alternative]
	all := r.mode == resourcev1.DeviceAllocationModeAll
	switch {
	case all && len(r.all) == 0:
		return nothing, nil
	case at.nth >= r.need:
		return s.place(spot{claim: at.claim, line: at.line + 1}, false, cursor{})
	case len(s.taken[at.claim])+r.need-at.nth > resourcev1.AllocationResultsMaxSize:
		return tooMany, nil
	case all:
		return s.placeAll(at, r, chosen)
	}
	return s.placeAny(at, r, chosen, from)
}

// alternatives tries them in order.
func (s *search) alternatives(at spot, l *line) (outcome, error) {
	never := true
	for i := range l.of {
		at.alternative = i
		out, err := s.place(at, true, cursor{})
		if err != nil {
			return nothing, err
		}
		if out == tooMany {
			continue
		}
		never = false
		if out == done {
			return done, nil
		}
	}
	if never {
		return tooMany, nil
	}
	return nothing, nil
}

// placeAll takes the devices of a request for all of them: each must be had.
func (s *search) placeAll(at spot, r *request, chosen bool) (outcome, error) {
	if s.left--; s.left < 0 {
		return nothing, ErrGaveUp
	}
	c := r.all[at.nth]
	undo, broken := s.take(at.claim, r, c)
	if broken {
		claim := s.claims[at.claim]
		return nothing, fmt.Errorf("claim %s/%s, request %s: cannot add device %s because a claim constraint would not be satisfied", claim.Namespace, claim.Name, r.name, s.inv.names[c.id])
	}
	if undo == nil {
		return nothing, nil
	}
	at.nth++
	out, err := s.place(at, chosen, cursor{})
	if err != nil || out != done {
		undo()
	}
	return out, err
}

// placeAny tries one device after the other.
func (s *search) placeAny(at spot, r *request, chosen bool, from cursor) (outcome, error) {
	next := at
	next.nth++
	for p := from.pool; p < len(s.pools); p++ {
		pool := s.pools[p]
		first := 0
		if p == from.pool {
			first = from.slice
		}
		for k := first; k < len(pool.slices); k++ {
			sl := pool.slices[k]
			i := 0
			if p == from.pool && k == from.slice {
				i = from.device
			}
			for ; i < len(sl.devices); i++ {
				d := &sl.devices[i]
				if s.left--; s.left < 0 {
					return nothing, ErrGaveUp
				}
				ok, err := s.usable(at.claim, r, d)
				if err != nil {
					return nothing, err
				}
				if !ok {
					continue
				}
				undo, _ := s.take(at.claim, r, choice{d, pool})
				if undo == nil {
					continue
				}
				out, err := s.place(next, chosen, cursor{p, k, i + 1})
				if err == nil && out == done {
					return done, nil
				}
				undo()
				if err != nil || out == tooMany || planted.On(planted.DevicesNotAgain) {
					return out, err
				}
			}
		}
	}
	return nothing, nil
}

// usable says what can be said of a device before it is taken.
func (s *search) usable(claim int, r *request, d *device) (bool, error) {
	if r.admin && slices.Contains(s.users[d.id], claim) || !r.admin && s.busy(d) {
		return false, nil
	}
	ok, err := s.selectable(r, d)
	return ok && err == nil && s.roomFor(d, r.capacity), err
}

// busy says that somebody has the device to himself.
func (s *search) busy(d *device) bool {
	return s.inv.held.whole[d.id] || len(s.users[d.id]) > 0 && !planted.On(planted.DeviceTwice)
}

// take gives a device to a claim; undo is nil where it cannot be had, broken
// where a constraint of the claim is why
// (structured/internal/incubating allocateDevice).
func (s *search) take(claim int, r *request, c choice) (undo func(), broken bool) {
	d, multi := c.device, c.multi()
	if !multi && r.admin && slices.Contains(s.users[d.id], claim) || !r.admin && s.busy(d) {
		return nil, false
	}
	_, shared := s.shares[d.id]
	_, sharedBefore := s.inv.held.capacity[d.id]
	counted := len(d.ConsumesCounters) > 0 && !(multi && (shared || sharedBefore))
	if counted && !s.count(c.pool, d) {
		return nil, false
	}
	joined := 0
	back := func() {
		for i := joined - 1; i >= 0; i-- {
			s.constraints[claim][i].remove(r)
		}
		if counted {
			s.counters[c.pool].change(d.ConsumesCounters, false)
		}
	}
	if !tolerated(d, r.tolerations) {
		back()
		return nil, false
	}
	for _, k := range s.constraints[claim] {
		if !k.add(r, d) {
			back()
			return nil, true
		}
		joined++
	}
	if !s.roomFor(d, r.capacity) {
		back()
		return nil, false
	}
	var part amounts
	if multi {
		part = share(d, r.capacity)
		if !shared {
			s.shares[d.id] = amounts{}
		}
		s.shares[d.id].add(part)
	} else {
		s.users[d.id] = append(s.users[d.id], claim)
	}
	s.taken[claim] = append(s.taken[claim], take{c, r})
	return func() {
		s.taken[claim] = s.taken[claim][:len(s.taken[claim])-1]
		switch {
		case !multi:
			s.users[d.id] = s.users[d.id][:len(s.users[d.id])-1]
		case !shared:
			delete(s.shares, d.id)
		default:
			s.shares[d.id].sub(part)
		}
		back()
	}, false
}
