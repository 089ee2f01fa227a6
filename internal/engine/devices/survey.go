package devices

import (
	"context"

	resourcev1 "k8s.io/api/resource/v1"

	"berth/internal/engine/state"
)

// Need says what one request, or one alternative of it, finds on a node.
type Need struct {
	Claim, Request, Class string
	// Needed devices of the Matching ones that class and request select; Free of
	// these are not taken, not tainted, and have room.
	Needed, Matching, Free int64
}

// BrokenPool is a pool of which nothing can be taken, and why.
type BrokenPool struct{ Name, Why string }

// Survey counts what claims find on a node, for explanations: each request by
// itself, before anything is given out. It belongs to an answer that is there
// already, so nothing stops it.
func (inv *Inventory) Survey(e *Expressions, set *state.NodeSet, row int, claims []*resourcev1.ResourceClaim) (needs []Need, broken []BrokenPool) {
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
		for k := range s.lines[i] {
			for a := range s.lines[i][k].of {
				r := &s.lines[i][k].of[a]
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
		if ok, err := s.selectable(r, s.offers[i].device); err != nil || !ok {
			continue
		}
		n.Matching++
		if ok, _ := s.suits(r, i); ok && s.roomFor(r, i) {
			n.Free++
		}
	}
}
