package devices

import (
	resourcev1 "k8s.io/api/resource/v1"

	"berth/internal/engine"
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
// itself, before anything is given out.
func (inv *Inventory) Survey(e *Expressions, set *engine.NodeSet, row int, claims []*resourcev1.ResourceClaim) (needs []Need, broken []BrokenPool) {
	s, err := inv.prepare(e, set, row, claims)
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
	for _, p := range s.pools {
		for _, sl := range p.slices {
			for i := range sl.devices {
				d := &sl.devices[i]
				if ok, err := s.selectable(r, d); err != nil || !ok {
					continue
				}
				n.Matching++
				if (r.admin || !s.busy(d)) && tolerated(d, r.tolerations) && s.roomFor(d, r.capacity) {
					n.Free++
				}
			}
		}
	}
}
