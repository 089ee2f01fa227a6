package store

import "context"

// RollupStep is what one step has added to the roll-ups of a cluster.
type RollupStep struct {
	// Records is how many places of the log are behind the cursor now that were ahead of it.
	Records int64
	// More reports whether something was left for the next step.
	More bool
}

// RollupState is how far the roll-ups of a cluster are.
type RollupState struct {
	Cluster string
	Seq     int64 // the last place of the log that is in them
	Last    int64 // the last place that was given
	// Revision is the last revision whose changes of pods are in them, and Newest the newest one.
	Revision, Newest int64
	// Rebuilding is the place up to which a rebuild that has not ended has to come; 0: none is
	// under way.
	Rebuilding int64
}

// Behind is how many places the roll-ups are behind the log.
func (s *RollupState) Behind() int64 { return s.Last - s.Seq }

// Rollups keeps sums of the log by the hour, and the stretches of time in which pods waited.
type Rollups interface {
	// RollupStates returns how far the roll-ups are of each cluster that has any decision, by name.
	RollupStates(ctx context.Context) ([]RollupState, error)
	// RollUp adds what comes next in a cluster's log. What it adds and how far it then is are one
	// transaction, which changes so little that no writer waits for long. Several processes may
	// call it at once, and nothing is counted twice: ErrConflict where another one was faster.
	RollUp(ctx context.Context, cluster string) (RollupStep, error)
	// RebuildRollups has the roll-ups of a cluster begin anew, for RollUp to build them of what is
	// stored. Hours whose records were deleted for their age, all or some, stay as they are. One
	// that is under way already goes on.
	RebuildRollups(ctx context.Context, cluster string) error
}
