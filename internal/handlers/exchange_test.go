package handlers

import (
	"net/http"
	"testing"

	"berth/internal/handlers/admit"
)

// TestRequestsAllocateLittle: what stands around every handler allocates no more than the context
// of the request, its id and its headers. With otelhttp and a context for each value it were 46.
func TestRequestsAllocateLittle(t *testing.T) {
	a, err := New(admit.Options{})
	if err != nil {
		t.Fatal(err)
	}
	h := a.Handler()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "/livez", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	n := testing.AllocsPerRun(100, func() {
		w := &sink{header: http.Header{}}
		if h.ServeHTTP(w, r); w.status != http.StatusOK {
			t.Fatal(w.status)
		}
	})
	if n > 24 {
		t.Errorf("%v allocations a request", n)
	}
}
