package decisionlog

import (
	"context"
	"net/http"

	"berth/internal/cluster"
	"berth/internal/engine"
)

// Preview answers a question on a view that no manager holds, under these
// profiles: the same answer as a dry run of a Log, without a store and without a
// record. Stored priority classes do not exist here; the view's own do.
func Preview(ctx context.Context, v *cluster.View, profiles []*engine.Profile, q Question) (*Answer, error) {
	q.Cluster, q.Revision = v.Cluster, v.Revision
	if q.Bind {
		return nil, bad(http.StatusBadRequest, "bind", "a preview binds nothing")
	}
	q.DryRun = true
	l := New(nil, nil, profiles, Options{})
	q, err := q.normal(l.o.Clock)
	if err != nil {
		return nil, err
	}
	return l.dry(ctx, v, q)
}
