package handlers

import (
	"context"
	"net/http"

	"berth/internal/access"
	"berth/internal/handlers/wire"
	"berth/internal/memory"
	"berth/internal/slot"
	"berth/internal/span"
	"berth/internal/store"
)

// exchange is a request's context and the writer of its answer in one. What every request has is in
// fields: a context for each value would be an allocation, and a step of every look-up. A field is
// set before the handlers that read it are called.
type exchange struct {
	context.Context
	id     string
	need   *need // nil until the route is known, as the next two
	caller *access.Identity
	asked  store.Asked
	claim  *memory.Claim // nil until the call is admitted, as the next one
	place  slot.Slot
	by     caller  // set with them
	body   *[]byte // read, in a pooled buffer; nil: none was

	http.ResponseWriter
	status int // 0 until the header is written
	bytes  int
	values [4]string // of headers
	used   int       // of them
}

// buffer returns an empty buffer for the request's body.
func (x *exchange) buffer() *[]byte {
	if x.body == nil {
		x.body = wire.GetBuffer()
	}
	return x.body
}

type exchangeKey struct{}

// exchangeOf returns the exchange that a context belongs to.
func exchangeOf(ctx context.Context) *exchange {
	x, _ := ctx.Value(exchangeKey{}).(*exchange)
	return x
}

// Value implements context.Context.
func (x *exchange) Value(key any) any {
	switch key.(type) {
	case exchangeKey:
		return x
	case requestIDKey:
		return &x.id
	case needKey:
		if x.need != nil {
			return x.need
		}
	case access.Key:
		if x.caller != nil {
			return x.caller
		}
	case store.AskedKey:
		if x.caller != nil {
			return &x.asked
		}
	case memory.Key:
		if x.claim != nil {
			return x.claim
		}
	case slot.Key:
		if x.place != nil {
			return x.place
		}
	}
	return x.Context.Value(key)
}

// setHeader is Set of a response's header whose name is in canonical form.
func setHeader(w http.ResponseWriter, name, value string) {
	x, ok := w.(*exchange)
	if !ok || x.used == len(x.values) {
		w.Header()[name] = []string{value}
		return
	}
	x.values[x.used] = value
	x.used++
	w.Header()[name] = x.values[x.used-1 : x.used : x.used]
}

// Owner implements memory.Owner.
func (x *exchange) Owner() any { return x.by }

// Unwrap is for http.ResponseController.
func (x *exchange) Unwrap() http.ResponseWriter { return x.ResponseWriter }

// WriteHeader implements http.ResponseWriter.
func (x *exchange) WriteHeader(status int) {
	if x.status != 0 {
		return
	}
	if status >= http.StatusOK { // else another one follows
		x.status = status
	}
	x.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (x *exchange) Write(b []byte) (int, error) {
	if x.status == 0 {
		x.WriteHeader(http.StatusOK)
	}
	n, err := x.ResponseWriter.Write(b)
	x.bytes += n
	return n, err //nolint:wrapcheck // it is the connection's
}

// encoding begins the part in which an answer is encoded and sent.
func encoding(w http.ResponseWriter) (part span.Span) {
	if x, ok := w.(*exchange); ok {
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
func (x *exchange) join() {
	if join, ok := x.Context.Value(JoinKey{}).(func()); ok {
		join()
	}
}
