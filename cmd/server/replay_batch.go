package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"berth/internal/access"
	"berth/internal/apiclient"
	"berth/internal/jobs/replays"
)

// batch is where a batch replay runs.
type batch interface {
	start(ctx context.Context, q replays.Request) (*replays.Job, error)
	get(ctx context.Context, id string) (*replays.Job, error)
	// interrupt is called when the user interrupts. It returns the state of the batch as a
	// sentence.
	interrupt(ctx context.Context, id string) string
	differences(ctx context.Context, id string, limit int) ([]*replays.Difference, error)
	close(ctx context.Context) error
}

// firstDifferences is how many decisions the summary shows.
const firstDifferences = 10

// runBatch starts a batch replay, or takes one up again, and shows how it goes
// and what came of it.
func (c *replayCmd) runBatch(ctx context.Context, s streams) (err error) {
	if c.ID != "" && c.Cluster != "" || c.Resume != "" && (c.ID != "" || c.Cluster != "") {
		return errors.New("give either a decision's id, or --cluster, or --resume")
	}
	var q replays.Request
	if c.Resume == "" {
		if q, err = c.request(time.Now()); err != nil {
			return err
		}
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	var b batch
	if c.Server != "" {
		var client *apiclient.Client
		client, err = c.caller()
		b = &remoteBatch{client}
	} else {
		b, err = c.localBatch(ctx, s)
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.close(context.WithoutCancel(ctx))) }()
	began := time.Now()
	var job *replays.Job
	if c.Resume != "" {
		job, err = b.get(ctx, c.Resume)
	} else {
		job, err = b.start(ctx, q)
	}
	if err != nil {
		return err
	}
	before := job.Done
	job, err = followJob(ctx, b, job, s.err)
	if err != nil {
		if ctx.Err() != nil {
			fmt.Fprintln(s.err, b.interrupt(context.WithoutCancel(ctx), job.ID))
			return exitError(1)
		}
		return err
	}
	found, err := b.differences(ctx, job.ID, firstDifferences)
	if err != nil {
		return err
	}
	sum := &summary{Replay: job, Seconds: time.Since(began).Seconds(), Differences: found}
	sum.PerSecond = float64(job.Done-before) / max(sum.Seconds, 1e-9)
	return sum.write(s, c.Output)
}

// request reads the flags.
func (c *replayCmd) request(now time.Time) (q replays.Request, err error) {
	q = replays.Request{Cluster: c.Cluster, Profile: c.Profile, AskedBy: access.Server().String()}
	if q.Since, err = moment("--since", c.Since, now); err != nil {
		return q, err
	}
	if q.Until, err = moment("--until", c.Until, now); err != nil {
		return q, err
	}
	if c.Config == "" {
		return q, nil
	}
	if q.Config, err = os.ReadFile(c.Config); err != nil {
		return q, fmt.Errorf("--config: %w", err)
	}
	return q, nil
}

// moment reads a time, or how long ago it was.
func moment(flag, text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if t, err := time.Parse(time.RFC3339Nano, text); err == nil {
		return t, nil
	}
	var ago age
	if err := ago.UnmarshalText([]byte(text)); err == nil {
		return now.Add(-time.Duration(ago)), nil
	}
	return time.Time{}, fmt.Errorf("%s %q is neither a time, such as 2026-01-31T12:00:00Z, nor how long ago, such as 24h or 7d", flag, text)
}

// followJob shows a job until it has ended. The job is the last one seen.
func followJob(ctx context.Context, b batch, job *replays.Job, w io.Writer) (*replays.Job, error) {
	p := newProgress(w, job)
	defer p.end()
	failing := time.Time{} // since when
	for !job.Ended() {
		select {
		case <-ctx.Done():
			return job, ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
		next, err := b.get(ctx, job.ID)
		switch {
		case err == nil:
			job, failing = next, time.Time{}
			p.at(job)
		case ctx.Err() != nil:
			return job, ctx.Err()
		case failing.IsZero():
			failing = time.Now()
		case time.Since(failing) > 30*time.Second: // a restart takes less
			return job, err
		}
	}
	return job, nil
}

// summary is what came of a batch replay.
type summary struct {
	Replay      *replays.Job          `json:"replay"`
	Seconds     float64               `json:"seconds"`
	PerSecond   float64               `json:"decisionsPerSecond"`
	Differences []*replays.Difference `json:"differences"`
}

// write shows it; what is not identical ends with code 2, what is broken with 1.
func (s *summary) write(to streams, form string) error {
	if form == "json" {
		js, err := json.MarshalIndent(s, "", "  ")
		if err != nil {
			return fmt.Errorf("write the summary: %w", err)
		}
		if _, err := fmt.Fprintln(to.out, string(js)); err != nil {
			return err
		}
	} else {
		s.text(to.out)
	}
	j := s.Replay
	switch {
	case j.State != "done":
		fmt.Fprintf(to.err, "batch replay %s was %s %s\n", j.ID, j.State, j.Reason)
		return exitError(1)
	case j.Different > 0:
		return exitError(2)
	case j.Errors > 0:
		return exitError(1)
	}
	return nil
}

func (s *summary) text(w io.Writer) {
	j := s.Replay
	fmt.Fprintf(w, "%s: %d of %d decisions of %s in %.1f s (%.0f/s): %d identical, %d different, %d errors\n",
		j.ID, j.Done, j.Total, j.Cluster, s.Seconds, s.PerSecond, j.Identical, j.Different, j.Errors)
	for _, d := range s.Differences {
		fmt.Fprintf(w, "%s  %s %s/%s on %s", d.ID, d.Verb, d.Pod.Namespace, d.Pod.Name, d.Snapshot)
		if d.Error != "" {
			fmt.Fprintf(w, ": %s", d.Error)
		}
		fmt.Fprintln(w)
		for _, x := range d.Differences[:min(len(d.Differences), 5)] {
			fmt.Fprintf(w, "    %s: %s -> %s\n", x.Path, value(x.Recorded), value(x.Replayed))
		}
		if n := len(d.Differences) - 5 + d.DifferencesOmitted; n > 0 {
			fmt.Fprintf(w, "    and %d more: server replay %s\n", n, d.ID)
		}
	}
	if n := j.Different + j.Errors - int64(len(s.Differences)); n > 0 {
		fmt.Fprintf(w, "and %d more decisions: GET /v1/replays/%s/differences\n", n, j.ID)
	}
}

// value is a JSON value in a line.
func value(v any) string {
	js, err := json.Marshal(v)
	if err != nil || v == nil {
		return "(none)"
	}
	if len(js) > 60 {
		return string(js[:57]) + "..."
	}
	return string(js)
}
