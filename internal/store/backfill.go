package store

import (
	"cmp"
	"context"
	"slices"
	"time"
)

// AttributedSince is the first schema whose seals cover a decision's Purpose and Attempt.
const AttributedSince = 23

// Fillable is what of a cluster may be filled in.
type Fillable struct {
	Cluster string
	// Last is the last place of the log that is looked at, and Seal the last seal.
	Last, Seal int64
	// Sealed are the places of decisions whose seals cover Purpose and Attempt, in ranges that are
	// inclusive at both ends and ascending: what is there has to stay.
	Sealed [][2]int64
	// Shortened reports whether decisions were removed for their age.
	Shortened bool
	// Removed are the revisions of which what they changed was removed for its age.
	Removed [][2]int64
}

// Open reports whether Purpose and Attempt of the decision at a place may be filled in.
func (f *Fillable) Open(seq int64) bool { return seq <= f.Last && !within(f.Sealed, seq) }

// Gone reports whether what a revision changed was removed for its age.
func (f *Fillable) Gone(revision int64) bool { return within(f.Removed, revision) }

// within reports whether a number is in one of ascending ranges.
func within(ranges [][2]int64, n int64) bool {
	_, found := slices.BinarySearchFunc(ranges, n, func(r [2]int64, n int64) int {
		switch {
		case n < r[0]:
			return 1
		case n > r[1]:
			return -1
		}
		return 0
	})
	return found
}

// MergeRanges sorts ranges, and joins those that touch.
func MergeRanges(ranges [][2]int64) (merged [][2]int64) {
	slices.SortFunc(ranges, func(a, b [2]int64) int { return cmp.Compare(a[0], b[0]) })
	for _, r := range ranges {
		if last := len(merged) - 1; last >= 0 && r[0] <= merged[last][1]+1 {
			merged[last][1] = max(merged[last][1], r[1])
			continue
		}
		merged = append(merged, r)
	}
	return merged
}

// BackfillColumns name the columns that are read of records to fill in what is missing.
var BackfillColumns = []string{
	"cluster", "id", "created_at", "revision", "bound_revision", "verb", "outcome", "namespace",
	"pod", "pod_uid", "priority", "nodes_total", "nodes_feasible", "pod_digest", "seq", "mode", "purpose", "attempt",
}

// UnchangedRevision is a revision of which no object is kept that it changed. Recorded reports
// whether a decision has the pod that it bound.
type UnchangedRevision struct {
	Number   int64
	Recorded bool
}

// Backfill fills in what earlier releases did not write. Each call that writes is one transaction,
// of as much as it is given, and leaves alone what is there: it may be repeated.
type Backfill interface {
	// Fillable returns what of a cluster may be filled in; ErrNotFound where nothing is stored.
	Fillable(ctx context.Context, cluster string) (*Fillable, error)
	// BackfillRecords lists up to limit decisions of a cluster behind a cursor with the columns of
	// BackfillColumns: by revision, time and id, or else by time and id.
	BackfillRecords(
		ctx context.Context, cluster string, byRevision bool, after ReplayCursor, limit int,
	) ([]*Decision, error)
	// Inputs returns the inputs of decisions by id. It may end early, after PageBytes, with one at
	// least: more reports that.
	Inputs(
		ctx context.Context, cluster string, ids []string,
	) (inputs map[string][]byte, more bool, err error)
	// FillDecisions writes Purpose and Attempt where they are missing and the given ones are not
	// empty, and returns how many decisions that changed. ErrConflict: the chain began anew since
	// Fillable was called.
	FillDecisions(ctx context.Context, f *Fillable, list []*Decision) (filled int64, err error)
	// Unchanged lists up to limit stored revisions behind one of which no object is kept that they
	// changed, ascending. The first revisions of copies have none.
	Unchanged(ctx context.Context, cluster string, after int64, limit int) ([]UnchangedRevision, error)
	// FillObjects writes the Objects of revisions of a cluster that are stored with their tokens
	// and have none, with a seal, and returns of how many revisions that was.
	FillObjects(ctx context.Context, cluster string, list []*Revision) (filled int64, err error)
	// FactsSeen returns when pods were seen last whose facts are kept, by digest.
	FactsSeen(ctx context.Context, cluster string, digests []string) (map[string]time.Time, error)
	// FillFacts writes the Facts of pods that decisions have where roll-ups copy them to, or that
	// they were seen again.
	FillFacts(ctx context.Context, list []*Decision) error
}
