package handlers

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"berth/internal/access"
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
