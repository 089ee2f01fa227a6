package devices

import (
	"context"
	"errors"
	"fmt"

	resourcev1 "k8s.io/api/resource/v1"

	"berth/internal/engine/state"
)

// ErrInvalidPools reports that no allocation was found on a node of which some pools are invalid.
// It concerns that node alone.
var ErrInvalidPools = errors.New("invalid resource pools")

// ErrGaveUp reports that a search reached its bound of steps. Upstream has a timeout instead
// (filterTimeout of DynamicResourcesArgs), and fails as well.
var ErrGaveUp = errors.New("gave up trying to allocate devices")

// ErrStopped reports that the context ended before the search did; it wraps the context's error.
// The search has no result then.
var ErrStopped = errors.New("stopped looking for devices")

// errTooMany is upstream's error where every choice of alternatives exceeds the size of an
// allocation.
var errTooMany = errors.New("allocation max size exceeded")

// MaxSteps bounds the search on one node, and Budget that of a decision on all its nodes. A step
// tries a device for a position; the whole takes tenths of a second. Upstream stops after ten
// seconds on a node.
const (
	MaxSteps = 5_000_000
	Budget   = 10_000_000
)

// Given is the allocation of one claim.
type Given struct{ Devices []GivenDevice }

// GivenDevice is an allocated device and its request, written request/alternative where there was a
// choice.
type GivenDevice struct {
	Request string
	ID
	Admin bool

	device *device
	of     *request
	as     *Behaviour
}

// Allocate finds devices for all claims on a node. It returns the first complete solution of an
// exhaustive search: claim by claim, request by request, alternatives in order, and devices by
// driver, pool, slice and index. Nil without an error means that there is none. Errors other than
// ErrInvalidPools and ErrStopped mean that the claims cannot be judged on any node. Steps are taken
// off the decision's budget. The end of ctx ends the search with ErrStopped: ctx determines whether
// there is a result, never which (structured/internal/incubating Allocator.Allocate).
func (inv *Inventory) Allocate(ctx context.Context, e *Expressions, set *state.NodeSet, row int, claims []*resourcev1.ResourceClaim, budget *int) ([]Given, error) {
	s, err := inv.prepare(ctx, e, set, row, claims)
	if err != nil {
		return nil, err
	}
	s.left = min(MaxSteps, *budget)
	s.analyseAt = s.left - s.hardAfter()
	before := s.left
	given, err := s.run()
	*budget -= before - s.left
	return given, err
}

// run searches with the remaining steps.
func (s *search) run() ([]Given, error) {
	if err := s.ctx.Err(); err != nil {
		return nil, stopped(err)
	}
	out, err := s.place(position{}, false, 0)
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
			d := s.listed[t.index].device
			given[i].Devices = append(given[i].Devices, GivenDevice{t.request.full(), s.inv.names[d.id], t.request.admin, d, t.request, &s.inv.as})
		}
	}
	return given, nil
}

func stopped(err error) error { return fmt.Errorf("%w: %w", ErrStopped, err) }

// search is a search on one node for the claims of a pod.
type search struct {
	ctx    context.Context
	inv    *Inventory
	expr   *Expressions
	node   *nodeAt
	claims []*resourcev1.ResourceClaim
	pools  []*pool

	listed []listedDevice // the devices that the node reaches, as far as they were listed
	ahead  cursor         // the next to list
	size   int            // the number of all devices that the node reaches

	requests    [][]alternatives
	constraints [][]constraint
	taken       [][]take
	accounts    map[string]*account // by the pools' accounts: the counters that this search consumed
	left        int                 // remaining steps

	analyseAt int  // remaining steps at which the search counts as hard
	analysed  bool // analyse has run
	pruning   bool // devices that cannot help may be left out
}

// take is an allocated device.
type take struct {
	index   int32
	request *request
	counted bool // its counters are consumed
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
		requests: make([][]alternatives, len(claims)), constraints: make([][]constraint, len(claims)), taken: make([][]take, len(claims)),
	}
	for _, p := range pools {
		for _, sl := range p.slices {
			s.size += len(sl.devices)
		}
	}
	for i, c := range claims {
		s.requests[i] = requestsOf(c)
		least := 0
		for k := range s.requests[i] {
			l := &s.requests[i][k]
			if err := inv.as.unshared(c, l); err != nil {
				return nil, err
			}
			fewest := -1
			for a := range l.of {
				as := a
				if inv.as.mixesAlternatives {
					as = max(a-1, 0)
				}
				if err := s.need(c, &l.of[a], &l.of[as]); err != nil {
					return nil, err
				}
				if fewest < 0 || l.of[a].need < fewest {
					fewest = l.of[a].need
				}
			}
			if inv.as.deviceErrorsSayMore && fewest > resourcev1.AllocationResultsMaxSize-least {
				return nil, fmt.Errorf("claim %s/%s, request %s: adding %d devices exceeds the claim limit of %d, with %d already accounted for",
					c.Namespace, c.Name, c.Spec.Devices.Requests[k].Name, fewest, resourcev1.AllocationResultsMaxSize, least)
			}
			least += fewest
		}
		if least > resourcev1.AllocationResultsMaxSize {
			return nil, fmt.Errorf("claim %s/%s: number of requested devices %d exceeds the claim limit of %d", c.Namespace, c.Name, least, resourcev1.AllocationResultsMaxSize)
		}
		if s.constraints[i], err = inv.as.constraintsOf(c); err != nil {
			return nil, err
		}
		for k := range s.requests[i] {
			for a := range s.requests[i][k].of {
				s.requests[i][k].of[a].bind(s.constraints[i])
			}
		}
	}
	return s, nil
}

// oneTerm returns an error for slices with several node selector terms. The API does not admit
// them, and no allocation can express them.
func (s *search) oneTerm(claim int) error {
	for _, t := range s.taken[claim] {
		itself, sel := s.listed[t.index].where(&s.inv.as)
		if itself {
			return nil // the allocation names the node instead
		}
		if sel != nil && len(sel.NodeSelectorTerms) > 1 {
			return fmt.Errorf("unsupported ResourceSlice.NodeSelector with %d terms", len(sel.NodeSelectorTerms))
		}
	}
	return nil
}
