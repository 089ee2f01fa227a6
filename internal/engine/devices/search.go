package devices

import (
	"errors"
	"fmt"

	resourcev1 "k8s.io/api/resource/v1"

	"berth/internal/engine"
)

// ErrInvalidPools says that nothing was found on a node of which some pools are
// broken. It concerns that node alone.
var ErrInvalidPools = errors.New("invalid resource pools")

// ErrGaveUp says that a search looked at more devices than it may. Upstream has
// a timeout instead (filterTimeout of DynamicResourcesArgs), and fails as well.
var ErrGaveUp = errors.New("gave up trying to allocate devices")

// errTooMany is what upstream fails with where no choice of alternatives stays
// within the size of an allocation.
var errTooMany = errors.New("allocation max size exceeded")

// MaxSteps bounds the search on one node, and Budget that of a decision on all of
// its nodes: so many times a device may be looked at for a place, which takes a
// few seconds at most. Upstream stops after ten seconds on a node.
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
// ErrInvalidPools say that the claims cannot be judged at all, on whatever node.
// What it looks at is taken off the decision's budget
// (structured/internal/incubating Allocator.Allocate).
func (inv *Inventory) Allocate(e *Expressions, set *engine.NodeSet, row int, claims []*resourcev1.ResourceClaim, budget *int) ([]Given, error) {
	s, err := inv.prepare(e, set, row, claims)
	if err != nil {
		return nil, err
	}
	s.left = min(MaxSteps, *budget)
	before := s.left
	out, err := s.place(spot{}, false, cursor{})
	*budget -= before - s.left
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
	given := make([]Given, len(claims))
	for i := range claims {
		if err := s.oneTerm(i); err != nil {
			return nil, fmt.Errorf("create NodeSelector for claim %s: %w", claims[i].Name, err)
		}
		for _, t := range s.taken[i] {
			given[i].Devices = append(given[i].Devices, GivenDevice{t.request.full(), inv.names[t.id], t.request.admin, t.device, t.request})
		}
	}
	return given, nil
}

// search is one node and the claims to be satisfied there.
type search struct {
	inv    *Inventory
	expr   *Expressions
	node   *nodeAt
	claims []*resourcev1.ResourceClaim
	pools  []*pool

	lines       [][]line
	constraints [][]constraint
	taken       [][]take
	users       map[int32][]int // by device: the claims that it was given to just now
	shares      map[int32]amounts
	counters    map[*pool]counterSets
	left        int // steps that may still be taken
}

// take is a device as it was given.
type take struct {
	choice
	request *request
}

// prepare works out what every request needs on the node.
func (inv *Inventory) prepare(e *Expressions, set *engine.NodeSet, row int, claims []*resourcev1.ResourceClaim) (*search, error) {
	np := inv.forNodes(set)
	pools, err := inv.see(np, row)
	if err != nil {
		return nil, err
	}
	s := &search{
		inv: inv, expr: e, node: &nodeAt{set: np, row: row, name: set.Node(row).Name}, claims: claims, pools: pools,
		lines: make([][]line, len(claims)), constraints: make([][]constraint, len(claims)), taken: make([][]take, len(claims)),
		users: map[int32][]int{}, shares: map[int32]amounts{},
	}
	for i, c := range claims {
		s.lines[i] = linesOf(c)
		least := 0
		for k := range s.lines[i] {
			l := &s.lines[i][k]
			fewest := -1
			for a := range l.of {
				if err := s.size(c, &l.of[a]); err != nil {
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
	}
	return s, nil
}

// oneTerm says that slices with a choice of node selector terms, which the API
// does not admit, cannot be put into an allocation.
func (s *search) oneTerm(claim int) error {
	for _, t := range s.taken[claim] {
		spec := &t.slice.Spec
		name, sel := spec.NodeName, spec.NodeSelector
		if yes(spec.PerDeviceNodeSelection) {
			name, sel = t.NodeName, t.NodeSelector
		}
		if name != nil || yes(t.BindsToNode) {
			return nil // the allocation names the node instead
		}
		if sel != nil && len(sel.NodeSelectorTerms) > 1 {
			return fmt.Errorf("unsupported ResourceSlice.NodeSelector with %d terms", len(sel.NodeSelectorTerms))
		}
	}
	return nil
}
