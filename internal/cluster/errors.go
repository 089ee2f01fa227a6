package cluster

import (
	"errors"
	"fmt"

	"berth/internal/store"
)

// ErrCorrupt says that stored bytes are not what was once written. Errors that
// wrap it name the revision.
var ErrCorrupt = errors.New("stored data is damaged")

// InvalidError says which part of a request cannot be done, and why.
type InvalidError struct {
	Field  string // where in the request, such as apply[3]
	Detail string
	// Absent says that the request names something that is not there; the error
	// then is store.ErrNotFound too.
	Absent bool
}

func (e *InvalidError) Error() string { return fmt.Sprintf("%s: %s", e.Field, e.Detail) }

// Unwrap gives store.ErrNotFound where something named is absent.
func (e *InvalidError) Unwrap() error {
	if e.Absent {
		return store.ErrNotFound
	}
	return nil
}

// ConflictError says what a request collides with; store.ErrConflict.
type ConflictError struct {
	Detail string
	// Node is the node that the pod in question is bound to; empty where that is
	// not what is in the way.
	Node string
	// Revision is the newest one when the request was judged.
	Revision int64
}

func (e *ConflictError) Error() string { return e.Detail }

// Unwrap gives store.ErrConflict.
func (e *ConflictError) Unwrap() error { return store.ErrConflict }

func corrupt(cluster string, revision int64, why string, err error) error {
	if err != nil {
		return fmt.Errorf("%s: %s: %w (%w)", FormatID(cluster, revision), why, ErrCorrupt, err)
	}
	return fmt.Errorf("%s: %s: %w", FormatID(cluster, revision), why, ErrCorrupt)
}
