package store

import (
	"context"
	"fmt"
	"time"
)

// Lead names who follows a cluster's apiserver for all processes that share the
// store, and how fresh what it wrote was when it last said so.
type Lead struct {
	Cluster string
	// Owner is the process, by a name that no other has; empty: no process leads.
	Owner string
	// Synced reports that the owner has read the whole cluster and written what
	// differed. Stale is for how long it may have missed something.
	Synced bool
	Stale  time.Duration
	// Age is the time since the owner last said so, by the store's clock.
	Age time.Duration
}

// Leads settles who follows which cluster.
type Leads interface {
	// Lead takes a lease on following a cluster, or renews it, with what the
	// claimant has to say of its freshness, and tells who has the lease
	// afterwards. A lease that ran out, by the store's clock, is free for all. A new
	// owner's Synced is false until it says otherwise.
	Lead(ctx context.Context, claim Lead, lease time.Duration) (Lead, error)
	// Resign ends a lease that the owner has, so that another may lead at once.
	Resign(ctx context.Context, cluster, owner string) error
}

// Validate reports whether a claim can be stored.
func (l *Lead) Validate() error {
	switch {
	case l.Cluster == "":
		return fmt.Errorf("%w: Lead.Cluster is empty", ErrInvalid)
	case l.Owner == "":
		return fmt.Errorf("%w: Lead.Owner is empty", ErrInvalid)
	}
	return nil
}
