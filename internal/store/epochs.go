package store

import (
	"crypto/rand"
	"fmt"
	"math"
	"time"
)

// An epoch is the time in which a database was one: a failover, a switchover and a restored copy
// begin another one. What a database had given out at its end may not have reached the next one,
// and no server knows what the others were told. So the numbers of an epoch, of revisions and of
// places in the log, begin where the last epoch's cannot have come: no number is given out twice.
const (
	epochNumbers = 1_000_000_000
	// epochMargin is how many numbers may have been given out that did not reach the new database.
	epochMargin = 100_000_000
	// maxNumber is the largest whole number that every reader of JSON keeps exactly.
	maxNumber = 1<<53 - 1
)

// EpochStart returns the first number of the epoch after the one that last is of: a multiple of
// 10^9. It is an error where there is none left.
func EpochStart(last int64) (int64, error) {
	n := ((last+epochMargin)/epochNumbers + 1) * epochNumbers
	if last < 0 || n > maxNumber-epochNumbers {
		return 0, fmt.Errorf("there is no epoch after number %d", last)
	}
	return n, nil
}

// StartsEpoch reports whether a number is the first of an epoch but the first one.
func StartsEpoch(number int64) bool { return number > 0 && number%epochNumbers == 0 }

// CauseEpoch is the cause of the revision with which a chain begins an epoch. It changes nothing.
const CauseEpoch = "epoch"

// CauseFailover is the cause of a Gap of what an epoch's end has lost.
const CauseFailover = "failover"

// BeginsEpoch reports whether a revision begins an epoch, and so may leave numbers out. What it
// follows shows in its ParentToken.
func (r *Revision) BeginsEpoch() bool {
	return r.Cause == CauseEpoch && StartsEpoch(r.Number)
}

// NewToken returns a text that no other revision has. Those of later revisions come later in order,
// and so at the end of the index of parents: in a random place the index has to be balanced, after
// which SQLite goes through all pages that it caches.
func NewToken(revision int64) string {
	form := "%08x"
	if revision > math.MaxUint32 {
		form = "x%013x" // behind all that are shorter
	}
	return fmt.Sprintf(form, revision) + rand.Text()[:18]
}

// Epoch names an epoch and the database that it is of.
type Epoch struct {
	Number   int64  `json:"number"`
	System   string `json:"system"`   // PostgreSQL's system identifier; "": not known
	Timeline int64  `json:"timeline"` // 0: not known
}

// EpochLoss is what a server knows to be missing of a cluster at the beginning of an epoch.
type EpochLoss struct {
	Cluster string
	// Lost counts answered decisions that are not on record; UnknownLoss.
	Lost         int64
	Since, Until time.Time // when they were answered
	// FirstRevision and LastRevision are the revisions that are missing; 0: none are.
	FirstRevision, LastRevision int64
	IDs                         []string // of the decisions, as far as they are remembered
}

// EpochChange is told to a server that meets another epoch, or finds its own one cut short.
type EpochChange struct {
	From, To Epoch
	At       time.Time
	// Remembers is whether the server knows what was answered before. One that started since only
	// knows when the last record that all databases have was written.
	Remembers bool
	Losses    []EpochLoss // by cluster
}
