package exchange

import (
	"context"
	"net/http"
	"testing"
)

// TestExchangeCountsTheFinalAnswer: an informational answer is none, and a second header is not
// sent.
func TestExchangeCountsTheFinalAnswer(t *testing.T) {
	w := &written{}
	x := &Exchange{Context: context.Background(), ResponseWriter: w}
	x.WriteHeader(http.StatusEarlyHints)
	if x.Status != 0 {
		t.Errorf("status %d after early hints", x.Status)
	}
	if n, err := x.Write([]byte("ok")); n != 2 || err != nil || x.Status != http.StatusOK || x.Bytes != 2 {
		t.Errorf("%d bytes, status %d: %v", x.Bytes, x.Status, err)
	}
	x.WriteHeader(http.StatusTeapot)
	if x.Status != http.StatusOK || w.last != http.StatusOK || x.Unwrap() != http.ResponseWriter(w) {
		t.Errorf("status %d after a second header", x.Status)
	}
}

// written keeps the last status that was written.
type written struct{ last int }

func (*written) Header() http.Header         { return http.Header{} }
func (s *written) WriteHeader(status int)    { s.last = status }
func (*written) Write(b []byte) (int, error) { return len(b), nil }
