package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"berth/test/conformance/gen"
	"berth/test/conformance/oracle"
	"berth/test/conformance/trial"
)

// vectorFile is one file of golden vectors.
type vectorFile struct {
	name       string
	n          int
	seed       uint64
	opts       gen.Options
	preempting bool // only cases in which preemption finds a node
}

// vectorFiles are what -write-vectors writes. A row is one file; the seeds are
// far apart, so that no case stands in two.
var vectorFiles = []vectorFile{
	{"basic.json.gz", 900, 1, gen.Options{MaxNodes: 12, MaxPods: 30}, false},
	{"configs.json.gz", 1300, 2_000_000, gen.Options{MaxNodes: 10, MaxPods: 20, Config: "any"}, false},
	{"preempt.json.gz", 400, 1_000_000, gen.Options{MaxNodes: 12, MaxPods: 30}, true},
	{"preempt-configs.json.gz", 400, 3_000_000, gen.Options{MaxNodes: 10, MaxPods: 20, Config: "any"}, true},
	{"volumes.json.gz", 500, 4_000_000, gen.Options{MaxNodes: 10, MaxPods: 20, Storage: 100}, false},
	{"devices.json.gz", 400, 5_000_000, gen.Options{MaxNodes: 8, MaxPods: 12, Devices: 100}, false},
	{"lookalikes.json.gz", 200, 7_000_000, gen.Options{MaxNodes: 6, MaxPods: 14, Storage: 30, Lookalikes: 100}, false},
	{"preempt-volumes.json.gz", 200, 6_000_000, gen.Options{MaxNodes: 10, MaxPods: 20, Storage: 100}, true},
}

func writeAllVectors(ctx context.Context, dir string) error {
	for _, f := range vectorFiles {
		fmt.Printf("== %s\n", f.name)
		if err := writeVectors(ctx, filepath.Join(dir, f.name), f.n, f.seed, f.opts, f.preempting); err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
	}
	return nil
}

// draw returns the next n judged cases from a seed on. A case that upstream's
// validation refuses, or whose cycle fails with an error, is passed over; why
// is counted.
func draw(ctx context.Context, n int, seed uint64, opts gen.Options, preempting bool, each func(*oracle.Case) error) (skipped map[string]int, err error) {
	skipped = map[string]int{}
	for done := 0; done < n; seed++ {
		c, err := gen.Case(seed, opts)
		if err != nil {
			return skipped, fmt.Errorf("seed %d: %w", seed, err)
		}
		invalid, err := oracle.Invalid(c)
		if err != nil {
			return skipped, fmt.Errorf("seed %d: %w", seed, err)
		}
		if len(invalid) > 0 {
			skipped[invalid[0]]++
			continue
		}
		if c.Verdict, err = oracle.Judge(ctx, c); err != nil {
			return skipped, fmt.Errorf("seed %d: %w", seed, err)
		}
		if c.Verdict.Outcome == oracle.Failed {
			skipped[c.Verdict.Message]++
			continue
		}
		if preempting && (c.Verdict.Preemption == nil || len(c.Verdict.Preemption.Candidates) == 0) {
			skipped["preemption finds no node"]++
			continue
		}
		if err := each(c); err != nil {
			return skipped, err
		}
		done++
	}
	return skipped, nil
}

// writeVectors writes a file of cases. The same seed returns the same bytes.
func writeVectors(ctx context.Context, path string, n int, seed uint64, opts gen.Options, preempting bool) error {
	mix := newMix()
	var cases []*oracle.Case
	skipped, err := draw(ctx, n, seed, opts, preempting, func(c *oracle.Case) error {
		mix.add(c.Verdict)
		cases = append(cases, c)
		return nil
	})
	if err == nil {
		err = writeCases(path, cases)
	}
	if err != nil {
		return err
	}
	fmt.Printf("%d cases from seed %d\n", n, seed)
	mix.print(os.Stdout)
	printSkipped(skipped)
	return nil
}

// writeDiffering writes the cases that this release's plugins judge otherwise than those that
// answer at the server, some of each group of differences. One is a case whose cycle fails here
// alone.
func (t *tally) writeDiffering(ctx context.Context, path string) error {
	client := trial.NewClient(strings.TrimSuffix(t.server, "/"), "vectors")
	var cases []*oracle.Case
	for seed := t.seed; seed < t.seed+uint64(t.n); seed++ {
		r, err := trial.One(ctx, client, seed, t.opts)
		if err != nil {
			return fmt.Errorf("seed %d: %w", seed, err)
		}
		if r.Case.Verdict != nil && strings.Contains(r.Case.Verdict.Message, " panics: ") {
			continue // an error that has another text here
		}
		wanted := false
		for _, group := range t.groups(r.Diffs) {
			if !wanted && t.shown[group] < t.each {
				wanted = true
				cases = append(cases, r.Case)
			}
			t.shown[group]++
		}
	}
	for _, group := range slices.Sorted(maps.Keys(t.shown)) {
		fmt.Printf("  %6d differences in %s\n", t.shown[group], group)
	}
	fmt.Printf("%d cases of %d seeds\n", len(cases), t.n)
	return writeCases(path, cases)
}

// writeCases writes a JSON array, one case a line, gzipped.
func writeCases(path string, cases []*oracle.Case) error {
	var buf bytes.Buffer
	z, err := gzip.NewWriterLevel(&buf, gzip.BestCompression)
	if err != nil {
		return err
	}
	sep := "[\n"
	for _, c := range cases {
		line, err := json.Marshal(c)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(z, "%s%s", sep, line); err != nil {
			return err
		}
		sep = ",\n"
	}
	if _, err := z.Write([]byte("\n]\n")); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	fmt.Printf("%d bytes\n", buf.Len())
	return os.WriteFile(path, buf.Bytes(), 0o644)
}
