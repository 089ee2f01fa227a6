package decisionlog

import (
	"fmt"
	"net/http"

	"berth/internal/cluster"
	"berth/internal/store"
)

// InputError says which field of a question cannot be answered, and why.
type InputError struct {
	Field  string
	Detail string
	Status int // 400, 404, 409 or 422
	// Node and Revision say what is there where a pod is bound already.
	Node     string
	Revision int64
}

func (e *InputError) Error() string { return fmt.Sprintf("%s: %s", e.Field, e.Detail) }

// Unwrap gives store.ErrNotFound for 404 and store.ErrConflict for 409.
func (e *InputError) Unwrap() error {
	switch e.Status {
	case http.StatusNotFound:
		return store.ErrNotFound
	case http.StatusConflict:
		return store.ErrConflict
	}
	return nil
}

func bad(status int, field, format string, args ...any) *InputError {
	return &InputError{Field: field, Detail: fmt.Sprintf(format, args...), Status: status}
}

// bound refuses a pod that a view has on a node.
func bound(v *cluster.View, field, node, format string, args ...any) *InputError {
	e := bad(http.StatusConflict, field, format, args...)
	e.Node, e.Revision = node, v.Revision
	return e
}

// BindError says in words why a pod was not bound. Nothing was written.
type BindError struct{ Reason string }

func (e *BindError) Error() string { return e.Reason }
