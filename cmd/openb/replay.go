package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"
)

// errNoBatches says that a server knows no batch replays.
var errNoBatches = errors.New("no batch replays")

// replay replays every decision made since a time, as one batch where the server
// can, and fails if one comes out otherwise.
func replay(ctx context.Context, c *client, cluster string, since time.Time, ids []string) error {
	err := replayBatch(ctx, c, cluster, since, len(ids))
	if errors.Is(err, errNoBatches) {
		return replayEach(ctx, c, ids)
	}
	return err
}

// job is what is read of a batch.
type job struct {
	ID        string `json:"id"`
	State     string `json:"state"`
	Reason    string `json:"reason"`
	Total     int    `json:"total"`
	Done      int    `json:"done"`
	Identical int    `json:"identical"`
	Different int    `json:"different"`
	Errors    int    `json:"errors"`
}

// replayBatch has the server replay its log itself.
func replayBatch(ctx context.Context, c *client, cluster string, since time.Time, decisions int) error {
	start := time.Now()
	var j job
	body := object{"cluster": cluster, "since": since.UTC().Format(time.RFC3339Nano)}
	status, err := c.status(ctx, http.MethodPost, "/v1/replays", body, &j)
	switch {
	case err != nil:
		return err
	case status == http.StatusNotFound && j.ID == "":
		return errNoBatches
	case status >= 300:
		return fmt.Errorf("start a batch: status %d", status)
	}
	p := newProgress("replayed", decisions)
	for j.State == "queued" || j.State == "running" || j.State == "" {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
		if err := c.call(ctx, http.MethodGet, "/v1/replays/"+j.ID, nil, &j, http.StatusOK); err != nil {
			return err
		}
		p.at(j.Done)
	}
	took := time.Since(start)
	fmt.Printf("\n%s: a batch replayed %d decisions in %s (%.0f/s): %d identical, %d different, %d errors\n",
		c.base, j.Done, took.Round(time.Millisecond), float64(j.Done)/took.Seconds(), j.Identical, j.Different, j.Errors)
	if j.State != "done" || j.Identical != decisions {
		return fmt.Errorf("batch %s is %s (%s): %d of %d decisions replay identical", j.ID, j.State, j.Reason, j.Identical, decisions)
	}
	return nil
}

// replayEach asks for one decision after the other.
func replayEach(ctx context.Context, c *client, ids []string) error {
	p := newProgress("replayed", len(ids))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(2)
	same := make([]bool, len(ids))
	start := time.Now()
	for i, id := range ids {
		g.Go(func() error {
			ok, err := c.replay(ctx, id)
			same[i] = ok
			return err
		})
		p.at(i + 1)
	}
	if err := g.Wait(); err != nil {
		return err
	}
	different := 0
	for i, ok := range same {
		if !ok {
			different++
			if different <= 5 {
				fmt.Printf("decision %s replays otherwise\n", ids[i])
			}
		}
	}
	took := time.Since(start)
	fmt.Printf("\n%s: replayed %d decisions one by one in %s (%.0f/s): %d identical, %d different\n", c.base, len(ids), took.Round(time.Millisecond),
		float64(len(ids))/took.Seconds(), len(ids)-different, different)
	if different > 0 {
		return fmt.Errorf("%d decisions replay otherwise", different)
	}
	return nil
}
