package trial

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"time"

	"berth/test/conformance/progress"
)

// Main runs a command until it ends or is interrupted, and ends the process with
// its exit code, or with 2 and the error where there is one.
func Main(name string, run func(context.Context) (int, error)) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code, err := run(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, name+":", err)
		code = 2
	}
	os.Exit(code)
}

// Cases is a trial of one case a seed.
type Cases struct {
	Name string // of the command
	What string // the cases are, in the plural
	N    int    // how many without -n
	// Try puts the case of a seed to berth and to kube-scheduler's code. It returns where they
	// differ.
	Try func(ctx context.Context, client *Client, seed uint64) (diffs []Difference, err error)
	// Counted returns what else was counted, for the last line; it may be empty.
	Counted func() string
}

// Run reads the command's flags, tries all cases and returns the exit code: 0 all agree, 1
// differences were found.
func (c *Cases) Run(ctx context.Context) (int, error) {
	n := flag.Int("n", c.N, "number of "+c.What)
	seed := flag.Uint64("seed", 1, "seed of the first; number i has seed+i")
	server := flag.String("server", "", "URL of the berth on trial")
	flag.Parse()
	if *server == "" {
		return 2, fmt.Errorf("-server is needed")
	}
	client := NewClient(strings.TrimSuffix(*server, "/"), c.Name)
	differing, start := 0, time.Now()
	meter := progress.Of(*n, c.What)
	for s := *seed; s < *seed+uint64(*n); s++ {
		if err := ctx.Err(); err != nil {
			return 2, err
		}
		diffs, err := c.Try(ctx, client, s)
		if err != nil {
			return 2, fmt.Errorf("seed %d: %w", s, err)
		}
		if len(diffs) > 0 {
			differing++
		}
		meter.Step(differing)
		for _, d := range diffs {
			fmt.Printf("seed %d: %s\n", s, d)
		}
	}
	fmt.Printf("%d %s from seed %d, %s%d differ, %.1f a second\n",
		*n, c.What, *seed, c.Counted(), differing, float64(*n)/time.Since(start).Seconds())
	if differing > 0 {
		return 1, nil
	}
	return 0, nil
}
