package exchange

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"

	field "k8s.io/apimachinery/pkg/util/validation/field"

	"berth/internal/decision"
	ledger "berth/internal/decision/admit"
	"berth/internal/engine"
	"berth/internal/handlers/extender/wire"
	"berth/internal/kube/object"
	"berth/internal/priorityclass"
	"berth/internal/revision"
	"berth/internal/store"
)

// Error is an error in two parts: what the client is told and, as Cause, what only the log is.
type Error struct {
	Status int
	// Kind is the last part of the problem's type, a key of titles.
	Kind       string
	Detail     string
	Fields     []FieldError
	Unlisted   int // fields that are not among Fields
	Limit      string
	Conflict   *Conflict
	Location   string
	Newest     string
	RetryAfter int // seconds; 0: no such header
	Cause      error
	Gate       bool // refused before the body was read, for want of a slot
	// Denied is why a call was refused for who asked, where the kind does not say so, and About the
	// cluster that it was about, where the path and the query do not.
	Denied, About string
}

// Error implements error, with the part for the log.
func (e *Error) Error() string {
	if e.Cause != nil {
		return fmt.Sprintf("%s: %v", e.Detail, e.Cause)
	}
	return e.Detail
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

// Internal reports a fault of ours.
func Internal(cause error) *Error {
	return &Error{Status: http.StatusInternalServerError, Kind: "internal", Detail: "something failed inside berth; its log tells what, by the requestId", Cause: cause}
}

// BadRequest reports a body or a parameter that cannot be read.
func BadRequest(detail string) *Error {
	return &Error{Status: http.StatusBadRequest, Kind: "malformed", Detail: detail}
}

// BadField reports that a field or a parameter of ours has no good value.
func BadField(status int, name, message string) *Error {
	kind := "invalid"
	if status == http.StatusConflict {
		kind = "conflict"
	}
	return &Error{Status: status, Kind: kind, Detail: name + ": " + message, Fields: []FieldError{{name, string(field.ErrorTypeInvalid), message}}}
}

// TooLarge reports that a limit was passed.
func TooLarge(limit, detail string) *Error {
	return &Error{Status: http.StatusRequestEntityTooLarge, Kind: "limit", Detail: detail, Limit: limit}
}

// NotFound reports that there is no such thing.
func NotFound(detail string) *Error {
	return &Error{Status: http.StatusNotFound, Kind: "not-found", Detail: detail}
}

// HiddenError is store.ErrNotFound of something that is there, and that the caller may not see.
type HiddenError struct {
	Cluster string // that it is in
	Err     error
}

// Error implements error.
func (e *HiddenError) Error() string { return e.Err.Error() }

// Unwrap returns the error that the caller gets.
func (e *HiddenError) Unwrap() error { return e.Err }

// Translate returns the public form of any error.
func Translate(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	for _, f := range []func(error) *Error{Behind, fromMemory, fromObjects, fromWire, errorOf, fromClasses, fromStore} {
		if e := f(err); e != nil {
			return e
		}
	}
	return Internal(err)
}

// Reason returns what is wrong without the name of the field at fault, for callers that know it by
// another name.
func Reason(err error) string {
	e := Translate(err)
	if len(e.Fields) == 1 {
		return e.Fields[0].Message
	}
	return e.Detail
}

func fromObjects(err error) *Error {
	var limit *object.LimitError
	var syntax *object.SyntaxError
	var invalid *object.InvalidError
	var forbidden *ledger.ForbiddenError
	switch {
	case errors.As(err, &limit):
		return TooLarge(limit.Limit, limit.Error())
	case errors.As(err, &forbidden):
		e := Translate(forbidden.Err)
		e.Status, e.Kind, e.Detail = http.StatusForbidden, "not-admitted", forbidden.Error()
		return e
	case errors.As(err, &syntax):
		return BadRequest(syntax.Error())
	case errors.As(err, &invalid):
		return invalidObject(invalid, "")
	}
	return nil
}

// invalidObject lists an object's errors; their fields get the path that the object has in the
// body.
func invalidObject(invalid *object.InvalidError, prefix string) *Error {
	if prefix == "" {
		prefix = invalid.Path
	}
	if prefix != "" {
		prefix += "."
	}
	name := invalid.Key.Name
	if invalid.Key.Namespace != "" {
		name = invalid.Key.Namespace + "/" + name
	}
	e := &Error{Status: http.StatusUnprocessableEntity, Kind: "invalid", Detail: fmt.Sprintf("%s %q is invalid", invalid.Key.Kind, name)}
	listed := invalid.Errors[:min(len(invalid.Errors), MaxFields)]
	e.Unlisted = len(invalid.Errors) - len(listed)
	for i, f := range listed {
		e.Fields = append(e.Fields, FieldError{prefix + f.Field, string(f.Type), f.ErrorBody()})
		if i == 0 {
			e.Detail += ": " + prefix + f.Field + ": " + f.ErrorBody()
		}
	}
	if n := len(invalid.Errors); n > 1 {
		e.Detail += fmt.Sprintf(" (and %d more)", n-1)
	}
	if invalid.Remedy != "" {
		e.Detail += ". " + invalid.Remedy
	}
	return e
}

// InField puts the field of ours that held an object before the errors' paths.
func InField(prefix string, err error) error {
	if err == nil {
		return nil
	}
	var invalid *object.InvalidError
	var syntax *object.SyntaxError
	switch {
	case errors.As(err, &invalid):
		return invalidObject(invalid, prefix)
	case errors.As(err, &syntax):
		e := BadRequest(prefix + ": " + syntax.Error())
		e.Fields = []FieldError{{prefix, string(field.ErrorTypeTypeInvalid), syntax.Error()}}
		return e
	}
	return err
}

func fromWire(err error) *Error {
	var syntax *wire.SyntaxError
	var typed *wire.TypeError
	var limit *wire.LimitError
	var missing *wire.MissingError
	switch {
	case errors.As(err, &syntax):
		return BadRequest(syntax.Error())
	case errors.As(err, &typed):
		e := BadRequest(typed.Error())
		e.Fields = []FieldError{{typed.Field, string(field.ErrorTypeTypeInvalid), typed.Error()}}
		return e
	case errors.As(err, &limit):
		return TooLarge(limit.Limit, limit.Error())
	case errors.As(err, &missing):
		e := BadRequest(missing.Error())
		e.Fields = []FieldError{{missing.Field, string(field.ErrorTypeRequired), missing.Error()}}
		return e
	}
	return nil
}

// statuses are the HTTP statuses of the kinds of errors.
var statuses = map[decision.ErrorKind]int{
	decision.Invalid:   http.StatusUnprocessableEntity,
	decision.Malformed: http.StatusBadRequest,
	decision.NotFound:  http.StatusNotFound,
	decision.Conflict:  http.StatusConflict,
}

// busyJobs words that there are too many jobs of a kind.
func busyJobs(e *store.BusyError) *Error {
	limit := "scenario-jobs"
	switch {
	case e.Kind == store.Replays:
		limit = "replay-jobs"
	case e.Cluster != "":
		limit = "scenario-jobs-per-cluster"
	}
	return &Error{Status: http.StatusTooManyRequests, Kind: "overload", Detail: e.Error(), Limit: limit, RetryAfter: 10}
}

func errorOf(err error) *Error {
	var input *decision.Error
	var invalid *revision.InvalidError
	var conflict *revision.ConflictError
	var stored *decision.StoredError
	var work *engine.WorkError
	var busy *store.BusyError
	var ended *revision.HoldEndedError
	switch {
	case errors.As(err, &ended):
		return &Error{Status: http.StatusConflict, Kind: "conflict", Detail: ended.Error(), Conflict: &Conflict{Revision: ended.Hold.EndedRevision, State: ended.Hold.State}}
	case errors.As(err, &busy):
		return busyJobs(busy)
	case errors.As(err, &work):
		return TooLarge("max-decision-steps", work.Error())
	case errors.As(err, &stored):
		return otherPod(stored)
	case errors.As(err, &conflict):
		kind := "conflict"
		if conflict.StoredUID != "" {
			kind = "other-pod"
		}
		return &Error{Status: http.StatusConflict, Kind: kind, Detail: conflict.Detail, Conflict: &Conflict{
			Node: conflict.Node, Revision: conflict.Revision, StoredUID: conflict.StoredUID, RequestUID: conflict.AskedUID,
		}}
	case errors.As(err, &input):
		e := BadField(statuses[input.Kind], input.Field, input.Detail)
		if input.Kind == decision.NotFound {
			e.Kind = "not-found"
		}
		if input.Revision > 0 {
			e.Conflict = &Conflict{Node: input.Node, Revision: input.Revision}
		}
		return e
	case errors.As(err, &invalid) && invalid.Absent:
		e := NotFound(invalid.Error())
		e.Fields = []FieldError{{invalid.Field, string(field.ErrorTypeNotFound), invalid.Detail}}
		return e
	case errors.As(err, &invalid):
		return BadField(http.StatusUnprocessableEntity, invalid.Field, invalid.Detail)
	}
	return nil
}

// otherPod words that the snapshot holds another pod under a name, or one that differs.
func otherPod(err *decision.StoredError) *Error {
	e := &Error{Status: http.StatusConflict, Kind: "other-pod", Detail: err.Detail, Conflict: &Conflict{
		Revision: err.Revision, StoredUID: err.StoredUID, RequestUID: err.AskedUID,
	}}
	if len(err.Fields) == 0 {
		return e
	}
	e.Kind = "pod-differs"
	at := cmp.Or(err.At, "pod") + "."
	for _, f := range err.Fields {
		e.Fields = append(e.Fields, FieldError{at + f.Path, string(field.ErrorTypeInvalid), f.Message})
	}
	if len(err.Refused) == 0 {
		e.Conflict.Changes = &ConflictChanges{[]ledger.Patch{{Kind: "Pod", Namespace: err.Namespace, Name: err.Name, Type: "merge", Patch: err.Patch}}}
	}
	for _, f := range FieldErrors(err.Refused) {
		f.Field = at + f.Field
		e.Conflict.Refused = append(e.Conflict.Refused, f)
	}
	return e
}

func fromStore(err error) *Error {
	switch {
	case errors.Is(err, store.ErrFull): // before ErrUnavailable, which Postgres' is as well
		return &Error{Status: http.StatusServiceUnavailable, Kind: "store-unavailable", Detail: "the disk of the store is full, and this needs it; try again when there is room", RetryAfter: 10, Cause: err}
	case errors.Is(err, store.ErrUnavailable): // before what its causes may be
		return &Error{Status: http.StatusServiceUnavailable, Kind: "store-unavailable", Detail: "the store cannot be reached, and this needs it; try again later", RetryAfter: 1 + rand.IntN(3), Cause: err}
	case errors.Is(err, store.ErrNotFound):
		e := NotFound(err.Error())
		return e
	case errors.Is(err, store.ErrTakenOver):
		return &Error{Status: http.StatusServiceUnavailable, Kind: "unavailable", Detail: "another call with this Idempotency-Key has taken over; repeat it for the answer", RetryAfter: 1, Cause: err}
	case errors.Is(err, store.ErrConflict):
		return &Error{Status: http.StatusConflict, Kind: "conflict", Detail: err.Error()}
	case errors.Is(err, store.ErrInUse):
		return &Error{Status: http.StatusConflict, Kind: "in-use", Detail: err.Error()}
	case errors.Is(err, store.ErrClosed):
		return &Error{Status: http.StatusServiceUnavailable, Kind: "unavailable", Detail: "the store is closed: the server is ending", RetryAfter: 1, Cause: err}
	case errors.Is(err, context.DeadlineExceeded):
		return &Error{Status: http.StatusServiceUnavailable, Kind: "deadline", Detail: "the answer was not ready within the deadline", RetryAfter: 1, Cause: err}
	case errors.Is(err, context.Canceled):
		return &Error{Status: StatusClientGone, Kind: "unavailable", Detail: "the caller hung up", Cause: err}
	}
	return nil
}

// StatusClientGone is the status in logs of a request whose client disconnected before the answer.
// It is never sent.
const StatusClientGone = 499

// FieldErrors words a list of field errors as an API server's causes.
func FieldErrors(list field.ErrorList) []FieldError {
	out := make([]FieldError, 0, len(list))
	for _, f := range list {
		out = append(out, FieldError{f.Field, string(f.Type), f.ErrorBody()})
	}
	return out
}

// Behind makes the answer to a call that was held for nothing.
func Behind(err error) *Error {
	var b *revision.BehindError
	if !errors.As(err, &b) {
		return nil
	}
	return &Error{Status: http.StatusServiceUnavailable, Kind: "behind", Detail: b.Error(), RetryAfter: 1, Cause: b.Cause}
}

// fromClasses words the errors of the stored classes as an API server does.
func fromClasses(err error) *Error {
	var invalid *priorityclass.InvalidError
	var forbidden *priorityclass.ForbiddenError
	var mismatch *priorityclass.MismatchError
	var exists *priorityclass.ExistsError
	var full *priorityclass.FullError
	switch {
	case errors.As(err, &invalid):
		e := &Error{Status: http.StatusUnprocessableEntity, Kind: "invalid", Detail: invalid.Error()}
		e.Fields = FieldErrors(invalid.Errors)
		return e
	case errors.As(err, &forbidden):
		return &Error{Status: http.StatusForbidden, Kind: "forbidden", Detail: forbidden.Error()}
	case errors.As(err, &mismatch):
		return BadField(http.StatusBadRequest, "metadata.name", mismatch.Error())
	case errors.As(err, &exists):
		return &Error{Status: http.StatusConflict, Kind: "conflict", Detail: exists.Error()}
	case errors.As(err, &full):
		return &Error{Status: http.StatusUnprocessableEntity, Kind: "limit", Detail: full.Error()}
	}
	return nil
}

// Quiet reports whether the error is logged elsewhere, at a bounded rate.
func (e *Error) Quiet() bool { return e.Kind == "overload" || e.Kind == "unauthenticated" }
