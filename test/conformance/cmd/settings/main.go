// Command settings puts random configurations to a running berth and to
// kube-scheduler's own code: what one refuses the other has to refuse, and where
// both accept they have to decide alike.
package main

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"berth/test/conformance/progress"
	"berth/test/conformance/trial"
)

func main() { trial.Main("settings", run) }

// run returns the exit code: 0 all agree, 1 differences were found.
func run(ctx context.Context) (int, error) {
	n := flag.Int("n", 1000, "number of configurations")
	seed := flag.Uint64("seed", 1, "seed of the first; number i has seed+i")
	server := flag.String("server", "", "URL of the berth on trial")
	verbose := flag.Bool("v", false, "print the configurations that differ")
	flag.Parse()
	if *server == "" {
		return 2, fmt.Errorf("-server is needed")
	}
	client := trial.NewClient(strings.TrimSuffix(*server, "/"), "settings")
	kinds, differing, start := map[string]int{}, 0, time.Now()
	meter := progress.Of(*n, "configurations")
	for i := range *n {
		if err := ctx.Err(); err != nil {
			return 2, err
		}
		s := *seed + uint64(i)
		r, err := trial.ReadSettings(ctx, client, s)
		if err != nil {
			return 2, fmt.Errorf("seed %d: %w", s, err)
		}
		if len(r.Diffs) > 0 {
			differing++
		} else {
			kinds[r.Kind]++
		}
		meter.Step(differing)
		for _, d := range r.Diffs {
			fmt.Printf("seed %d: %s\n", s, d)
		}
		if *verbose && len(r.Diffs) > 0 {
			fmt.Printf("%s\n", r.Config)
		}
	}
	for _, k := range slices.Sorted(maps.Keys(kinds)) {
		fmt.Printf("%6d  %s\n", kinds[k], k)
	}
	fmt.Printf("%d configurations from seed %d, %d differ, %.1f a second\n", *n, *seed, differing, float64(*n)/time.Since(start).Seconds())
	if differing > 0 {
		return 1, nil
	}
	return 0, nil
}
