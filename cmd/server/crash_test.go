package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// answered is what a client was told, kept outside of the server.
type answered struct {
	ID      string `json:"id"`
	Digest  string `json:"digest"`
	Outcome string `json:"outcome"`
	Node    string `json:"node"`
	bound   bool
	pod     string
}

// A killed process takes no answer with it: a client that got a 201 finds its decision on record,
// with the same answer, and a bind that was answered still holds.
func killLosesNothing(t *testing.T, program string) {
	dir := t.TempDir()
	p := launch(t, program, dir)
	p.must(t, http.StatusCreated, http.MethodPost, "/v1/snapshots?cluster=cell", marshal(t, listOf(cell()...)))

	const callers = 200
	var (
		mu      sync.Mutex
		got     []answered
		count   atomic.Int64
		started sync.WaitGroup
		done    sync.WaitGroup
	)
	started.Add(callers)
	for i := range callers {
		done.Go(func() {
			started.Done()
			started.Wait() // all at once
			for n := 0; ; n++ {
				name, bind := fmt.Sprintf("p-%d-%d", i, n), (i+n)%8 == 0
				status, body, err := p.ask(http.MethodPost, "/v1/decisions", marshal(t, object{
					"snapshot": "cell@latest", "pod": podOf(name, "1m", ""), "explain": "none", "bind": bind,
				}))
				if err != nil {
					return // the server is dead, and what it may have said did not arrive
				}
				switch status {
				case http.StatusCreated:
					a := answered{bound: bind, pod: name}
					if err := json.Unmarshal(body, &a); err != nil {
						t.Errorf("answer %q: %v", body, err)
						return
					}
					mu.Lock()
					got = append(got, a)
					mu.Unlock()
					count.Add(1)
				case http.StatusConflict, http.StatusTooManyRequests, http.StatusServiceUnavailable:
				default:
					t.Errorf("status %d: %s", status, body)
					return
				}
			}
		})
	}
	for deadline := time.Now().Add(time.Minute); count.Load() < 3*callers; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("only %d decisions were answered before the kill", count.Load())
		}
	}
	p.kill(t)
	var report bytes.Buffer
	if code := run(t.Context(), []string{"audit", "verify", "--data-dir", dir}, &report, io.Discard); code != 0 || !strings.Contains(report.String(), "cell: GOOD") {
		t.Errorf("audit verify after the kill ends with %d:\n%s", code, &report)
	}
	done.Wait()
	t.Logf("%d decisions were answered before the kill", len(got))

	p = launch(t, program, dir)
	binds := 0
	for _, a := range got {
		var rec struct {
			answered
			DigestAgrees bool `json:"digestAgrees"`
		}
		if err := json.Unmarshal(p.must(t, http.StatusOK, http.MethodGet, "/v1/decisions/"+a.ID, ""), &rec); err != nil {
			t.Fatal(err)
		}
		if !rec.DigestAgrees || rec.Digest != a.Digest || rec.Outcome != a.Outcome || rec.Node != a.Node {
			t.Fatalf("the record %+v is not the answer %+v", rec, a)
		}
		if a.bound && a.Outcome == "Scheduled" {
			binds++
			// A pod is bound once: a second decision on it is refused for as long as the bind
			// holds.
			p.must(t, http.StatusConflict, http.MethodPost, "/v1/decisions", marshal(t, object{"snapshot": "cell@latest", "podRef": object{"name": a.pod}}))
		}
	}
	if binds == 0 {
		t.Fatal("no answered decision bound a pod: this run showed nothing about binds")
	}
	p.stop(t)
}

// SIGTERM lets the calls on their way be answered, and their records are there afterwards.
func termAnswersWhatRuns(t *testing.T, program string) {
	dir := t.TempDir()
	p := launch(t, program, dir)
	p.must(t, http.StatusCreated, http.MethodPost, "/v1/snapshots?cluster=cell", marshal(t, listOf(cell()...)))
	ids := make(chan string, 100_000)
	var callers sync.WaitGroup
	var count atomic.Int64
	for i := range 32 {
		callers.Go(func() {
			for n := 0; ; n++ {
				status, body, err := p.ask(http.MethodPost, "/v1/decisions", marshal(t, object{
					"snapshot": "cell@latest", "pod": podOf(fmt.Sprintf("p-%d-%d", i, n), "1m", ""), "explain": "none",
				}))
				var a answered
				switch {
				case err != nil:
					return // the listener is closed
				case status == http.StatusServiceUnavailable:
					return
				case status != http.StatusCreated || json.Unmarshal(body, &a) != nil:
					t.Errorf("status %d: %s", status, body)
					return
				}
				ids <- a.ID
				count.Add(1)
			}
		})
	}
	for deadline := time.Now().Add(time.Minute); count.Load() < 200; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("only %d decisions were answered before the end", count.Load())
		}
	}
	p.stop(t)
	callers.Wait()
	close(ids)
	p = launch(t, program, dir)
	for id := range ids {
		p.must(t, http.StatusOK, http.MethodGet, "/v1/decisions/"+id, "")
	}
	p.stop(t)
}
