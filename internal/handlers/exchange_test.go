package handlers

import (
	"context"
	"net/http"
	"testing"
)

// TestRequestsAllocateLittle: what stands around every handler allocates no more than the context
// of the request, its id and its headers. With otelhttp and a context for each value it were 46.
func TestRequestsAllocateLittle(t *testing.T) {
	a, err := New(Options{})
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

// TestExchangeCountsTheFinalAnswer: an informational answer is none, and a second header is not
// sent.
func TestExchangeCountsTheFinalAnswer(t *testing.T) {
	w := &sink{header: http.Header{}}
	x := &exchange{Context: context.Background(), ResponseWriter: w}
	x.WriteHeader(http.StatusEarlyHints)
	if x.status != 0 {
		t.Errorf("status %d after early hints", x.status)
	}
	if n, err := x.Write([]byte("ok")); n != 2 || err != nil || x.status != http.StatusOK || x.bytes != 2 {
		t.Errorf("%d bytes, status %d: %v", x.bytes, x.status, err)
	}
	x.WriteHeader(http.StatusTeapot)
	if x.status != http.StatusOK || w.status != http.StatusOK || x.Unwrap() != http.ResponseWriter(w) {
		t.Errorf("status %d after a second header", x.status)
	}
}
