package devices

import (
	"context"

	resourcev1 "k8s.io/api/resource/v1"

	"berth/internal/engine/state"
)

// Need counts the devices that one request, or one alternative of it, finds on a node.
type Need struct {
	Claim, Request, Class string
	// Needed is the number wanted, Matching the number that class and request select. Free counts
	// those of them that are unallocated, untainted and have enough capacity.
	Needed, Matching, Free int64
}

// BrokenPool is a pool from which nothing can be allocated, and why.
type BrokenPool struct{ Name, Why string }

// Availability counts what claims find on a node, for explanations. Each request is counted by
// itself, before any allocation. The decision is made already, so there is no deadline.
func (inv *Inventory) Availability(e *Expressions, set *state.NodeSet, row int, claims []*resourcev1.ResourceClaim) (needs []Need, broken []BrokenPool) {
	s, err := inv.prepare(context.Background(), e, set, row, claims)
	if err != nil {
		return nil, nil
	}
	for _, p := range s.pools {
		switch {
		case p.incomplete:
			broken = append(broken, BrokenPool{p.String(), "incomplete"})
		case p.invalid != "":
			broken = append(broken, BrokenPool{p.String(), p.invalid})
		}
	}
	for i, c := range claims {
		for k := range s.requests[i] {
			for a := range s.requests[i][k].of {
				r := &s.requests[i][k].of[a]
				n := Need{Claim: c.Name, Request: r.full(), Class: r.class, Needed: int64(r.need)}
				s.tally(r, &n)
				needs = append(needs, n)
			}
		}
	}
	return needs, broken
}

func (s *search) tally(r *request, n *Need) {
	for i := 0; s.lists(i); i++ {
		if ok, err := s.selectable(r, i, nil); err != nil || !ok {
			continue
		}
		n.Matching++
		if ok, _ := s.suits(r, i); ok && s.capacityFor(r, i) {
			n.Free++
		}
	}
}

// Held returns the devices that a claim's request selects on a node and that other claims hold, or
// hold shares of.
func (inv *Inventory) Held(e *Expressions, set *state.NodeSet, row int, claims []*resourcev1.ResourceClaim, claim, request string) map[ID]bool {
	s, err := inv.prepare(context.Background(), e, set, row, claims)
	if err != nil {
		return nil
	}
	out := map[ID]bool{}
	for i, c := range claims {
		for k := range s.requests[i] {
			for a := range s.requests[i][k].of {
				if r := &s.requests[i][k].of[a]; c.Name == claim && r.full() == request {
					s.holders(r, out)
				}
			}
		}
	}
	return out
}

func (s *search) holders(r *request, out map[ID]bool) {
	for i := 0; s.lists(i); i++ {
		id := s.listed[i].device.id
		if !s.inv.held.whole[id] && !s.inv.held.parts[id] {
			continue
		}
		if ok, err := s.selectable(r, i, nil); err == nil && ok {
			out[s.inv.names[id]] = true
		}
	}
}
