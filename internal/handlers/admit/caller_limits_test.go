package admit

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"berth/internal/handlers/exchange"
	"berth/internal/handlers/limits"
)

func callerLimitsFor(t *testing.T, perSecond, burst, inFlight int) *callerLimits {
	t.Helper()
	l := limits.Default()
	l.CallerRate, l.CallerBurst, l.CallerInFlight = perSecond, burst, inFlight
	if err := l.Validate(); err != nil {
		t.Fatal(err)
	}
	return newCallerLimits(&l)
}

func TestCallerRate(t *testing.T) {
	c, now := callerLimitsFor(t, 2, 3, 0), time.Unix(1000, 0)
	for i, want := range []string{`"caller-rate";r=2;t=1`, `"caller-rate";r=1;t=1`, `"caller-rate";r=0;t=2`} {
		h := http.Header{}
		if _, err := c.enter(h, exchange.Caller{Identity: "a"}, now); err != nil {
			t.Fatal(err)
		}
		if got := h.Get("RateLimit"); got != want || h.Get("RateLimit-Policy") != `"caller-rate";q=3;w=2` {
			t.Errorf("call %d: %s, policy %s", i, got, h.Get("RateLimit-Policy"))
		}
	}
	_, err := c.enter(http.Header{}, exchange.Caller{Identity: "a"}, now)
	var e *exchange.Error
	if !errors.As(err, &e) || e.Status != http.StatusTooManyRequests || e.Limit != "caller-rate" || e.RetryAfter != 1 || !strings.Contains(e.Detail, "--caller-rate=2") {
		t.Fatalf("%#v", err)
	}
	if _, err := c.enter(http.Header{}, exchange.Caller{Identity: "b"}, now); err != nil {
		t.Errorf("another caller is refused: %v", err)
	}
	if _, err := c.enter(http.Header{}, exchange.Caller{Identity: "a"}, now.Add(time.Second)); err != nil {
		t.Errorf("refused after Retry-After: %v", err)
	}
}

func TestCallerInFlight(t *testing.T) {
	c, now := callerLimitsFor(t, 0, 1, 2), time.Unix(1000, 0)
	first, err := c.enter(http.Header{}, exchange.Caller{Identity: "a"}, now)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.enter(http.Header{}, exchange.Caller{Identity: "a"}, now); err != nil {
		t.Fatal(err)
	}
	var e *exchange.Error
	if _, err := c.enter(http.Header{}, exchange.Caller{Identity: "a"}, now); !errors.As(err, &e) || e.Limit != "caller-in-flight" || e.RetryAfter == 0 {
		t.Fatalf("%#v", err)
	}
	c.end(first)
	if _, err := c.enter(http.Header{}, exchange.Caller{Identity: "a"}, now); err != nil {
		t.Errorf("refused with a call in flight of two: %v", err)
	}
}

// TestCallersAreBounded: made-up callers fill no memory, and push out none with a call in flight.
func TestCallersAreBounded(t *testing.T) {
	c, now := callerLimitsFor(t, 1, 1, 1), time.Unix(1000, 0)
	if _, err := c.enter(http.Header{}, exchange.Caller{Identity: "busy"}, now); err != nil {
		t.Fatal(err)
	}
	for i := range 2 * maxCallers {
		u, err := c.enter(http.Header{}, exchange.Caller{Identity: fmt.Sprint(i)}, now)
		if err != nil {
			t.Fatal(err)
		}
		c.end(u)
	}
	if len(c.callers) > maxCallers || c.recent.Len() != len(c.callers) || c.callers[exchange.Caller{Identity: "busy"}] == nil {
		t.Errorf("%d callers, %d in order, busy kept: %v", len(c.callers), c.recent.Len(), c.callers[exchange.Caller{Identity: "busy"}] != nil)
	}
}
