package devices

import (
	"context"

	resourcev1 "k8s.io/api/resource/v1"

	"berth/internal/engine/state"
)

// Never has AllocateBy leave nothing out.
const Never = -1

// AllocateBy is Allocate with a bound of its own that counts as hard after so many
// steps. It says how many were taken.
func (inv *Inventory) AllocateBy(ctx context.Context, e *Expressions, set *state.NodeSet, claims []*resourcev1.ResourceClaim, bound, hardAfter int) (given []Given, steps int, err error) {
	s, err := inv.prepare(ctx, e, set, 0, claims)
	if err != nil {
		return nil, 0, err
	}
	s.left, s.settleAt, s.settled = bound, bound-hardAfter, hardAfter == Never
	given, err = s.run()
	return given, bound - s.left, err
}

// Kinds prepares a search whose devices are all listed and sorts them into kinds
// under a context of its own.
func (inv *Inventory) Kinds(ctx context.Context, e *Expressions, set *state.NodeSet, claims []*resourcev1.ResourceClaim) (sort func() ([]int32, bool, error), err error) {
	s, err := inv.prepare(context.Background(), e, set, 0, claims)
	if err != nil {
		return nil, err
	}
	for c := range s.lines {
		for k := range s.lines[c] {
			for a := range s.lines[c][k].of {
				if ok, err := s.complete(&s.lines[c][k].of[a]); err != nil || !ok {
					return nil, err
				}
			}
		}
	}
	s.ctx = ctx
	return s.kinds, nil
}
