package handlers

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"berth/internal/access"
	"berth/internal/handlers/admit"
	"berth/internal/store"
)

// TestDenialsArePerCaller: a flood of one address hides no other's attempt, and fills neither the
// log nor the memory.
func TestDenialsArePerCaller(t *testing.T) {
	g := startGuarded(t)
	handler := g.api.Handler()
	from := func(address, bearer string) {
		r := httptest.NewRequestWithContext(access.Require(t.Context()), http.MethodGet, "/v1/clusters", http.NoBody)
		r.RemoteAddr = address
		r.Header.Set("Authorization", "Bearer "+bearer)
		w := httptest.NewRecorder()
		if handler.ServeHTTP(w, r); w.Code != http.StatusUnauthorized {
			t.Fatalf("%s: %d %s", address, w.Code, w.Body)
		}
	}
	for i := range 2000 {
		from("192.0.2.1:999", fmt.Sprint("berth_flood", i))
	}
	from("192.0.2.2:999", "berth_one")
	text := g.log.String()
	for address, want := range map[string]int{"192.0.2.1": 1, "192.0.2.2": 1} {
		if n := strings.Count(text, `"peer":"`+address); n != want {
			t.Errorf("%s: %d lines in %s", address, n, text)
		}
	}
	small := g.token("small", "viewer", "other", "*")
	for range 50 {
		if w := g.as(bearing(small), http.MethodDelete, "/v1/clusters/other", ""); w.Code != http.StatusForbidden {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
	}
	if n := strings.Count(g.log.String()[len(text):], "token:small"); n != 1 {
		t.Errorf("%d lines of 403: %s", n, g.log)
	}
}

// TestDeniedCallsAreRecorded: each kind of refusal of a caller is a row with its caller and
// cluster, and what is only missing is none.
func TestDeniedCallsAreRecorded(t *testing.T) {
	var st store.Store
	g := startGuarded(t, func(o *admit.Options) {
		st = o.Capacities.(store.Store)
		o.Denials, o.Instance = st, "i1"
		o.Limits.CallerRate, o.Limits.CallerBurst = 1, 5
	})
	small := g.token("small", "viewer", "other", "*")
	for _, call := range []struct {
		by           identity
		method, path string
		status       int
	}{
		{bearing("berth_wrong"), http.MethodGet, "/v1/clusters", http.StatusUnauthorized},
		{bearing(small), http.MethodDelete, "/v1/clusters/other", http.StatusForbidden},
		{bearing(small), http.MethodGet, "/v1/snapshots?cluster=prod", http.StatusNotFound},
		{bearing(small), http.MethodGet, "/v1/decisions/0197a1b2-c3d4-7e5f-8a9b-0123456789ab", http.StatusNotFound},
	} {
		if w := g.as(call.by, call.method, call.path, ""); w.Code != call.status {
			t.Errorf("%s %s: %d %s", call.method, call.path, w.Code, w.Body)
		}
	}
	for range 50 { // of which all but some are too many
		g.as(bearing(small), http.MethodGet, "/v1/clusters", "")
	}
	ctx, end := context.WithCancel(t.Context())
	end()
	g.api.KeepDenials(ctx)
	table, err := st.Query(t.Context(), &store.Query{
		SQL: `SELECT status, reason, cluster, coalesce(asked_by, '') FROM denied_calls WHERE count > 0 ORDER BY status, reason`, MaxBytes: 1 << 20,
	})
	if err != nil {
		t.Fatal(err)
	}
	want := "[[401 unauthenticated  ] [403 forbidden other token:small] [404 hidden prod token:small] [429 caller-rate  token:small]]"
	if got := fmt.Sprint(table.Rows); got != want {
		t.Errorf("rows %s, want %s", got, want)
	}
}
