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

func corrupt(cluster string, revision int64, why string, err error) error {
	if err != nil {
		return fmt.Errorf("%s: %s: %w (%w)", FormatID(cluster, revision), why, ErrCorrupt, err)
	}
	return fmt.Errorf("%s: %s: %w", FormatID(cluster, revision), why, ErrCorrupt)
}
