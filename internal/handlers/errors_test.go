package handlers

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"berth/internal/handlers/limits"
	"berth/internal/store"
)

// An outage has one cause, and so few lines in the log, however many calls it costs.
func TestOutageIsLoggedSeldom(t *testing.T) {
	h, s := startSlow(t, func(*limits.Limits) {})
	s.err = fmt.Errorf("record: %w", store.ErrUnavailable)
	close(s.let)
	for range 20 {
		h.want(http.StatusServiceUnavailable, nil, "POST", "/v1/decisions", `{"pod":`+pod("new", "1", "")+`}`)
	}
	if n := strings.Count(h.log.String(), `"refused"`); n != 1 {
		t.Errorf("%d lines in the log", n)
	}
}
