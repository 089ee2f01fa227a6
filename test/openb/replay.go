package main

import (
	"context"
	"fmt"
	"time"
)

// replayAll has the server replay every decision as one batch, and fails if one
// comes out otherwise.
func replayAll(ctx context.Context, c *client, cluster string, began time.Time, decisions int) (*batch, error) {
	b, err := c.startReplay(ctx, cluster, began.Add(-time.Minute), "") // the server's clock may be another's
	if err != nil {
		return nil, err
	}
	start := time.Now()
	if b, err = followReplay(ctx, c, b); err != nil {
		return nil, err
	}
	took := time.Since(start)
	fmt.Printf("\n%s: replayed %d decisions in %s (%.0f/s) as batch %s: %d identical, %d different, %d errors\n", c.base, b.Done, took.Round(time.Millisecond),
		float64(b.Done)/took.Seconds(), b.ID, b.Identical, b.Different, b.Errors)
	if b.Different+b.Errors > 0 || b.Identical < int64(decisions) {
		return nil, fmt.Errorf("batch %s: %d of %d decisions replay identical", b.ID, b.Identical, decisions)
	}
	return b, nil
}

// followReplay waits for the end of a batch.
func followReplay(ctx context.Context, c *client, b *batch) (*batch, error) {
	p := newProgress("replayed", int(b.Total))
	for b.State == "queued" || b.State == "running" {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
		var err error
		if b, err = c.replay(ctx, b.ID); err != nil {
			return nil, err
		}
		p.at(int(b.Done))
	}
	if b.State != "done" {
		return nil, fmt.Errorf("batch %s is %s", b.ID, b.State)
	}
	return b, nil
}
