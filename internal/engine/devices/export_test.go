package devices

import (
	"context"

	resourcev1 "k8s.io/api/resource/v1"

	"berth/internal/engine"
)

// Never has AllocateBy leave nothing out.
const Never = -1

// AllocateBy is Allocate with a bound of its own that counts as hard after so many
// steps. It says how many were taken.
func (inv *Inventory) AllocateBy(ctx context.Context, e *Expressions, set *engine.NodeSet, claims []*resourcev1.ResourceClaim, bound, hardAfter int) (given []Given, steps int, err error) {
	s, err := inv.prepare(ctx, e, set, 0, claims)
	if err != nil {
		return nil, 0, err
	}
	s.left, s.settleAt, s.settled = bound, bound-hardAfter, hardAfter == Never
	given, err = s.run()
	return given, bound - s.left, err
}
