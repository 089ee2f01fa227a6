package main

import (
	"bufio"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// binary is the compiled tests of a package, and the folder that they run in.
type binary struct {
	path, dir string
	sum       [sha256.Size]byte
}

// build compiles without the tree's path in the binary: equal sources make equal binaries.
func build(ctx context.Context, tree, pkg, path string) (binary, error) {
	cmd := exec.CommandContext(ctx, "go", "test", "-c", "-trimpath", "-buildvcs=false", "-o", path, "./"+pkg)
	cmd.Dir = tree
	if out, err := cmd.CombinedOutput(); err != nil {
		return binary{}, fmt.Errorf("build the tests of %s: %w: %s", pkg, err, out)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return binary{}, err
	}
	return binary{path: path, dir: filepath.Join(tree, pkg), sum: sha256.Sum256(content)}, nil
}

// figure is the least time of one benchmark, in nanoseconds; 0 where it does not exist.
type figure struct {
	name     string
	old, new float64
}

// speed is how fast the new is against the old: below 1 it is slower.
func (f *figure) speed() float64 { return f.old / f.new }

// figures are in the order of the benchmarks.
type figures []figure

// measure runs both binaries in turns, each first in every other round.
func (fs *figures) measure(ctx context.Context, before, after binary, bench, benchtime string, rounds int) error {
	for round := range rounds {
		order := []bool{false, true}
		if round%2 == 1 {
			order = []bool{true, false}
		}
		for _, isNew := range order {
			b := before
			if isNew {
				b = after
			}
			cmd := exec.CommandContext(ctx, b.path, "-test.run=^$", "-test.cpu=1", "-test.bench="+bench, "-test.benchtime="+benchtime)
			cmd.Dir = b.dir
			start := time.Now()
			out, err := cmd.CombinedOutput()
			if err != nil {
				return errors.Join(ctx.Err(), fmt.Errorf("%s: %w: %s", b.dir, err, out))
			}
			if calm(cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime(), time.Since(start)) {
				fs.read(string(out), isNew)
			}
		}
	}
	return nil
}

// leastShare is how much of one core a run must get to count. Time that others took is in no figure
// of a benchmark, but in its result.
const leastShare = 0.8

// calm reports whether a run had a core for itself.
func calm(cpu, wall time.Duration) bool { return cpu.Seconds() >= leastShare*wall.Seconds() }

var resultLine = regexp.MustCompile(`^(Benchmark\S+)\s+\d+\s+([0-9.]+) ns/op`)

// read takes in what one run printed.
func (fs *figures) read(out string, isNew bool) {
	lines := bufio.NewScanner(strings.NewReader(out))
	for lines.Scan() {
		m := resultLine.FindStringSubmatch(lines.Text())
		if m == nil {
			continue
		}
		if ns, err := strconv.ParseFloat(m[2], 64); err == nil && ns > 0 {
			fs.add(m[1], isNew, ns)
		}
	}
}

func (fs *figures) add(name string, isNew bool, ns float64) {
	for i := range *fs {
		f := &(*fs)[i]
		if f.name != name {
			continue
		}
		best := &f.old
		if isNew {
			best = &f.new
		}
		if *best == 0 || ns < *best {
			*best = ns
		}
		return
	}
	*fs = append(*fs, figure{name: name})
	fs.add(name, isNew, ns)
}

// judged reports whether some benchmark has a figure of both binaries.
func (fs figures) judged() bool {
	return slices.ContainsFunc(fs, func(f figure) bool { return f.old > 0 && f.new > 0 })
}

// slower returns the benchmarks in both binaries whose speed is below least.
func (fs figures) slower(least float64) (names []string) {
	for i := range fs {
		if f := &fs[i]; f.old > 0 && f.new > 0 && f.speed() < least {
			names = append(names, f.name)
		}
	}
	return names
}

func (fs figures) table(least float64) string {
	var b strings.Builder
	for i := range fs {
		f := &fs[i]
		switch {
		case f.old == 0:
			fmt.Fprintf(&b, "  %-55s %12s %10.1f us\n", f.name, "new", f.new/1e3)
		case f.new == 0:
			fmt.Fprintf(&b, "  %-55s %10.1f us %12s\n", f.name, f.old/1e3, "gone")
		default:
			note := ""
			if f.speed() < least {
				note = "  slower"
			}
			fmt.Fprintf(&b, "  %-55s %10.1f us %10.1f us  %5.2f%s\n", f.name, f.old/1e3, f.new/1e3, f.speed(), note)
		}
	}
	return b.String()
}

// exactly returns the -test.bench pattern of one benchmark.
func exactly(name string) string {
	parts := strings.Split(name, "/")
	for i, p := range parts {
		parts[i] = "^" + regexp.QuoteMeta(p) + "$"
	}
	return strings.Join(parts, "/")
}
