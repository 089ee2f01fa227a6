package exchange

import (
	"context"
	"net/http"

	"github.com/google/uuid"
)

// RequestIDHeader carries a request's id.
const RequestIDHeader = "X-Request-Id"

type requestIDKey struct{}

// RequestID returns the id of the request that ctx belongs to; empty without one.
func RequestID(ctx context.Context) string {
	if id, ok := ctx.Value(requestIDKey{}).(*string); ok {
		return *id
	}
	return ""
}

// IncomingID takes the caller's id if it is sane, since it ends in logs and headers, else makes
// one.
func IncomingID(r *http.Request) string {
	id := r.Header.Get(RequestIDHeader)
	if len(id) == 0 || len(id) > 128 {
		return newID()
	}
	for i := range len(id) {
		switch c := id[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '_', c == '.', c == ':', c == '/', c == '+', c == '=':
		default:
			return newID()
		}
	}
	return id
}

func newID() string {
	id, err := uuid.NewV7()
	if err != nil {
		return uuid.NewString() // panics itself where there is no randomness
	}
	return id.String()
}

// DecisionIDHeader carries a decision's id where the body has no place for it.
const DecisionIDHeader = "Berth-Decision-Id"

// TruncatedHeader is that of a file that lacks rows, whose form has no place to say so.
const TruncatedHeader = "X-Berth-Truncated"
