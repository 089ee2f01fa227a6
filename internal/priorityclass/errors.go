package priorityclass

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"berth/internal/kube/object"
	"berth/internal/store"
)

// InvalidError describes what is wrong with a class, field by field.
type InvalidError struct {
	Name   string
	Errors field.ErrorList
}

func (e *InvalidError) Error() string {
	return fmt.Sprintf("PriorityClass.scheduling.k8s.io %q is invalid: %v", e.Name, object.FewProblems(e.Errors.ToAggregate()))
}

// ForbiddenError is the reason why a class may not be written, as an API server words it
// (apimachinery pkg/api/errors NewForbidden).
type ForbiddenError struct{ Name, Why string }

func (e *ForbiddenError) Error() string {
	return fmt.Sprintf("priorityclasses.scheduling.k8s.io %q is forbidden: %s", e.Name, e.Why)
}

// MismatchError is the error when a body names another class than the path.
type MismatchError struct{ Body, Path string }

func (e *MismatchError) Error() string {
	return fmt.Sprintf("the name of the object (%s) does not match the name on the URL (%s)", e.Body, e.Path)
}

// ConflictError is the error when a class was changed meanwhile; store.ErrConflict.
type ConflictError struct{ Name string }

func (e *ConflictError) Error() string {
	return fmt.Sprintf("Operation cannot be fulfilled on priorityclasses.scheduling.k8s.io %q: the object has been modified; please apply your changes to the latest version and try again", e.Name)
}

// Unwrap returns store.ErrConflict.
func (e *ConflictError) Unwrap() error { return store.ErrConflict }

// MissingError is the error when there is no class of a name; store.ErrNotFound.
type MissingError struct{ Name string }

func (e *MissingError) Error() string {
	return fmt.Sprintf("priorityclasses.scheduling.k8s.io %q not found", e.Name)
}

// Unwrap returns store.ErrNotFound.
func (e *MissingError) Unwrap() error { return store.ErrNotFound }

// ExistsError is the error when there is a class of that name; store.ErrExists.
type ExistsError struct{ Name string }

func (e *ExistsError) Error() string {
	return fmt.Sprintf("priorityclasses.scheduling.k8s.io %q already exists", e.Name)
}

// Unwrap returns store.ErrExists.
func (e *ExistsError) Unwrap() error { return store.ErrExists }

// FullError is the error when a cluster has as many classes as it may.
type FullError struct{ Max int }

func (e *FullError) Error() string {
	return fmt.Sprintf("the cluster has %d priority classes, and no more are kept", e.Max)
}
