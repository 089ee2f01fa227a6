package exchange

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"berth/internal/store"
)

// A store that is away is no bug of berth's: callers are told to come back.
func TestStoreErrorsHaveTheirStatus(t *testing.T) {
	for _, c := range []struct {
		err    error
		status int
		retry  bool
	}{
		{store.ErrNotFound, http.StatusNotFound, false},
		{store.ErrConflict, http.StatusConflict, false},
		{store.ErrInUse, http.StatusConflict, false},
		{store.ErrClosed, http.StatusServiceUnavailable, true},
		{store.ErrUnavailable, http.StatusServiceUnavailable, true},
		{fmt.Errorf("%w: %w", store.ErrUnavailable, store.ErrFull), http.StatusServiceUnavailable, true},
		{context.DeadlineExceeded, http.StatusServiceUnavailable, true},
		{store.ErrInvalid, http.StatusInternalServerError, false},
	} {
		e := Translate(fmt.Errorf("write prod@2: %w", c.err))
		if e.Status != c.status || (e.RetryAfter > 0) != c.retry {
			t.Errorf("%v: status %d, Retry-After %d", c.err, e.Status, e.RetryAfter)
		}
		if errors.Is(c.err, store.ErrFull) != strings.Contains(e.Detail, "is full") {
			t.Errorf("%v: %s", c.err, e.Detail)
		}
		if c.status >= 500 && strings.Contains(e.Detail, "prod@2") {
			t.Errorf("%v: the caller is told the cause: %s", c.err, e.Detail)
		}
	}
}
