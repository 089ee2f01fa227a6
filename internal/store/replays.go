package store

import (
	"math"
	"time"
)

// ReplayCounts counts decisions. Done is the sum of the last three.
type ReplayCounts struct {
	Total, Done                  int64
	Identical, Different, Errors int64
}

// ReplayResult is a decision that was answered again, alone.
type ReplayResult struct {
	ID                  string // UUIDv7, of the replay
	Cluster, DecisionID string
	Seq                 int64 // the decision's
	Identical           bool
	Differences         int64  // how many values differed
	Overrides           string // what was not as recorded, such as "profile"; "": nothing
	Semantics           string // that it was decided by
	ProfileDigest       string
	CreatedAt           time.Time
	Asked               Asked
}

// Validate returns why a result cannot be stored by every backend alike.
func (r *ReplayResult) Validate() error {
	switch {
	case r.ID == "":
		return invalid("replay.id", "is empty")
	case r.Cluster == "":
		return invalid("replay.cluster", "is empty")
	case r.DecisionID == "":
		return invalid("replay.decisionId", "is empty")
	}
	if err := validateTimes("replay", r.CreatedAt); err != nil {
		return err
	}
	return validateText("replay", r.ID, r.Cluster, r.DecisionID, r.Overrides, r.Semantics, r.ProfileDigest, r.Asked.By, r.Asked.Peer, r.Asked.RequestID)
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
				Cluster: cluster, Number: len(parts), First: first, Last: end, State: JobQueued, ReplayCounts: ReplayCounts{Total: n},
			})
		}
		after = last
	}
	return parts, nil
}
