// Command fit has a running berth count how many replicas of random pods fit in random clusters,
// and counts them again with kube-scheduler's own code.
package main

import (
	"context"
	"fmt"

	"berth/test/conformance/trial"
)

func main() {
	replicas, ended, skipped := 0, 0, 0
	cases := trial.Cases{Name: "fit", What: "clusters", N: 300}
	cases.Try = func(ctx context.Context, client *trial.Client, seed uint64) ([]trial.Difference, error) {
		r, err := trial.CountFit(ctx, client, seed)
		if err != nil {
			return nil, err
		}
		if r.Skipped != "" {
			skipped++
		}
		if r.Ended {
			ended++
		}
		replicas += r.Count
		return r.Diffs, nil
	}
	cases.Counted = func() string {
		return fmt.Sprintf("%d replicas, %d counts ended for want of room, %d skipped, ", replicas, ended, skipped)
	}
	trial.Main(cases.Name, cases.Run)
}
