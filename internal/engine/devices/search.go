package devices

import (
	"context"
	"errors"
	"fmt"

	resourcev1 "k8s.io/api/resource/v1"

	"berth/internal/engine/state"
)

// ErrInvalidPools says that nothing was found on a node of which some pools are
// broken. It concerns that node alone.
var ErrInvalidPools = errors.New("invalid resource pools")

// ErrGaveUp says that a search looked at more devices than it may. Upstream has
// a timeout instead (filterTimeout of DynamicResourcesArgs), and fails as well.
var ErrGaveUp = errors.New("gave up trying to allocate devices")

// ErrStopped says that whoever asked wanted no answer any more before there was
// one: the context's error is in it. What was found until then is nothing to go by.
var ErrStopped = errors.New("stopped looking for devices")

// errTooMany is what upstream fails with where no choice of alternatives stays
// within the size of an allocation.
var errTooMany = errors.New("allocation max size exceeded")

// MaxSteps bounds the search on one node, and Budget that of a decision on all of
// its nodes: so many times a device may be looked at for a place, which takes
// tenths of a second. Upstream stops after ten seconds on a node.
const (
	MaxSteps = 5_000_000
	Budget   = 10_000_000
)

// Given is what one claim would get.
type Given struct{ Devices []GivenDevice }

// GivenDevice is a device and the request that it is for, written
// request/alternative where there was a choice.
type GivenDevice struct {
	Request string
	ID
	Admin bool

	device *device
	of     *request
}

// Allocate finds devices for all claims on a node: the first complete answer of
// an exhaustive search, claim by claim, request by request, alternatives in
// order, and devices in the order of drivers, pools, slices and their place in
// them. Nil without an error says that there is none. Errors other than
// ErrInvalidPools and ErrStopped say that the claims cannot be judged at all, on
// whatever node. What it looks at is taken off the decision's budget, and the end
// of ctx ends it with ErrStopped: ctx decides whether there is an answer, never
// which (structured/internal/incubating Allocator.Allocate).
func (inv *Inventory) Allocate(ctx context.Context, e *Expressions, set *state.NodeSet, row int, claims []*resourcev1.ResourceClaim, budget *int) ([]Given, error) {
	s, err := inv.prepare(ctx, e, set, row, claims)
	if err != nil {
		return nil, err
	}
	s.left = min(MaxSteps, *budget)
	s.settleAt = s.left - s.hardAfter()
	before := s.left
	given, err := s.run()
	*budget -= before - s.left
	return given, err
}

// run searches with the steps that are left.
func (s *search) run() ([]Given, error) {
	if err := s.ctx.Err(); err != nil {
		return nil, stopped(err)
	}
	out, err := s.place(spot{}, false, 0)
	if err != nil {
		return nil, err
	}
	switch out {
	case tooMany:
		return nil, errTooMany
	case nothing:
		for _, p := range s.pools {
			if p.invalid != "" {
				return nil, ErrInvalidPools
			}
		}
		return nil, nil
	}
	given := make([]Given, len(s.claims))
	for i, c := range s.claims {
		if err := s.oneTerm(i); err != nil {
			return nil, fmt.Errorf("create NodeSelector for claim %s: %w", c.Name, err)
		}
		for _, t := range s.taken[i] {
			d := s.offers[t.offer].device
			given[i].Devices = append(given[i].Devices, GivenDevice{t.request.full(), s.inv.names[d.id], t.request.admin, d, t.request})
		}
	}
	return given, nil
}

func stopped(err error) error { return fmt.Errorf("%w: %w", ErrStopped, err) }

// search is one node and the claims to be satisfied there.
type search struct {
	ctx    context.Context
	inv    *Inventory
	expr   *Expressions
	node   *nodeAt
	claims []*resourcev1.ResourceClaim
	pools  []*pool

	offers []offer // what the node reaches, as far as it was listed
	ahead  cursor  // what is listed next
	size   int     // how long the whole list is

	lines       [][]line
	constraints [][]constraint
	taken       [][]take
	accounts    map[string]*account // by the pools' name: what was taken of counters just now
	left        int                 // steps that may still be taken

	settleAt int  // steps left at which the search counts as a hard one
	settled  bool // it does, and settle was done
	pruning  bool // what cannot help may be left out
}

// take is a device as it was given.
type take struct {
	offer   int32
	request *request
	counted bool // counters were taken for it
}

// prepare works out what every request needs on the node.
func (inv *Inventory) prepare(ctx context.Context, e *Expressions, set *state.NodeSet, row int, claims []*resourcev1.ResourceClaim) (*search, error) {
	np := inv.forNodes(set)
	pools, err := inv.see(np, row)
	if err != nil {
		return nil, err
	}
	s := &search{
		ctx: ctx, inv: inv, expr: e, node: &nodeAt{set: np, row: row, name: set.Node(row).Name}, claims: claims, pools: pools,
		lines: make([][]line, len(claims)), constraints: make([][]constraint, len(claims)), taken: make([][]take, len(claims)),
	}
	for _, p := range pools {
		for _, sl := range p.slices {
			s.size += len(sl.devices)
		}
	}
	for i, c := range claims {
		s.lines[i] = linesOf(c)
		least := 0
		for k := range s.lines[i] {
			l := &s.lines[i][k]
			fewest := -1
			for a := range l.of {
				if err := s.need(c, &l.of[a]); err != nil {
					return nil, err
				}
				if fewest < 0 || l.of[a].need < fewest {
					fewest = l.of[a].need
				}
			}
			least += fewest
		}
		if least > resourcev1.AllocationResultsMaxSize {
			return nil, fmt.Errorf("claim %s/%s: number of requested devices %d exceeds the claim limit of %d", c.Namespace, c.Name, least, resourcev1.AllocationResultsMaxSize)
		}
		if s.constraints[i], err = constraintsOf(c); err != nil {
			return nil, err
		}
		for k := range s.lines[i] {
			for a := range s.lines[i][k].of {
				s.lines[i][k].of[a].bind(s.constraints[i])
			}
		}
	}
	return s, nil
}

// oneTerm says that slices with a choice of node selector terms, which the API
// does not admit, cannot be put into an allocation.
func (s *search) oneTerm(claim int) error {
	for _, t := range s.taken[claim] {
		itself, sel := s.offers[t.offer].where()
		if itself {
			return nil // the allocation names the node instead
		}
		if sel != nil && len(sel.NodeSelectorTerms) > 1 {
			return fmt.Errorf("unsupported ResourceSlice.NodeSelector with %d terms", len(sel.NodeSelectorTerms))
		}
	}
	return nil
}
