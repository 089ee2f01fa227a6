package devices

import (
	"fmt"

	resourcev1 "k8s.io/api/resource/v1"
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

// place fills a spot and all that follow; chosen says that the alternative is
// settled, and from is where to go on in the request's list: within a request
// devices are taken in one order only, since another one would be the same
// answer. It backtracks as upstream does, step for step, so that it finds the
// same answer, and none where upstream finds none
// (structured/internal/incubating allocateOne).
func (s *search) place(at spot, chosen bool, from int) (outcome, error) {
	if at.claim == len(s.claims) {
		return done, nil
	}
	if at.line == len(s.lines[at.claim]) {
		out, err := s.place(spot{claim: at.claim + 1}, false, 0)
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
		return s.place(spot{claim: at.claim, line: at.line + 1}, false, 0)
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
		out, err := s.place(at, true, 0)
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
	if err := s.step(); err != nil {
		return nothing, err
	}
	i := int(r.all[at.nth])
	ok, broken := s.take(at.claim, r, i)
	if broken {
		claim := s.claims[at.claim]
		return nothing, fmt.Errorf("claim %s/%s, request %s: cannot add device %s because a claim constraint would not be satisfied", claim.Namespace, claim.Name, r.name, s.inv.names[s.offers[i].id])
	}
	if !ok {
		return nothing, nil
	}
	at.nth++
	out, err := s.place(at, chosen, 0)
	if err != nil || out != done {
		s.untake(at.claim)
	}
	return out, err
}

// placeAny tries one device after the other.
func (s *search) placeAny(at spot, r *request, chosen bool, from int) (outcome, error) {
	next := at
	next.nth++
	for k := from; ; k++ {
		if s.left <= s.settleAt && !s.settled {
			if err := s.settle(); err != nil {
				return nothing, err
			}
		}
		if s.pruning {
			if len(r.list)-k < r.need-at.nth {
				return nothing, nil
			}
			if s.triedAlike(r, from, k) {
				continue
			}
		}
		if k < len(r.list) {
			if err := s.step(); err != nil {
				return nothing, err
			}
		} else if more, err := s.look(at.claim, r); err != nil || !more {
			return nothing, err
		}
		i := int(r.list[k])
		if s.given(at.claim, r, i) {
			continue
		}
		if ok, err := s.suits(r, i); err != nil {
			return nothing, err
		} else if !ok || !s.roomFor(r, i) {
			continue
		}
		if ok, _ := s.take(at.claim, r, i); !ok {
			continue
		}
		out, err := s.place(next, chosen, k+1)
		if err == nil && out == done {
			return done, nil
		}
		s.untake(at.claim)
		if err != nil || out == tooMany {
			return out, err
		}
	}
}
