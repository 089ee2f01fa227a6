// Package exchange is one request and its answer: its id, its caller and route, its body read and
// decoded, errors as problems, and answers written.
package exchange

import (
	"context"
	"net/http"

	"berth/internal/access"
	"berth/internal/decision"
	"berth/internal/handlers/extender/wire"
	"berth/internal/memory"
	"berth/internal/span"
	"berth/internal/store"
)

// Exchange is a request's context and the writer of its answer in one. What every request has is in
// fields: a context for each value would be an allocation, and a step of every look-up. A field is
// set before the handlers that read it are called.
type Exchange struct {
	context.Context
	ID     string
	Need   *Need // nil until the route is known, as the next two
	Caller *access.Identity
	Asked  store.Asked
	Claim  *memory.Claim // nil until the call is admitted, as the next one
	Place  decision.Slot
	By     Caller  // set with them
	Body   *[]byte // read, in a pooled buffer; nil: none was

	http.ResponseWriter
	Status int // 0 until the header is written
	Bytes  int
	values [4]string // of headers
	used   int       // of them
}

// buffer returns an empty buffer for the request's body.
func (x *Exchange) buffer() *[]byte {
	if x.Body == nil {
		x.Body = wire.GetBuffer()
	}
	return x.Body
}

type exchangeKey struct{}

// Of returns the exchange that a context belongs to.
func Of(ctx context.Context) *Exchange {
	x, _ := ctx.Value(exchangeKey{}).(*Exchange)
	return x
}

// Value implements context.Context.
func (x *Exchange) Value(key any) any {
	switch key.(type) {
	case exchangeKey:
		return x
	case requestIDKey:
		return &x.ID
	case needKey:
		if x.Need != nil {
			return x.Need
		}
	case access.Key:
		if x.Caller != nil {
			return x.Caller
		}
	case store.AskedKey:
		if x.Caller != nil {
			return &x.Asked
		}
	case memory.Key:
		if x.Claim != nil {
			return x.Claim
		}
	case decision.SlotKey:
		if x.Place != nil {
			return x.Place
		}
	}
	return x.Context.Value(key)
}

// SetHeader is Set of a response's header whose name is in canonical form.
func SetHeader(w http.ResponseWriter, name, value string) {
	x, ok := w.(*Exchange)
	if !ok || x.used == len(x.values) {
		w.Header()[name] = []string{value}
		return
	}
	x.values[x.used] = value
	x.used++
	w.Header()[name] = x.values[x.used-1 : x.used : x.used]
}

// Owner implements memory.Owner.
func (x *Exchange) Owner() any { return x.By }

// Unwrap is for http.ResponseController.
func (x *Exchange) Unwrap() http.ResponseWriter { return x.ResponseWriter }

// WriteHeader implements http.ResponseWriter.
func (x *Exchange) WriteHeader(status int) {
	if x.Status != 0 {
		return
	}
	if status >= http.StatusOK { // else another one follows
		x.Status = status
	}
	x.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (x *Exchange) Write(b []byte) (int, error) {
	if x.Status == 0 {
		x.WriteHeader(http.StatusOK)
	}
	n, err := x.ResponseWriter.Write(b)
	x.Bytes += n
	return n, err //nolint:wrapcheck // it is the connection's
}

// Encoding begins the part in which an answer is encoded and sent.
func Encoding(w http.ResponseWriter) (part span.Span) {
	if x, ok := w.(*Exchange); ok {
		_, part = span.Start(x, span.Encode)
	}
	return part
}

// JoinKey is the key of a context's func() that prepares the connection for a long answer. It is
// called before a body of joinedBytes or more is written in one call, of which net/http makes two
// writes: the connection sends both as one.
type JoinKey struct{}

// NamedKey is the key of a context's func() that is called when a caller has proved who it is: its
// connection is kept before those of others.
type NamedKey struct{}

// joinedBytes is twice the size of net/http's buffer of a connection, so that a second write
// follows the one that fills it.
const joinedBytes = 8 << 10

// join prepares the connection for a long answer, where it can join writes.
func (x *Exchange) join() {
	if join, ok := x.Context.Value(JoinKey{}).(func()); ok {
		join()
	}
}
