package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"berth/test/pgtest"
)

// scenarioBody is a scenario of a few seconds under two configurations.
func scenarioBody(t *testing.T, wait string) string {
	t.Helper()
	packed := object{"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration", "profiles": []any{object{"pluginConfig": []any{object{
		"name": "NodeResourcesFit", "args": object{"scoringStrategy": object{"type": "MostAllocated", "resources": []any{object{"name": "cpu", "weight": 1}}}},
	}}}}}
	return marshal(t, object{
		"base": "cell@latest", "keep": "moves", "wait": wait, "edits": object{"addNodes": []any{object{"like": "node-01", "count": 600}}},
		"profiles": []any{object{"name": "today"}, object{"name": "packed", "config": packed}},
		"arrivals": object{"workloads": []any{object{"pod": podOf("w", "40m", ""), "count": 50_000}}},
	})
}

type job struct {
	ID, State, Reason string
	Progress          []struct {
		Part        string
		Done, Total int
	}
	Result json.RawMessage
}

func (p *process) job(t *testing.T, id string) (j job) {
	t.Helper()
	if err := json.Unmarshal(p.must(t, http.StatusOK, http.MethodGet, "/v1/simulations/"+id, ""), &j); err != nil {
		t.Fatal(err)
	}
	return j
}

// jobUntil looks at a job until it is as wanted.
func (p *process) jobUntil(t *testing.T, id string, wanted func(job) bool) job {
	t.Helper()
	for deadline := time.Now().Add(3 * time.Minute); ; time.Sleep(50 * time.Millisecond) {
		j := p.job(t, id)
		if wanted(j) {
			return j
		}
		if j.State == "failed" || time.Now().After(deadline) {
			t.Fatalf("job %s is %s: %s %v", id, j.State, j.Reason, j.Progress)
		}
	}
}

// startJob starts a job and returns its id.
func (p *process) startJob(t *testing.T) string {
	t.Helper()
	var j job
	if err := json.Unmarshal(p.must(t, http.StatusAccepted, http.MethodPost, "/v1/simulations", scenarioBody(t, "0s")), &j); err != nil {
		t.Fatal(err)
	}
	return j.ID
}

// under reports whether a job is at work under its second configuration, or done on a fast machine.
func under(j job) bool { return done(j) || len(j.Progress) == 2 && j.Progress[1].Done > 0 }

func done(j job) bool { return j.State == "done" }

// begun reports whether a server works at a job, or has worked at it.
func begun(j job) bool { return done(j) || len(j.Progress) > 0 }

// answered returns how many questions the process has answered, in calls and as jobs.
func (p *process) answered(t *testing.T) (n int) {
	t.Helper()
	metrics := string(p.must(t, http.StatusOK, http.MethodGet, "/metrics", ""))
	if _, count, ok := strings.Cut(metrics, "\nberth_simulations_total{result=\"done\"} "); ok {
		if _, err := fmt.Sscan(count, &n); err != nil {
			t.Fatal(err)
		}
	}
	return n
}

// A job of a server that is killed in its midst is finished after the restart, with the bytes that
// the call has.
func jobGoesOnAfterKill(t *testing.T, program string) {
	dir := t.TempDir()
	p := launch(t, program, dir)
	p.must(t, http.StatusCreated, http.MethodPost, "/v1/snapshots?cluster=cell", marshal(t, listOf(cell()...)))
	want := p.must(t, http.StatusOK, http.MethodPost, "/v1/simulations", scenarioBody(t, "2m"))
	id := p.startJob(t)
	p.jobUntil(t, id, under)
	p.kill(t)

	p = launch(t, program, dir)
	again := p.jobUntil(t, id, under)
	if again.Progress[0].Done != again.Progress[0].Total {
		t.Errorf("the finished configuration was run again: %v", again.Progress)
	}
	if got := p.jobUntil(t, id, done); string(got.Result)+"\n" != string(want) {
		t.Errorf("after a kill\n%.2000s\nin a call\n%.2000s", got.Result, want)
	}
	// In order it lets the job go at once, and the next process has it.
	id = p.startJob(t)
	p.jobUntil(t, id, under)
	p.stop(t)
	p = launch(t, program, dir)
	if got := p.jobUntil(t, id, done); string(got.Result)+"\n" != string(want) {
		t.Errorf("after a restart\n%.2000s\nin a call\n%.2000s", got.Result, want)
	}
}

// Two servers on one database share their jobs, and one finishes those of the other that is killed.
func replicasShareJobs(t *testing.T, program string) {
	url := pgtest.URL(t)
	if code, _, errs := command(t, "migrate", "up", "--database-url", url); code != 0 {
		t.Fatal(errs)
	}
	replica := func() *process { return launch(t, program, t.TempDir(), "--database-url", url) }
	a, b := replica(), replica()
	a.must(t, http.StatusCreated, http.MethodPost, "/v1/snapshots?cluster=cell", marshal(t, listOf(cell()...)))
	want := a.must(t, http.StatusOK, http.MethodPost, "/v1/simulations", scenarioBody(t, "2m"))
	ids := []string{a.startJob(t), a.startJob(t)}
	for _, id := range ids { // both at work, which takes both servers
		b.jobUntil(t, id, begun)
	}
	// A fast machine may have finished one of them, which is not the other server's to finish.
	left := len(ids) + 1 - a.answered(t) // without the call
	a.kill(t)
	if left == 0 {
		t.Fatal("the server that was killed had finished both jobs")
	}
	for _, id := range ids {
		if got := b.jobUntil(t, id, done); string(got.Result)+"\n" != string(want) {
			t.Errorf("job %s\n%.2000s\nin a call\n%.2000s", id, got.Result, want)
		}
	}
	if got := b.answered(t); got != left {
		t.Errorf("the other server finished %d jobs of %d", got, left)
	}
}
