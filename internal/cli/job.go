package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"berth/internal/scenario"
	"berth/internal/simulations"
)

// A question about what comes next may keep its call waiting for a while, and is then a job that is
// looked at now and then.
const (
	jobWait  = "1s"
	jobEvery = 300 * time.Millisecond
)

// follow sends a question about what comes next, and follows it to its end where it is a job. The
// job is cancelled where ctx ends before.
func (s *source) follow(ctx context.Context, wait *progress, query url.Values, body any, path ...string) (json.RawMessage, error) {
	defer wait.end()
	if s.dump != nil {
		ctx = (&scenario.Watch{Progress: wait.at}).With(ctx)
	}
	raw, status, err := s.exchange(ctx, http.MethodPost, query, body, path...)
	if err != nil || status != http.StatusAccepted {
		return raw, err
	}
	for {
		var job simulations.Job
		if err := json.Unmarshal(raw, &job); err != nil {
			return nil, fmt.Errorf("read the job: %w", err)
		}
		switch job.State {
		case "done":
			return job.Result, nil
		case "failed":
			return nil, &problem{what: "job " + job.ID, why: errors.New(job.Reason)}
		case "cancelled":
			return nil, &problem{what: "job " + job.ID + " was cancelled"}
		}
		if n := len(job.Progress); n > 0 {
			p := job.Progress[n-1]
			wait.at(p.Part, p.Done, p.Total)
		}
		select {
		case <-ctx.Done():
			ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
			defer cancel()
			_, err := s.call(ending, http.MethodPost, nil, nil, "v1", "simulations", job.ID, "cancel")
			if err != nil {
				return nil, fmt.Errorf("cancel the job %s: %w", job.ID, err)
			}
			return nil, ctx.Err()
		case <-time.After(jobEvery):
		}
		next, err := s.call(ctx, http.MethodGet, nil, nil, "v1", "simulations", job.ID)
		if err == nil {
			raw = next
		} else if ctx.Err() == nil {
			return nil, err
		}
	}
}
