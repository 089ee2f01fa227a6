package devices

import (
	"context"

	resourcev1 "k8s.io/api/resource/v1"

	"berth/internal/engine/state"
)

// Never has AllocateBy leave nothing out.
const Never = -1

// AllocateBy is Allocate with bounds of its own on all steps and on those of an easy search. It
// also returns the number of steps taken.
func (inv *Inventory) AllocateBy(ctx context.Context, e *Expressions, set *state.NodeSet, claims []*resourcev1.ResourceClaim, bound, hardAfter int) (given []Given, steps int, err error) {
	s, err := inv.prepare(ctx, e, set, 0, claims)
	if err != nil {
		return nil, 0, err
	}
	s.left, s.analyseAt, s.analysed = bound, bound-hardAfter, hardAfter == Never
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
	for c := range s.requests {
		for k := range s.requests[c] {
			for a := range s.requests[c][k].of {
				if ok, err := s.complete(&s.requests[c][k].of[a]); err != nil || !ok {
					return nil, err
				}
			}
		}
	}
	s.ctx = ctx
	return s.kinds, nil
}
