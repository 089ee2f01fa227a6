package apiclient

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// TestCallsAreRepeated: an answer that is lost costs a program nothing, and no time but its own.
func TestCallsAreRepeated(t *testing.T) {
	var keys []string
	handle := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if keys = append(keys, r.Header.Get("Idempotency-Key")); len(keys) == 1 {
			panic(http.ErrAbortHandler)
		}
		_, _ = w.Write([]byte(`{"id":1}`))
	})
	server := httptest.NewServer(handle)
	t.Cleanup(server.Close)
	c, err := New(Options{Server: server.URL, Timeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	answer, status, err := c.Call(t.Context(), http.MethodPost, nil, struct{}{}, "v1", "placements")
	if err != nil || status != http.StatusOK || string(answer) != `{"id":1}` || len(keys) != 2 || keys[0] == "" || keys[0] != keys[1] {
		t.Errorf("%s %d %v under the keys %q", answer, status, err, keys)
	}
	if _, _, err := InProcess(handle).Call(t.Context(), http.MethodPost, nil, struct{}{}, "v1"); err != nil || keys[2] != "" {
		t.Errorf("%v under the keys %q", err, keys)
	}
}

// TestTriesShareOneTime: a server that is away for longer than a call may take is not waited for.
func TestTriesShareOneTime(t *testing.T) {
	tries := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		tries++
		w.Header().Set("Retry-After", "3600")
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	t.Cleanup(server.Close)
	c, err := New(Options{Server: server.URL, Timeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	_, status, err := c.Call(t.Context(), http.MethodGet, nil, nil, "v1")
	var refused *RefusedError
	if !errors.As(err, &refused) || status != http.StatusServiceUnavailable || tries != 1 {
		t.Errorf("%d tries, %d, %v", tries, status, err)
	}
}
