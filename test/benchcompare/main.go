// Command benchcompare compares the benchmarks of the handlers with those of an earlier commit and
// fails where one got slower than -least allows. Both test binaries run in turns, and the fastest
// run of each counts; a run that had to share its core counts for nothing. What seems to be slower
// is measured again, at length: only a loss in both looks fails.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
)

// suite is the hot benchmarks of one package.
type suite struct{ pkg, bench string }

// suites are of what users call, with its record, and short enough for CI. They find what was lost
// by accident; `make bench-calls` judges what is given up on purpose.
var suites = []suite{
	{"internal/handlers", "^Benchmark(FilterHTTP|DecideHTTP)$/^(own_recorded|recorded)$"},
}

type options struct {
	base   string
	rounds int
	time   string
	least  float64
}

func main() {
	var o options
	flag.StringVar(&o.base, "base", "", "the `commit` to compare with; the branch point from origin/main, or HEAD~1, if empty")
	flag.IntVar(&o.rounds, "rounds", 3, "`rounds` of both binaries; the second look has twice as many")
	flag.StringVar(&o.time, "benchtime", "100ms", "how long each benchmark runs in a round")
	flag.Float64Var(&o.least, "least", 0.7, "the least speed of the new against the old that passes")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "benchcompare:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options) error {
	base, err := findBase(ctx, ".", o.base)
	if errors.Is(err, errNoBase) {
		fmt.Println("Skipped, nothing was compared:", err)
		return nil
	}
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "benchcompare")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	old := filepath.Join(dir, "tree")
	if _, err := git(ctx, ".", "worktree", "add", "--quiet", "--detach", old, base); err != nil {
		return err
	}
	defer func() { // the context may have ended
		_, _ = git(context.WithoutCancel(ctx), ".", "worktree", "remove", "--force", old)
	}()
	fmt.Printf("%.12s against this tree, best of %d rounds of %s:\n", base, o.rounds, o.time)
	var lost []string
	for _, s := range suites {
		slower, err := compare(ctx, o, s, old, dir)
		if err != nil {
			return err
		}
		lost = append(lost, slower...)
	}
	if len(lost) > 0 {
		return fmt.Errorf("slower than %g of %.12s in two looks: %q", o.least, base, lost)
	}
	return nil
}

// compare builds the test binaries of one package, measures both, and returns what is slower.
func compare(ctx context.Context, o options, s suite, old, dir string) ([]string, error) {
	before, err := build(ctx, old, s.pkg, filepath.Join(dir, "old.test"))
	if err != nil {
		fmt.Printf("%s: skipped, its tests do not build at that commit: %v\n", s.pkg, err)
		return nil, nil
	}
	after, err := build(ctx, ".", s.pkg, filepath.Join(dir, "new.test"))
	if err != nil {
		return nil, err
	}
	if before.sum == after.sum {
		fmt.Printf("%s: the same program\n", s.pkg)
		return nil, nil
	}
	var f figures
	if err := f.measure(ctx, before, after, s.bench, o.time, o.rounds); err != nil {
		return nil, err
	}
	if !f.judged() {
		fmt.Printf("%s: skipped, other programs took more than %.0f %% of a core in every run\n", s.pkg, 100*(1-leastShare))
		return nil, nil
	}
	fmt.Print(f.table(o.least))
	again := f.slower(o.least)
	if len(again) == 0 {
		return nil, nil
	}
	fmt.Printf("Slower at the first look, measured again in %d rounds:\n", 2*o.rounds)
	var second figures
	for _, name := range again {
		if err := second.measure(ctx, before, after, exactly(name), o.time, 2*o.rounds); err != nil {
			return nil, err
		}
	}
	fmt.Print(second.table(o.least))
	return second.slower(o.least), nil
}
