package handlers

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

func callerLimitsFor(t *testing.T, perSecond, burst, inFlight int) *callerLimits {
	t.Helper()
	l := DefaultLimits()
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
		if _, err := c.enter(h, caller{identity: "a"}, now); err != nil {
			t.Fatal(err)
		}
		if got := h.Get("RateLimit"); got != want || h.Get("RateLimit-Policy") != `"caller-rate";q=3;w=2` {
			t.Errorf("call %d: %s, policy %s", i, got, h.Get("RateLimit-Policy"))
		}
	}
	_, err := c.enter(http.Header{}, caller{identity: "a"}, now)
	var e *Error
	if !errors.As(err, &e) || e.Status != http.StatusTooManyRequests || e.Limit != "caller-rate" || e.RetryAfter != 1 || !strings.Contains(e.Detail, "--caller-rate=2") {
		t.Fatalf("%#v", err)
	}
	if _, err := c.enter(http.Header{}, caller{identity: "b"}, now); err != nil {
		t.Errorf("another caller is refused: %v", err)
	}
	if _, err := c.enter(http.Header{}, caller{identity: "a"}, now.Add(time.Second)); err != nil {
		t.Errorf("refused after Retry-After: %v", err)
	}
}

func TestCallerInFlight(t *testing.T) {
	c, now := callerLimitsFor(t, 0, 1, 2), time.Unix(1000, 0)
	first, err := c.enter(http.Header{}, caller{identity: "a"}, now)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.enter(http.Header{}, caller{identity: "a"}, now); err != nil {
		t.Fatal(err)
	}
	var e *Error
	if _, err := c.enter(http.Header{}, caller{identity: "a"}, now); !errors.As(err, &e) || e.Limit != "caller-in-flight" || e.RetryAfter == 0 {
		t.Fatalf("%#v", err)
	}
	c.end(first)
	if _, err := c.enter(http.Header{}, caller{identity: "a"}, now); err != nil {
		t.Errorf("refused with a call in flight of two: %v", err)
	}
}

// TestCallersAreBounded: made-up callers fill no memory, and push out none with a call in flight.
func TestCallersAreBounded(t *testing.T) {
	c, now := callerLimitsFor(t, 1, 1, 1), time.Unix(1000, 0)
	if _, err := c.enter(http.Header{}, caller{identity: "busy"}, now); err != nil {
		t.Fatal(err)
	}
	for i := range 2 * maxCallers {
		u, err := c.enter(http.Header{}, caller{identity: fmt.Sprint(i)}, now)
		if err != nil {
			t.Fatal(err)
		}
		c.end(u)
	}
	if len(c.callers) > maxCallers || c.recent.Len() != len(c.callers) || c.callers[caller{identity: "busy"}] == nil {
		t.Errorf("%d callers, %d in order, busy kept: %v", len(c.callers), c.recent.Len(), c.callers[caller{identity: "busy"}] != nil)
	}
}

// TestCallersOverHTTP: a token over its limit is refused before its body is read, kube-scheduler
// without a body, and neither other tokens nor loopback are.
func TestCallersOverHTTP(t *testing.T) {
	g := startGuarded(t)
	g.api.callerLimits = callerLimitsFor(t, 1, 1, 0)
	busy, calm := bearing(g.token("busy", "admin", "*", "*")), bearing(g.token("calm", "admin", "*", "*"))
	refused := func(path string) *httptest.ResponseRecorder {
		return g.as(func(r *http.Request) { busy(r); r.Body = io.NopCloser(unread{t}); r.ContentLength = 9 }, "POST", path, "{}")
	}
	if w := g.as(busy, "GET", "/v1/whoami", ""); w.Code != http.StatusOK || w.Header().Get("RateLimit") == "" {
		t.Fatalf("%d %v", w.Code, w.Header())
	}
	w := refused("/v1/decisions")
	var p Problem
	if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil || w.Code != http.StatusTooManyRequests || p.Limit != "caller-rate" || w.Header().Get("Retry-After") == "" {
		t.Errorf("%d %s %v", w.Code, w.Body, w.Header())
	}
	if w := refused("/filter"); w.Code != http.StatusServiceUnavailable || w.Body.Len() != 0 {
		t.Errorf("/filter: %d %s", w.Code, w.Body)
	}
	if w := g.as(calm, "GET", "/v1/whoami", ""); w.Code != http.StatusOK {
		t.Errorf("another token: %d %s", w.Code, w.Body)
	}
	for range 3 {
		g.want(http.StatusOK, nil, "GET", "/v1/clusters", "")
	}
}

// TestClustersOfOneIdentity: an identity makes so many clusters and no more, whatever others made;
// those that it has it may upload again.
func TestClustersOfOneIdentity(t *testing.T) {
	g := startGuarded(t)
	g.api.limits.CallerClusters = 2
	busy, calm := bearing(g.token("busy", "admin", "*", "*")), bearing(g.token("calm", "admin", "*", "*"))
	upload := func(who identity, name string, want int) *httptest.ResponseRecorder {
		t.Helper()
		w := g.as(who, "POST", "/v1/snapshots?cluster="+name, small())
		if w.Code != want {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
		return w
	}
	upload(calm, "c1", 201)
	upload(busy, "b1", 201)
	upload(busy, "b2", 201)
	var p Problem
	if err := json.Unmarshal(upload(busy, "b3", 413).Body.Bytes(), &p); err != nil || p.Limit != "caller-clusters" || !strings.Contains(p.Detail, "caller-clusters=2") {
		t.Errorf("%+v %v", p, err)
	}
	upload(busy, "b1", 200)
	upload(busy, "c1", 200) // it is calm's still
	upload(calm, "c2", 201)
	g.upload("anonymous", small())
	g.want(http.StatusNoContent, nil, "DELETE", "/v1/clusters/b2", "")
	upload(busy, "b3", 201)
}
