package main

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"berth/internal/jobs/replays"
)

const twoNodes = `{"kind":"List","apiVersion":"v1","items":[
	{"kind":"Node","apiVersion":"v1","metadata":{"name":"n1"},"status":{"allocatable":{"cpu":"64","memory":"8Gi","pods":"110"}}},
	{"kind":"Node","apiVersion":"v1","metadata":{"name":"n2"},"status":{"allocatable":{"cpu":"8","memory":"8Gi","pods":"110"}}}]}`

const packedYAML = `apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- pluginConfig:
  - name: NodeResourcesFit
    args: {scoringStrategy: {type: MostAllocated, resources: [{name: cpu, weight: 1}]}}
`

// A batch replay on the command line, at a server and on the store itself.
func TestReplayBatch(t *testing.T) {
	dir := t.TempDir()
	config := filepath.Join(dir, "packed.yaml")
	if err := os.WriteFile(config, []byte(packedYAML), 0o600); err != nil {
		t.Fatal(err)
	}
	r := serve(t, dir)
	if code, out := r.post(t, "/v1/snapshots", twoNodes); code != http.StatusCreated {
		t.Fatalf("%d %s", code, out)
	}
	for i := range 5 {
		if code, out := r.post(t, "/v1/decisions", decisionOn(fmt.Sprint("p", i))); code != http.StatusCreated {
			t.Fatalf("%d %s", code, out)
		}
	}
	check := func(where ...string) {
		t.Helper()
		code, out, errs := command(t, append([]string{"replay", "--cluster", "default", "--since", "1d"}, where...)...)
		if code != 0 || !strings.Contains(out, "5 of 5 decisions of default") || !strings.Contains(out, "5 identical, 0 different, 0 errors") || !strings.Contains(errs, "of 5 decisions") {
			t.Errorf("%d %s %s", code, out, errs)
		}
		code, out, errs = command(t, append([]string{"replay", "--cluster", "default", "--config", config}, where...)...)
		if code != 2 || !strings.Contains(out, "5 different") || !strings.Contains(out, `node: "n1" -> "n2"`) {
			t.Errorf("%d %s %s", code, out, errs)
		}
		code, out, errs = command(t, append([]string{"replay", "--cluster", "default", "--config", config, "-o", "json"}, where...)...)
		var sum summary
		if err := json.Unmarshal([]byte(out), &sum); err != nil || code != 2 || sum.Replay.Different != 5 || len(sum.Differences) != 5 {
			t.Errorf("%d %v %s %s", code, err, out, errs)
		}
		// One that has ended can be looked at again.
		code, out, errs = command(t, append([]string{"replay", "--resume", sum.Replay.ID}, where...)...)
		if code != 2 || !strings.Contains(out, sum.Replay.ID) {
			t.Errorf("%d %s %s", code, out, errs)
		}
		for _, args := range [][]string{{"--cluster", "nowhere"}, {"--cluster", "default", "--since", "soon"}, {"--cluster", "default", "--profile", "none"}, {"--resume", "x", "--cluster", "default"}, {}} {
			if code, out, errs := command(t, append(append([]string{"replay"}, args...), where...)...); code != 1 || errs == "" {
				t.Errorf("%v: %d %s %s", args, code, out, errs)
			}
		}
	}
	check("--server", r.url)
	text := r.scrape(t)
	for _, line := range []string{`berth_replay_decisions_total{result="identical"} 5`, `berth_replay_decisions_total{result="different"} 10`, `berth_replay_jobs{state="done"} 3`} {
		if !strings.Contains(text, line) {
			t.Errorf("metrics have no %s", line)
		}
	}
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	check("--data-dir", dir)
}

func (r *running) scrape(t *testing.T) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, r.url+"/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	var text strings.Builder
	if err := resp.Write(&text); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

// stuck is a batch that never gets on.
type stuck struct{ batch }

func (stuck) get(context.Context, string) (*replays.Job, error) {
	return &replays.Job{ID: "r1", State: "running", Total: 10, Done: 4}, nil
}

func TestFollowGivesUpWithItsUser(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	time.AfterFunc(time.Millisecond, stop)
	var text strings.Builder
	job, err := followJob(ctx, stuck{}, &replays.Job{ID: "r1", State: "running", Total: 10}, &text)
	if err == nil || job.ID != "r1" {
		t.Errorf("%+v %v", job, err)
	}
	b := &localBatch{resume: "--data-dir d"}
	if said := b.interrupt(ctx, "r1"); !strings.Contains(said, "server replay --resume r1 --data-dir d") {
		t.Error(said)
	}
}

func TestProgressInLines(t *testing.T) {
	var text strings.Builder
	p := newProgress(&text, &replays.Job{ID: "r1", State: "running", Total: 10})
	p.at(&replays.Job{ID: "r1", State: "running", Total: 10, Done: 2}) // too soon for a line
	p.at(&replays.Job{ID: "r1", State: "done", Total: 10, Done: 10, Different: 3})
	p.end()
	if got := text.String(); !strings.HasPrefix(got, "batch replay r1 of 10 decisions\nreplayed 10 of 10, 3 different, 0 errors, ") {
		t.Error(got)
	}
}

// TestReplayShowsWhoAsks: single replays and batches both work at a server that wants a token and
// has a certificate of its own CA.
func TestReplayShowsWhoAsks(t *testing.T) {
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch {
		case r.Header.Get("Authorization") != "Bearer secret":
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = io.WriteString(w, `{"detail":"who asks?"}`)
		case strings.HasSuffix(r.URL.Path, "/replay"):
			_, _ = io.WriteString(w, `{"identical":true}`)
		case strings.HasSuffix(r.URL.Path, "/differences"):
			_, _ = io.WriteString(w, `{"items":[]}`)
		default:
			_, _ = io.WriteString(w, `{"id":"r1","state":"done","total":3,"done":3,"identical":3}`)
		}
	}))
	t.Cleanup(s.Close)
	dir := t.TempDir()
	ca, token := filepath.Join(dir, "ca.pem"), filepath.Join(dir, "token")
	for file, text := range map[string][]byte{ca: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}), token: []byte("secret\n")} {
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, what := range [][]string{{"d1"}, {"--cluster", "default"}} {
		args := append([]string{"replay", "--server", s.URL}, what...)
		if code, _, errs := command(t, append(args, "--ca", ca, "--token-file", token)...); code != 0 {
			t.Errorf("%v: %d %s", what, code, errs)
		}
		if code, _, errs := command(t, append(args, "--ca", ca)...); code != 1 || !strings.Contains(errs, "who asks?") {
			t.Errorf("%v without a token: %d %s", what, code, errs)
		}
		if code, _, errs := command(t, append(args, "--token-file", token)...); code != 1 || !strings.Contains(errs, "certificate") {
			t.Errorf("%v without the CA: %d %s", what, code, errs)
		}
		code, _, errs := command(t, append([]string{"replay", "--server", "http://berth.example", "--token-file", token}, what...)...)
		if code != 1 || !strings.Contains(errs, "http://berth.example in clear text") || !strings.Contains(errs, "https") {
			t.Errorf("%v without TLS: %d %s", what, code, errs)
		}
	}
}
