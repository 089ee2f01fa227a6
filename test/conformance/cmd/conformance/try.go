package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"berth/test/conformance/gen"
	"berth/test/conformance/progress"
	"berth/test/conformance/trial"
)

// trials are the cases of a run.
type trials struct {
	server, semantics string
	n                 int
	seed              uint64
	opts              gen.Options
	out               string // where minimised cases go
	keep, each        int    // how many of them: of all, or of each group where each is not 0
	every             bool
	explained         trial.Explained
}

// tally is the summary of a run.
type tally struct {
	*trials
	mu                      sync.Mutex
	cases, differing, wrote int
	tried, found            int // preemption, of the cases
	unexplained             int // of the differing cases
	classes, rows, shown    map[string]int
	skipped, odd            map[string]int
	mix                     *mix
	meter                   *progress.Meter
}

func (r *trials) tally() *tally {
	return &tally{
		trials: r, classes: map[string]int{}, rows: map[string]int{}, shown: map[string]int{},
		skipped: map[string]int{}, odd: map[string]int{}, mix: newMix(), meter: progress.Of(r.n, "cases"),
	}
}

// try puts the seeds to the server with two workers, one cluster each.
func (r *trials) try(ctx context.Context) (int, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	t := r.tally()
	seeds := make(chan uint64)
	start := time.Now()
	var wg sync.WaitGroup
	for w := range 2 {
		client := trial.NewClient(strings.TrimSuffix(r.server, "/"), fmt.Sprintf("conformance-%d", w))
		client.All, client.Semantics = r.every, r.semantics
		wg.Go(func() {
			for s := range seeds {
				if err := t.one(ctx, client, s); err != nil {
					cancel(fmt.Errorf("seed %d: %w", s, err))
				}
			}
		})
	}
feed:
	for i := range r.n {
		select {
		case seeds <- r.seed + uint64(i):
		case <-ctx.Done():
			break feed
		}
	}
	close(seeds)
	wg.Wait()
	t.print(r.seed, time.Since(start))
	if err := context.Cause(ctx); err != nil {
		return 2, err
	}
	if t.unexplained > 0 {
		return 1, nil
	}
	return 0, nil
}

func (t *tally) one(ctx context.Context, client *trial.Client, seed uint64) error {
	r, err := trial.One(ctx, client, seed, t.opts)
	if err != nil {
		return err
	}
	for _, group := range t.note(r, seed) {
		small, err := trial.Shrink(ctx, client, r, func(diffs []trial.Difference) bool { return slices.Contains(t.groups(diffs), group) })
		if err != nil {
			return err
		}
		if err := write(t.out, group, small); err != nil {
			return err
		}
	}
	return nil
}

// groups are what differences are counted by: their class, and the rows that explain them.
func (t *tally) groups(diffs []trial.Difference) (out []string) {
	for i, rows := range t.explained.Rows(diffs) {
		group := diffs[i].Class
		if rows != "" {
			group += " (" + rows + ")"
		}
		out = append(out, group)
	}
	return out
}

// note counts a result, prints the differences that nothing explains, and returns the groups of
// which the case is to be minimised.
func (t *tally) note(r *trial.Result, seed uint64) (groups []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	defer func() { t.meter.Step(t.unexplained) }()
	if r.Skipped != "" {
		t.skipped[r.Skipped]++
		return nil
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
	first, seen, grouped := "", map[string]bool{}, t.groups(r.Diffs)
	for i, rows := range t.explained.Rows(r.Diffs) {
		for row := range strings.SplitSeq(rows, "+") {
			if row != "" && !seen[row] {
				seen[row] = true
				t.rows[row]++
			}
		}
		group := grouped[i]
		if rows == "" && first == "" {
			first = group
		}
		if !seen[group] {
			seen[group] = true
			t.classes[group]++
			if t.shown[group]++; t.shown[group] <= t.each {
				groups = append(groups, group)
			}
		}
		if rows == "" && (t.each == 0 || t.shown[group] <= t.each) {
			fmt.Printf("seed %d%s: %s\n", seed, among(r.Case.Odd), r.Diffs[i])
		}
	}
	if len(r.Diffs) > 0 {
		t.differing++
	}
	if first != "" {
		t.unexplained++
		if t.each == 0 && t.wrote < t.keep {
			t.wrote++
			groups = []string{first}
		}
	}
	return groups
}

// among returns the mutators of a case for a line about it.
func among(odd []string) string {
	if len(odd) == 0 {
		return ""
	}
	return " (" + strings.Join(odd, " ") + ")"
}

// unfit are the characters of a group that are none of a file's name.
var unfit = regexp.MustCompile(`[^\w.+]+`)

// write stores a minimised case with upstream's verdict and the differences.
func write(dir, group string, r *trial.Result) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	body, err := json.MarshalIndent(map[string]any{"case": r.Case, "differences": r.Diffs}, "", " ")
	if err != nil {
		return err
	}
	path := filepath.Join(dir, r.Case.ID+"-"+unfit.ReplaceAllString(group, "_")+".json")
	fmt.Printf("%s: minimised to %d objects: %s\n", group, len(r.Case.Objects), path)
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
	for _, k := range slices.Sorted(maps.Keys(t.rows)) {
		fmt.Printf("  %6d cases differ by %s\n", t.rows[k], k)
	}
	explained := ""
	if len(t.explained) > 0 {
		explained = fmt.Sprintf(", %d of these by more than is explained", t.unexplained)
	}
	fmt.Printf("%d cases from seed %d, %d differ%s, %.1f cases/s\n", t.cases, seed, t.differing, explained, float64(t.cases)/took.Seconds())
}
