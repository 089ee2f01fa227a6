package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"berth/test/storetest"
)

// TestFullDisk: a disk that fills up under a server is told by 503, named by /readyz, and over by
// itself when there is room. What was answered before is there, then and later.
func TestFullDisk(t *testing.T) {
	storetest.OnSmallDisk(t, 2<<20, func(t *testing.T, dir string, resize func(int64)) {
		r := serve(t, dir)
		if status, body := r.post(t, "/v1/snapshots?cluster=c", oneNode); status != http.StatusCreated {
			t.Fatalf("%d %s", status, body)
		}
		get := func(path string) (int, string) {
			t.Helper()
			res, err := http.Get(r.url + path)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = res.Body.Close() }()
			body, err := io.ReadAll(res.Body)
			if err != nil {
				t.Fatal(err)
			}
			return res.StatusCode, string(body)
		}
		var recorded []string
		decide := func() (int, []byte) {
			t.Helper()
			status, body := r.post(t, "/v1/decisions", fmt.Sprintf(`{"snapshot":"c@latest","pod":{"metadata":{"name":"p%d","namespace":"d","annotations":{"a":%q}},"spec":{"containers":[{"name":"c"}]}}}`, len(recorded), strings.Repeat("x", 10_000)))
			var d struct{ ID string }
			if status == http.StatusCreated {
				if err := json.Unmarshal(body, &d); err != nil {
					t.Fatal(err)
				}
				recorded = append(recorded, d.ID)
			}
			return status, body
		}
		status, body := decide()
		for status == http.StatusCreated && len(recorded) < 20_000 {
			status, body = decide()
		}
		if len(recorded) == 0 || status != http.StatusServiceUnavailable || !bytes.Contains(body, []byte("the disk of the store is full")) {
			t.Fatalf("decision %d: %d %s", len(recorded)+1, status, body)
		}
		for path, body := range map[string]string{
			"/v1/snapshots?cluster=c":         strings.ReplaceAll(oneNode, "n1", "n2"),
			"/v1/snapshots/c@latest/changes":  `{"delete":[{"kind":"Node","name":"n1"}]}`,
			"/clusters/c/filter":              `{"Pod":{"metadata":{"name":"p","namespace":"d","uid":"u"},"spec":{"containers":[{"name":"c"}]}},"NodeNames":["n1"]}`,
			"/v1/priorityclasses?cluster=c":   `{"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","metadata":{"name":"high"},"value":1}`,
			"/v1/replays":                     `{"cluster":"c","until":"2100-01-01T00:00:00Z"}`,
			"/v1/decisions":                   `{"snapshot":"c@latest",` + decisionOn("bound")[1:],
			"/v1/snapshots?cluster=another-1": oneNode,
		} {
			if status, out := r.post(t, path, body); status >= http.StatusInternalServerError && status != http.StatusServiceUnavailable {
				t.Errorf("%s on a full disk: %d %s", path, status, out)
			}
		}
		if status, text := get("/readyz"); status != http.StatusServiceUnavailable || !strings.Contains(text, "[-]store: not ready: the store's disk is full") {
			t.Errorf("/readyz on a full disk: %d %s", status, text)
		}
		there := func(when string) {
			t.Helper()
			for _, id := range recorded {
				if status, body := get("/v1/decisions/" + id); status != http.StatusOK {
					t.Fatalf("decision %s of %d %s: %d %s", id, len(recorded), when, status, body)
				}
			}
		}
		there("on a full disk")
		resize(16 << 20)
		for end := time.Now().Add(10 * time.Second); ; time.Sleep(20 * time.Millisecond) {
			if status, text := get("/readyz"); status == http.StatusOK {
				break
			} else if time.Now().After(end) {
				t.Fatalf("/readyz with room again: %d %s", status, text)
			}
		}
		if status, body := decide(); status != http.StatusCreated {
			t.Errorf("with room again: %d %s", status, body)
		}
		there("with room again")
	})
}
