package decision

import (
	"fmt"

	"berth/internal/store"
)

// ErrorKind is what an error is, without HTTP.
type ErrorKind int

// The kinds of errors.
const (
	Invalid   ErrorKind = iota // a value that cannot be decided on
	Malformed                  // fields that contradict each other or are missing
	NotFound
	Conflict // the newest state forbids it
)

// Error names the field of a question that cannot be answered, and the reason.
type Error struct {
	Kind   ErrorKind
	Field  string
	Detail string
	// Node and Revision are the node of a pod that is bound already and the revision that has it
	// there.
	Node     string
	Revision int64
}

func (e *Error) Error() string { return fmt.Sprintf("%s: %s", e.Field, e.Detail) }

// Unwrap returns the store's error of the same kind, if there is one.
func (e *Error) Unwrap() error {
	switch e.Kind {
	case NotFound:
		return store.ErrNotFound
	case Conflict:
		return store.ErrConflict
	}
	return nil
}

// Errorf returns an error about a field.
func Errorf(kind ErrorKind, field, format string, args ...any) *Error {
	return &Error{Kind: kind, Field: field, Detail: fmt.Sprintf(format, args...)}
}
