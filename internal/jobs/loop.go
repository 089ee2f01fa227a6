// Package jobs has what all kinds of jobs in the store share.
package jobs

import (
	"context"
	"time"
)

// Loop calls step until ctx ends: again at once after work without an error, else once wake has a
// token or poll is over. failed is called with errors, but for those of the end.
func Loop(ctx context.Context, wake <-chan struct{}, poll time.Duration, step func(context.Context) (worked bool, err error), failed func(error)) {
	for ctx.Err() == nil {
		worked, err := step(ctx)
		if err != nil && ctx.Err() == nil {
			failed(err)
		}
		if worked && err == nil {
			continue
		}
		select {
		case <-ctx.Done():
		case <-wake:
		case <-time.After(poll):
		}
	}
}
