package store

import (
	"context"
	"time"
)

// Capacity is what was measured of one resource of a cluster at a revision. Amounts of cpu are in
// millicores.
type Capacity struct {
	Cluster                                string
	Revision                               int64
	MeasuredAt                             time.Time
	Resource                               string
	Allocatable, Requested, Free, Stranded int64
	Fragmentation                          *float64 // percent; nil: not known
	Nodes, NodesInUse, NodesBound          int      // of the cluster
}

// Capacities keeps how full clusters were, for the view capacity: people read it, no program does.
type Capacities interface {
	// PutCapacities writes rows; one of a resource and revision that is stored already stays, and
	// one of a revision that is not stored is left out. Rows go with their revision.
	PutCapacities(ctx context.Context, rows []Capacity) error
}
