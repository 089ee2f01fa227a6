package handlers

import (
	"context"
	"errors"
	"fmt"
	"io"
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
		e := translate(fmt.Errorf("write prod@2: %w", c.err))
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

// A database that hangs up in the middle of an upload describes what a body that is
// cut off says; only the latter is the caller's doing.
func TestLostDatabaseIsNoShortBody(t *testing.T) {
	lost := fmt.Errorf("write prod@2: %w: %w", store.ErrUnavailable, io.ErrUnexpectedEOF)
	if e := translate(bodyError(lost)); e.Status != http.StatusServiceUnavailable {
		t.Errorf("status %d: %s", e.Status, e.Detail)
	}
	if e := translate(bodyError(fmt.Errorf("read: %w", io.ErrUnexpectedEOF))); e.Status != http.StatusBadRequest {
		t.Errorf("status %d: %s", e.Status, e.Detail)
	}
}

// An outage has one cause, and so few lines in the log, however many calls it costs.
func TestOutageIsLoggedSeldom(t *testing.T) {
	h, s := startSlow(t, func(*Limits) {})
	s.err = fmt.Errorf("record: %w", store.ErrUnavailable)
	close(s.let)
	for range 20 {
		h.want(http.StatusServiceUnavailable, nil, "POST", "/v1/decisions", `{"pod":`+pod("new", "1", "")+`}`)
	}
	if n := strings.Count(h.log.String(), `"refused"`); n != 1 {
		t.Errorf("%d lines in the log", n)
	}
}
