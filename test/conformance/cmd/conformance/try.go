package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"berth/test/conformance/gen"
	"berth/test/conformance/progress"
	"berth/test/conformance/trial"
)

// tally is the summary of a run.
type tally struct {
	mu                      sync.Mutex
	cases, differing, wrote int
	tried, found            int // preemption, of the cases
	classes, skipped, odd   map[string]int
	mix                     *mix
	meter                   *progress.Meter
}

// try puts n seeds to the server with two workers, one cluster each.
func try(ctx context.Context, server string, n int, seed uint64, opts gen.Options, out string, keep int, every bool) (int, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	t := &tally{classes: map[string]int{}, skipped: map[string]int{}, odd: map[string]int{}, mix: newMix(), meter: progress.Of(n, "cases")}
	seeds := make(chan uint64)
	start := time.Now()
	var wg sync.WaitGroup
	for w := range 2 {
		client := trial.NewClient(strings.TrimSuffix(server, "/"), fmt.Sprintf("conformance-%d", w))
		client.All = every
		wg.Go(func() {
			for s := range seeds {
				if err := t.one(ctx, client, s, opts, out, keep); err != nil {
					cancel(fmt.Errorf("seed %d: %w", s, err))
				}
			}
		})
	}
feed:
	for i := range n {
		select {
		case seeds <- seed + uint64(i):
		case <-ctx.Done():
			break feed
		}
	}
	close(seeds)
	wg.Wait()
	t.print(seed, time.Since(start))
	if err := context.Cause(ctx); err != nil {
		return 2, err
	}
	if t.differing > 0 {
		return 1, nil
	}
	return 0, nil
}

func (t *tally) one(ctx context.Context, client *trial.Client, seed uint64, opts gen.Options, out string, keep int) error {
	r, err := trial.One(ctx, client, seed, opts)
	if err != nil {
		return err
	}
	if !t.note(r, seed, keep) {
		return nil
	}
	small, err := trial.Shrink(ctx, client, r)
	if err != nil {
		return err
	}
	return write(out, small)
}

// note counts a result, prints its differences, and reports whether the case is
// to be minimised.
func (t *tally) note(r *trial.Result, seed uint64, keep int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	defer func() { t.meter.Step(t.differing) }()
	if r.Skipped != "" {
		t.skipped[r.Skipped]++
		return false
	}
	t.cases++
	t.mix.add(r.Case.Verdict)
	for _, name := range r.Case.Odd {
		t.odd[name]++
	}
	if p := r.Case.Verdict.Preemption; p != nil && trial.Preempts(r.Case) {
		t.tried++
		if len(p.Candidates) > 0 {
			t.found++
		}
	}
	seen := map[string]bool{}
	for _, d := range r.Diffs {
		fmt.Printf("seed %d%s: %s\n", seed, among(r.Case.Odd), d)
		if !seen[d.Class] {
			seen[d.Class] = true
			t.classes[d.Class]++
		}
	}
	if len(r.Diffs) == 0 {
		return false
	}
	t.differing++
	t.wrote++
	return t.wrote <= keep
}

// among returns the mutators of a case for a line about it.
func among(odd []string) string {
	if len(odd) == 0 {
		return ""
	}
	return " (" + strings.Join(odd, " ") + ")"
}

// write stores a minimised case with upstream's verdict and the differences.
func write(dir string, r *trial.Result) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	body, err := json.MarshalIndent(map[string]any{"case": r.Case, "differences": r.Diffs}, "", " ")
	if err != nil {
		return err
	}
	path := filepath.Join(dir, r.Case.ID+".json")
	fmt.Printf("minimised to %d objects: %s\n", len(r.Case.Objects), path)
	return os.WriteFile(path, append(body, '\n'), 0o644)
}

func (t *tally) print(seed uint64, took time.Duration) {
	t.mix.print(os.Stdout)
	printSkipped(t.skipped)
	if len(t.odd) > 0 {
		var counts []string
		for _, name := range slices.Sorted(maps.Keys(t.odd)) {
			counts = append(counts, fmt.Sprintf("%s %d", name, t.odd[name]))
		}
		fmt.Printf("cases by mutator: %s\n", strings.Join(counts, ", "))
	}
	fmt.Printf("preemption tried in %d cases (%.0f %%), a node found in %d\n", t.tried, 100*float64(t.tried)/float64(max(t.cases, 1)), t.found)
	for _, k := range slices.Sorted(maps.Keys(t.classes)) {
		fmt.Printf("  %6d cases differ in %s\n", t.classes[k], k)
	}
	fmt.Printf("%d cases from seed %d, %d differ, %.1f cases/s\n", t.cases, seed, t.differing, float64(t.cases)/took.Seconds())
}
