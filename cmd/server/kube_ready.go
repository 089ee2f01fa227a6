package main

import (
	"context"
	"fmt"
	"time"

	"berth/internal/handlers/admit"
	"berth/internal/kube/follow"
)

// follower is what readiness asks of a *follow.Follower.
type follower interface {
	Cluster() string
	Ready(context.Context) error
	Status() follow.Status
}

// waitForAll is for how long a server waits for all of its clusters before it
// serves those that it knows.
const waitForAll = 30 * time.Second

// followChecks keep a server unready until it knows its clusters, and with a bound when it does not
// know them any more. One of several that is out of reach does not take the others' schedulers away
// from it: it is named, and the server is ready for the others, from a while after its start on.
func followChecks[F follower](list []F, most time.Duration, now func() time.Time) (checks []admit.Check) {
	began := now()
	for i, f := range list {
		checks = append(checks, admit.Check{Name: "cluster " + f.Cluster(), Probe: func(ctx context.Context) error {
			unread, err := unfit(ctx, f, most)
			if err == nil || unread && now().Sub(began) < waitForAll {
				return err
			}
			for j, other := range list {
				if j == i {
					continue
				}
				if _, problem := unfit(ctx, other, most); problem == nil {
					return &admit.WarningError{Err: err}
				}
			}
			return err
		}})
	}
	return checks
}

// unfit returns why this server should make no decisions about a cluster. unread reports whether
// the cluster was never read.
func unfit(ctx context.Context, f follower, most time.Duration) (unread bool, problem error) {
	if err := f.Ready(ctx); err != nil {
		return true, err
	}
	if s := f.Status(); most > 0 && s.Stale > most {
		return false, fmt.Errorf("changes of the last %s may have been missed (--max-staleness %s): %s", s.Stale.Round(time.Millisecond), most, s.Problem)
	}
	return false, nil
}
