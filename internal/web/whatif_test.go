package web

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
)

// TestPageLeavesNoJob has the API answer with a job, which a page does not follow.
func TestPageLeavesNoJob(t *testing.T) {
	deleted := ""
	api := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodDelete {
			deleted = r.URL.Path
			w.WriteHeader(http.StatusNoContent)
			return
		}
		w.Header().Set("Location", "/v1/simulations/j1")
		w.WriteHeader(http.StatusAccepted)
		_, _ = w.Write([]byte(`{"id":"j1"}`))
	})
	v := &visit{site: &Site{api: api}, r: httptest.NewRequest(http.MethodGet, "/simulate", http.NoBody)}
	var p *problem
	if err := v.post("/v1/simulations", map[string]any{}, &struct{}{}); !errors.As(err, &p) || p.Status != http.StatusServiceUnavailable || deleted != "/v1/simulations/j1" {
		t.Errorf("%v, deleted %q", err, deleted)
	}
}
