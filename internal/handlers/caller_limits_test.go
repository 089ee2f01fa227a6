package handlers

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"berth/internal/handlers/admit"
	"berth/internal/handlers/exchange"
)

// TestCallersOverHTTP: a token over its limit is refused before its body is read, kube-scheduler
// without a body, and neither other tokens nor loopback are.
func TestCallersOverHTTP(t *testing.T) {
	g := startGuarded(t, func(o *admit.Options) { o.Limits.CallerRate, o.Limits.CallerBurst, o.Limits.CallerInFlight = 1, 1, 0 })
	busy, calm := bearing(g.token("busy", "admin", "*", "*")), bearing(g.token("calm", "admin", "*", "*"))
	refused := func(path string) *httptest.ResponseRecorder {
		return g.as(func(r *http.Request) { busy(r); r.Body = io.NopCloser(unread{t}); r.ContentLength = 9 }, "POST", path, "{}")
	}
	if w := g.as(busy, "GET", "/v1/whoami", ""); w.Code != http.StatusOK || w.Header().Get("RateLimit") == "" {
		t.Fatalf("%d %v", w.Code, w.Header())
	}
	w := refused("/v1/decisions")
	var p exchange.Problem
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
	g.api.Limits.CallerClusters = 2
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
	var p exchange.Problem
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
