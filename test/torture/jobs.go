//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// job is a question that a server was asked as a job.
type job struct {
	ID, State, Reason, Snapshot string
	Result                      json.RawMessage
}

// jobPods is how many pods arrive in a job's scenario: enough that what breaks next hits it while
// it runs.
const jobPods = 3000

// scenarioOf is the question of a job about a cluster or one of its revisions.
func scenarioOf(base, wait string) object {
	return object{
		"base": base, "wait": wait, "keep": "moves", "profiles": []any{object{"name": "one"}, object{"name": "two"}},
		"arrivals": object{"workloads": []any{object{"pod": podOf("job", 3, 1), "count": jobPods}}},
	}
}

// startJob starts a job on a replica, just before something breaks. A server that knows no jobs, or
// takes no more, has none.
func (r *report) startJob(ctx context.Context, one *replica) {
	name := clusterNames[len(r.strikes)%len(clusterNames)]
	status, out, _, err := send(ctx, http.DefaultClient, one.address(), http.MethodPost, "/v1/simulations", scenarioOf(name+"@latest", "0s"))
	var j job
	if err != nil || status != http.StatusAccepted || json.Unmarshal(out, &j) != nil {
		r.notices = append(r.notices, fmt.Sprintf("no job before fault %d: status %d, %v", len(r.strikes)+1, status, err))
		return
	}
	r.jobs = append(r.jobs, j)
}

// judgeJobs wants every job to be done, and its answer to be what the same question has as a call.
func (r *report) judgeJobs(ctx context.Context, one *replica) {
	began, same := time.Now(), 0
	for _, j := range r.jobs {
		got, err := ended(ctx, one, j.ID)
		if err != nil {
			r.violate("job lost", "%v", err)
			continue
		}
		status, out, _, err := send(ctx, http.DefaultClient, one.address(), http.MethodPost, "/v1/simulations", scenarioOf(j.Snapshot, "20s"))
		var call, result bytes.Buffer
		if err != nil || status != http.StatusOK || json.Compact(&call, out) != nil || json.Compact(&result, got.Result) != nil {
			r.violate("harness", "the question of job %s as a call: status %d, %v %.300s", j.ID, status, err, out)
			continue
		}
		if !bytes.Equal(call.Bytes(), result.Bytes()) {
			r.violate("job answers otherwise", "job %s on %s:\n%.300s\nas a call:\n%.300s", j.ID, j.Snapshot, result.String(), call.String())
			continue
		}
		same++
	}
	r.say("jobs answered as calls", "%d of %d in %s", same, len(r.jobs), time.Since(began).Round(time.Millisecond))
}

// ended waits for a job's end, and returns it; an error where it is not done.
func ended(ctx context.Context, one *replica, id string) (*job, error) {
	for end := time.Now().Add(time.Minute); ; pause(ctx, 100*time.Millisecond) {
		status, out, _, err := send(ctx, http.DefaultClient, one.address(), http.MethodGet, "/v1/simulations/"+id, nil)
		j := &job{}
		switch {
		case err != nil || status != http.StatusOK || json.Unmarshal(out, j) != nil:
			return nil, fmt.Errorf("job %s: status %d, %w %.300s", id, status, err, out)
		case j.State == "done":
			return j, nil
		case j.State != "queued" && j.State != "running", time.Now().After(end), ctx.Err() != nil:
			return nil, fmt.Errorf("job %s is %s: %s", id, j.State, j.Reason)
		}
	}
}
