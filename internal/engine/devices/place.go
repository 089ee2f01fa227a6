package devices

import (
	"fmt"

	resourcev1 "k8s.io/api/resource/v1"
)

// outcome is the result of filling the positions from one on.
type outcome uint8

const (
	nothing outcome = iota
	done
	// tooMany reports that the claim would get more devices than an allocation can hold. The
	// search then gives up at once instead of trying other devices, except for alternatives that
	// need fewer.
	tooMany
)

// position is one device that is needed: the nth of an alternative of a request.
type position struct{ claim, request, alternative, nth int }

// place fills a position and all that follow. chosen reports that the alternative is fixed; from
// is where to continue in the request's list. Within a request devices are tried in one order
// only, since any other order is the same solution. It backtracks exactly as upstream does, so
// it finds the same solution, and none where upstream finds none (structured/internal/incubating
// allocateOne).
func (s *search) place(at position, chosen bool, from int) (outcome, error) {
	if at.claim == len(s.claims) {
		return done, nil
	}
	if at.request == len(s.requests[at.claim]) {
		out, err := s.place(position{claim: at.claim + 1}, false, 0)
		if out == tooMany {
			out = nothing // earlier claims may leave this one an alternative with fewer
		}
		return out, err
	}
	l := &s.requests[at.claim][at.request]
	if l.choose && !chosen {
		return s.alternatives(at, l)
	}
	r := &l.of[at.alternative]
	all := r.mode == resourcev1.DeviceAllocationModeAll
	switch {
	case all && len(r.all) == 0:
		return nothing, nil
	case at.nth >= r.need:
		return s.place(position{claim: at.claim, request: at.request + 1}, false, 0)
	case s.exceeds(len(s.taken[at.claim]), r.need-at.nth):
		return tooMany, nil
	case all:
		return s.placeAll(at, r, chosen)
	}
	return s.placeAny(at, r, chosen, from)
}

// exceeds reports whether a claim would have more devices than an allocation can hold.
// Upstream's sum was one that could overflow.
func (s *search) exceeds(have, more int) bool {
	if s.inv.as.deviceErrorsSayMore {
		return more > resourcev1.AllocationResultsMaxSize-have
	}
	return have+more > resourcev1.AllocationResultsMaxSize
}

// alternatives tries the alternatives of a request in order.
func (s *search) alternatives(at position, l *alternatives) (outcome, error) {
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

// placeAll allocates the devices of a request for all of them: each must be free.
func (s *search) placeAll(at position, r *request, chosen bool) (outcome, error) {
	if err := s.step(); err != nil {
		return nothing, err
	}
	i := int(r.all[at.nth])
	ok, broken := s.take(at.claim, r, i)
	if broken {
		claim := s.claims[at.claim]
		return nothing, fmt.Errorf("claim %s/%s, request %s: cannot add device %s because a claim constraint would not be satisfied", claim.Namespace, claim.Name, r.name, s.inv.names[s.listed[i].id])
	}
	if !ok {
		return nothing, nil
	}
	at.nth++
	if s.inv.as.mixesAlternatives {
		at.alternative = 0 // upstream forgets which one it was
	}
	out, err := s.place(at, chosen, 0)
	if err != nil || out != done {
		s.untake(at.claim)
	}
	return out, err
}

// placeAny tries one device after the other.
func (s *search) placeAny(at position, r *request, chosen bool, from int) (outcome, error) {
	next := at
	next.nth++
	for k := from; ; k++ {
		if s.left <= s.analyseAt && !s.analysed {
			if err := s.analyse(); err != nil {
				return nothing, err
			}
		}
		if s.pruning {
			if len(r.list)-k < r.need-at.nth {
				return nothing, nil
			}
			if s.triedEquivalent(r, from, k) {
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
		} else if !ok || !s.capacityFor(r, i) {
			continue
		}
		if ok, _ := s.take(at.claim, r, i); !ok {
			continue
		}
		after := k + 1
		if s.inv.as.sharesRepeat && s.listed[i].multi {
			after = k
		}
		out, err := s.place(next, chosen, after)
		if err == nil && out == done {
			return done, nil
		}
		s.untake(at.claim)
		if err != nil || out == tooMany {
			return out, err
		}
	}
}
