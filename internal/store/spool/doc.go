// Package spool keeps decisions safe while the database is away: a segmented,
// append-only log on the local disk, and a store.Store around the database's
// own that writes to it when the database does not answer, and hands over what
// it holds, in order and once, when it does again.
//
// The unit of writing is a group: the records of one batch in one frame, one
// write and one fsync. A group is begun only after the one before is on disk,
// so a group that cannot be read is a torn tail if nothing good follows it, and
// damage to what was acknowledged if something does.
package spool

import (
	"errors"
	"time"

	"berth/internal/store"
)

var (
	// ErrFull reports that the spool holds as much as it may. It is a
	// store.ErrUnavailable: there is room again when the database is back.
	ErrFull = errors.New("the spool is full")
	// ErrLocked reports that another process uses the directory.
	ErrLocked = errors.New("the spool is in use by another process")
	// ErrExposed reports that others than the owner may read the spool.
	ErrExposed = errors.New("the spool can be read by others than its owner")
)

// Limits of one log. Zero fields take the defaults.
type Limits struct {
	// Total is the most bytes in all segments. 0: 1 GiB.
	Total int64
	// Segment is after how many bytes a new segment is begun. 0: 64 MiB.
	Segment int64
	// Record is the most bytes of one record. 0: 4 MiB.
	Record int
}

func (l Limits) withDefaults() Limits {
	if l.Total <= 0 {
		l.Total = 1 << 30
	}
	if l.Segment <= 0 {
		l.Segment = 64 << 20
	}
	if l.Record <= 0 {
		l.Record = 4 << 20
	}
	return l
}

// entry is what a record holds: never a revision, which needs the shared chain.
type entry struct {
	Decision *store.Decision `json:",omitempty"`
	Profile  *store.Profile  `json:",omitempty"`
	Gap      *store.Gap      `json:",omitempty"`
}

// at is the record's own time.
func (e *entry) at() time.Time {
	if e.Decision != nil {
		return e.Decision.CreatedAt
	}
	return e.Gap.Until
}

// spoolable reports whether an entry may wait outside of the database.
func spoolable(e *store.Entry) bool {
	return e.Revision == nil && e.Checkpoint == nil && e.Call == nil && (e.Decision != nil || e.Gap != nil)
}
