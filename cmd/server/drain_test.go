package main

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

// A server that is told to end says so first, and still answers calls that
// come on a new connection in the meantime.
func TestNotReadyFirst(t *testing.T) {
	r := serve(t, t.TempDir(), func(s *settings) { s.DrainDelay = 3 * time.Second })
	if code, out := r.post(t, "/v1/snapshots", oneNode); code != http.StatusCreated {
		t.Fatalf("%d %s", code, out)
	}
	ended := make(chan error, 1)
	go func() { ended <- r.stop() }()
	fresh := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	for {
		res, err := fresh.Get(r.url + "/readyz")
		if err != nil {
			t.Fatalf("it was gone before it said that it is not ready: %v", err)
		}
		_ = res.Body.Close()
		if res.StatusCode == http.StatusServiceUnavailable {
			break
		}
	}
	res, err := fresh.Post(r.url+"/v1/decisions", "application/json", strings.NewReader(decisionOn("p")))
	if err != nil {
		t.Fatalf("not ready, and it should still answer: %v", err)
	}
	_ = res.Body.Close()
	if res.StatusCode != http.StatusCreated {
		t.Errorf("status %d", res.StatusCode)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
