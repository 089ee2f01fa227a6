package revision

import (
	"errors"
	"fmt"
	"time"

	"berth/internal/store"
)

// ErrCorrupt is the error for stored bytes that are not what was written. Errors that wrap it name
// the revision.
var ErrCorrupt = errors.New("stored data is damaged")

// InvalidError is the error for a part of a request that cannot be carried out.
type InvalidError struct {
	Field  string // where in the request, such as apply[3]
	Detail string
	// Absent reports whether the request names something that does not exist. The error then wraps
	// store.ErrNotFound.
	Absent bool
}

func (e *InvalidError) Error() string { return fmt.Sprintf("%s: %s", e.Field, e.Detail) }

// Unwrap returns store.ErrNotFound if Absent is set.
func (e *InvalidError) Unwrap() error {
	if e.Absent {
		return store.ErrNotFound
	}
	return nil
}

// ConflictError describes what a request conflicts with. It wraps store.ErrConflict.
type ConflictError struct {
	Detail string
	// Node is the node that the pod is bound to. It is empty if that is not the conflict.
	Node string
	// Revision is the newest one when the request was judged.
	Revision int64
	// StoredUID and AskedUID are the UIDs of two pods of one name, where that is the conflict.
	StoredUID, AskedUID string
}

func (e *ConflictError) Error() string { return e.Detail }

// Unwrap returns store.ErrConflict.
func (e *ConflictError) Unwrap() error { return store.ErrConflict }

// EmptiesError is the error of an upload that would leave a cluster without nodes and pods.
type EmptiesError struct {
	ID          string // of the newest revision
	Nodes, Pods int    // that it has
}

func (e *EmptiesError) Error() string {
	return fmt.Sprintf("the upload has no node and no pod, and would replace %s, which has nodes: %d, pods: %d", e.ID, e.Nodes, e.Pods)
}

// GoneError is the error for a cluster of which the database that took another one's place has
// nothing. It wraps store.ErrNotFound.
type GoneError struct {
	Cluster string
	At      time.Time // when that was found
	Last    int64     // revision
}

func (e *GoneError) Error() string {
	return fmt.Sprintf("cluster %q is lost: the database that took another one's place, as was found at %s, has none of its revisions 1 to %d; "+
		"the gap is on record (chain_epochs_log), and POST /v1/snapshots?cluster=%s begins the cluster anew", e.Cluster, e.At.Format(time.RFC3339), e.Last, e.Cluster)
}

// Unwrap returns store.ErrNotFound.
func (e *GoneError) Unwrap() error { return store.ErrNotFound }

func corrupt(cluster string, revision int64, why string, err error) error {
	if err != nil {
		return fmt.Errorf("%s: %s: %w (%w)", FormatID(cluster, revision), why, ErrCorrupt, err)
	}
	return fmt.Errorf("%s: %s: %w", FormatID(cluster, revision), why, ErrCorrupt)
}

// BehindError is of a rejection that was not given: the state was not shown to be as new as the
// call.
type BehindError struct {
	Cluster string
	Waited  time.Duration
	Cause   error
}

// Error implements error.
func (e *BehindError) Error() string {
	return fmt.Sprintf("the state of cluster %s was not shown to be as new as this call within %s, so nothing is rejected: ask again (%v)", e.Cluster, e.Waited, e.Cause)
}

// Unwrap returns the reason why it was not shown.
func (e *BehindError) Unwrap() error { return e.Cause }
