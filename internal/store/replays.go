package store

import (
	"context"
	"fmt"
	"math"
	"time"
)

// The states of a batch replay. Queued: no part has begun. The last three end
// it for good.
const (
	ReplayQueued    = "queued"
	ReplayRunning   = "running"
	ReplayDone      = "done"
	ReplayCancelled = "cancelled"
	ReplayFailed    = "failed"
)

// Replay is a batch replay: the decisions of a cluster in a window of time,
// answered again by whichever replica comes to it.
type Replay struct {
	ID      string // UUIDv7
	Cluster string
	State   string
	// Since is inclusive, Until exclusive; UTC, microseconds.
	Since, Until time.Time
	// Profile and Config replace the recorded profile; empty: as recorded.
	Profile   string
	Config    []byte
	CreatedAt time.Time
	EndedAt   time.Time // by the database's clock; zero until it has ended
	// Reason returns why it failed.
	Reason string
	ReplayCounts
	// Parts is how many parts it has, PartsDone how many of them are done. Read
	// only.
	Parts, PartsDone int
}

// Ended reports whether nothing will change any more.
func (r *Replay) Ended() bool { return r.State != ReplayQueued && r.State != ReplayRunning }

// ReplayCounts counts decisions. Done is the sum of the last three.
type ReplayCounts struct {
	Total, Done                  int64
	Identical, Different, Errors int64
}

// ReplayPart is a range of revisions of a batch replay, which one worker at a
// time goes through in order of (revision, created at, id).
type ReplayPart struct {
	Cluster, Replay string
	Number          int   // from 0
	First, Last     int64 // revisions, both inclusive
	State           string
	// Owner is the claim that works on it, for as long as its lease lasts by the
	// database's clock. It is unique to the claim, and so fences off a worker
	// whose part was taken over.
	Owner string
	// Attempts counts claims since the last progress.
	Attempts int
	Cursor   ReplayCursor
	ReplayCounts
}

// ReplayCursor is the last decision that was counted; zero: none.
type ReplayCursor struct {
	Revision  int64
	CreatedAt time.Time
	ID        string
}

// ReplayDifference is a decision that came out otherwise, or failed.
type ReplayDifference struct {
	ReplayCursor
	Payload []byte // JSON, opaque
}

// ReplayRange selects the decisions of a part. Since is inclusive, Until
// exclusive, both revisions are inclusive.
type ReplayRange struct {
	Cluster      string
	Since, Until time.Time
	First, Last  int64
}

// ReplayChange is a revision as the change to its parent; Change is nil where it
// replaces the whole state.
type ReplayChange struct {
	Number int64
	Digest string
	Change []byte
}

// Replays keeps batch replays, which all replicas work on. A worker claims a
// part, and each time it commits its cursor, its counters and what differed
// together, so that a kill at any moment leaves no decision out and counts none
// twice.
type Replays interface {
	// PlanReplay cuts the decisions of a window into parts of about size
	// decisions each, never between two of one revision. Parts come with number,
	// range and total.
	PlanReplay(ctx context.Context, cluster string, since, until time.Time, size int64) ([]*ReplayPart, error)
	// CreateReplay stores a batch with its parts; one without parts is done.
	// ErrNotFound where the cluster is unknown, *BusyError as by CreateSimulation.
	CreateReplay(ctx context.Context, r *Replay, parts []*ReplayPart, limits JobLimits) error
	// Replay returns a batch with its parts' counters summed up.
	Replay(ctx context.Context, id string) (*Replay, error)
	// ListReplays lists newest first, by ID, those of a cluster ("": all) with
	// ID < before ("": all), up to limit (0: all), without Config.
	ListReplays(ctx context.Context, cluster, before string, limit int) ([]*Replay, error)
	// ReplayStates counts the stored batches by state.
	ReplayStates(ctx context.Context) (map[string]int64, error)
	// EndReplay ends a batch that has not ended as cancelled or failed; one that
	// has stays as it is.
	EndReplay(ctx context.Context, id, state, reason string) error
	// DeleteReplay removes a batch with its parts and differences.
	DeleteReplay(ctx context.Context, id string) error
	// PruneReplays removes batches that ended before a time and tells how many.
	PruneReplays(ctx context.Context, before time.Time) (int64, error)

	// ClaimReplay returns a part to work on, of the oldest batch that has one that
	// no worker has or whose lease ran out; ErrNotFound where there is none.
	ClaimReplay(ctx context.Context, owner string, lease time.Duration) (*ReplayPart, error)
	// AdvanceReplay takes a part from before to after (cursor, counters, state
	// done or running), adds what differed, and renews the lease, whole or not at
	// all. ErrConflict: the part has changed since before was read, or another process has it. The
	// state is the batch's; where that has ended nothing was written.
	AdvanceReplay(ctx context.Context, before, after *ReplayPart, differ []*ReplayDifference, lease time.Duration) (state string, err error)
	// ReleaseReplay lets a claimed part go, so that another may have it at once.
	ReleaseReplay(ctx context.Context, p *ReplayPart) error
	// ReplayDecisions passes up to limit decisions of a range behind a cursor to
	// f, by (revision, created at, id), with what a replay needs: see ReplayColumns. f
	// may keep the record. It ends early once inputs of more than PageBytes were given.
	ReplayDecisions(ctx context.Context, q ReplayRange, after ReplayCursor, limit int, f func(*Decision) error) error
	// ReplayChanges lists up to limit revisions with Number > after, ascending,
	// with what it takes to go from one to the next. The list ends early once
	// changes of more than PageBytes are in it.
	ReplayChanges(ctx context.Context, cluster string, after int64, limit int) ([]*ReplayChange, error)
	// ReplayDifferences lists what differed behind a cursor, in order, up to limit.
	ReplayDifferences(ctx context.Context, id string, after ReplayCursor, limit int) ([]*ReplayDifference, error)
}

// Validate returns why a batch cannot be stored by every backend alike; the error
// wraps ErrInvalid.
func (r *Replay) Validate() error {
	switch {
	case r.ID == "":
		return invalid("replay.id", "is empty")
	case r.Cluster == "":
		return invalid("replay.cluster", "is empty")
	}
	return validateText("replay", r.ID, r.Cluster, r.Profile, r.Reason)
}

// CutReplay cuts the decisions of a window into parts. end returns the revision behind after at
// which a part has enough, or the greatest number; count counts the decisions of revisions behind
// after up to last, and tells their first and last revision.
func CutReplay(cluster string, end func(after int64) (last int64, err error), count func(after, last int64) (first, end, n int64, err error)) ([]*ReplayPart, error) {
	var parts []*ReplayPart
	for after := int64(-1); after < math.MaxInt64; {
		last, err := end(after)
		if err != nil {
			return nil, err
		}
		first, end, n, err := count(after, last)
		if err != nil {
			return nil, err
		}
		if n > 0 {
			parts = append(parts, &ReplayPart{
				Cluster: cluster, Number: len(parts), First: first, Last: end, State: ReplayQueued, ReplayCounts: ReplayCounts{Total: n},
			})
		}
		after = last
	}
	return parts, nil
}

// CheckEnd refuses to end a job as anything but cancelled or failed.
func CheckEnd(state string) error {
	if state != ReplayCancelled && state != ReplayFailed {
		return fmt.Errorf("end a job as %q: %w", state, ErrInvalid)
	}
	return nil
}
