// Command fit has a running berth count how many replicas of random pods fit in random clusters,
// and counts them again with kube-scheduler's own code.
package main

import (
	"context"
	"flag"
	"fmt"
	"strings"
	"time"

	"berth/test/conformance/progress"
	"berth/test/conformance/trial"
)

func main() { trial.Main("fit", run) }

// run returns the exit code: 0 all agree, 1 differences were found.
func run(ctx context.Context) (int, error) {
	n := flag.Int("n", 300, "number of clusters")
	seed := flag.Uint64("seed", 1, "seed of the first; number i has seed+i")
	server := flag.String("server", "", "URL of the berth on trial")
	flag.Parse()
	if *server == "" {
		return 2, fmt.Errorf("-server is needed")
	}
	client := trial.NewClient(strings.TrimSuffix(*server, "/"), "fit")
	differing, skipped, replicas, ended, start := 0, 0, 0, 0, time.Now()
	meter := progress.Of(*n, "clusters")
	for i := range *n {
		if err := ctx.Err(); err != nil {
			return 2, err
		}
		s := *seed + uint64(i)
		r, err := trial.CountFit(ctx, client, s)
		if err != nil {
			return 2, fmt.Errorf("seed %d: %w", s, err)
		}
		if r.Skipped != "" {
			skipped++
		}
		replicas += r.Count
		if r.Ended {
			ended++
		}
		if len(r.Diffs) > 0 {
			differing++
		}
		meter.Step(differing)
		for _, d := range r.Diffs {
			fmt.Printf("seed %d: %s\n", s, d)
		}
	}
	fmt.Printf("%d clusters from seed %d, %d replicas, %d counts ended for want of room, %d skipped, %d differ, %.1f a second\n",
		*n, *seed, replicas, ended, skipped, differing, float64(*n)/time.Since(start).Seconds())
	if differing > 0 {
		return 1, nil
	}
	return 0, nil
}
