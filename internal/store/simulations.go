package store

import (
	"context"
	"time"
)

// Simulation is a question about what comes next in a cluster, answered by whichever replica comes
// to it. Its states are those of a batch replay.
type Simulation struct {
	ID       string // UUIDv7
	Cluster  string
	Revision int64
	// Kind is the kind of question, such as drains.
	Kind string
	// AskedBy is the caller who asked: kind:name, or an address; empty in what earlier releases
	// stored.
	AskedBy   string
	State     string
	CreatedAt time.Time
	EndedAt   time.Time // by the database's clock; zero until it has ended
	// Reason is why it failed.
	Reason string
	// Progress is how far it is, as JSON; opaque.
	Progress string
	// Owner is the claim that works on it, for as long as its lease lasts by the database's clock.
	// It is unique to the claim, and so fences off a worker whose job was taken over.
	Owner string
	// Attempts counts claims since the last part was finished.
	Attempts int
}

// The parts that every job has and that a finished one has; others are a runner's own.
const (
	SimulationQuestion = "question"
	SimulationResult   = "result"
)

// Ended reports whether nothing will change any more.
func (s *Simulation) Ended() bool { return (&Replay{State: s.State}).Ended() }

// Validate returns why a job cannot be stored by every backend alike; the error wraps ErrInvalid.
func (s *Simulation) Validate() error {
	switch {
	case s.ID == "":
		return invalid("simulation.id", "is empty")
	case s.Cluster == "":
		return invalid("simulation.cluster", "is empty")
	}
	return validateText("simulation", s.ID, s.Cluster, s.Kind, s.AskedBy, s.Reason, s.Progress)
}

// Simulations keeps jobs that all replicas work on. A worker claims a job, and each part that it
// finishes is durable at once, so that none is run again after a kill.
type Simulations interface {
	// CreateSimulation stores a job with parts, one of them its question. ErrNotFound where its
	// revision is unknown, which then stays for as long as the job; *BusyError where there are as
	// many jobs as limits allow, which are counted as of one instant with other calls.
	CreateSimulation(ctx context.Context, s *Simulation, parts map[string][]byte, limits JobLimits) error
	// Simulation returns a job, SimulationPart one of its parts; ErrNotFound without one. admit is
	// called with a part's size before it is read, and ends the call with its error.
	Simulation(ctx context.Context, id string) (*Simulation, error)
	SimulationPart(ctx context.Context, id, part string, admit func(size int) error) ([]byte, error)
	// ListSimulations lists newest first, by ID, those of a cluster ("": all) with ID < before ("":
	// all), up to limit (0: all).
	ListSimulations(ctx context.Context, cluster, before string, limit int) ([]*Simulation, error)
	// EndSimulation ends a job that has not ended as cancelled or failed; one that has stays as it
	// is.
	EndSimulation(ctx context.Context, id, state, reason string) error
	// DeleteSimulation removes a job with its parts.
	DeleteSimulation(ctx context.Context, id string) error
	// PruneSimulations removes jobs that ended before a time and returns how many.
	PruneSimulations(ctx context.Context, before time.Time) (int64, error)

	// ClaimSimulation returns a job that no worker has or whose lease ran out; ErrNotFound where
	// there is none. Callers take turns: it is the oldest one of the caller whose jobs a worker had
	// last the longest time ago. With idle it is one of a caller none of whose jobs a worker has.
	ClaimSimulation(ctx context.Context, owner string, lease time.Duration, idle bool) (*Simulation, error)
	// AdvanceSimulation writes what a worker has of a job (state, progress, attempts), adds parts,
	// and renews the lease, whole or not at all. State is running, or done. ErrConflict: another
	// worker has it. The state is the job's; where that had ended nothing was written.
	AdvanceSimulation(ctx context.Context, s *Simulation, parts map[string][]byte, lease time.Duration) (state string, err error)
}
