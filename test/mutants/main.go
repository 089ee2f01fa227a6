// Command mutants shows that the golden vectors alone catch faults in the rules:
// for each of a table of one-line faults it runs TestVectors with the line
// replaced in a build overlay, so that no file is changed. It fails unless every
// fault is caught and the code as it stands passes.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"
)

const (
	rooms = "internal/engine"
	// limit is how long the vectors may take; a fault that hangs them is caught.
	limit = "10m"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

// run tries all mutants, or those whose file or lines hold one of the words.
func run(ctx context.Context, words []string) error {
	root, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "berth").Output()
	if err != nil {
		return fmt.Errorf("find the module: %w", err)
	}
	dir, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	b := &bench{root: strings.TrimSpace(string(root)), dir: dir}
	// All rows first: one that went stale says so before minutes have passed.
	for _, m := range mutants {
		if _, _, err := b.source(m); err != nil {
			return err
		}
	}
	if out, err := b.build(ctx); err != nil {
		return fmt.Errorf("build the tests: %w\n%s", err, out)
	}
	// Each file that is asked by itself has to pass by itself, too.
	for _, files := range baselines(words) {
		if out, err := b.vectors(ctx, files); err != nil {
			return fmt.Errorf("the vectors %s fail without any fault: %w\n%s", files, err, out)
		}
	}
	t := tabwriter.NewWriter(os.Stdout, 2, 4, 2, ' ', 0)
	fmt.Fprintln(t, "file\tinstead of\tit says\tverdict\ttook")
	tried, missed := 0, 0
	for _, m := range mutants {
		if !wanted(m, words) {
			continue
		}
		tried++
		began := time.Now()
		verdict, err := b.try(ctx, m)
		if err != nil {
			return fmt.Errorf("%s: %q: %w", m.File, m.New, err)
		}
		if verdict == missing || verdict == broken {
			missed++
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%.1fs\n", m.File, m.Old, m.New, verdict, time.Since(began).Seconds())
		_ = t.Flush()
	}
	fmt.Printf("%d of %d faults caught by the vectors alone\n", tried-missed, tried)
	if missed > 0 {
		return fmt.Errorf("%d faults are not caught", missed)
	}
	return nil
}

// baselines are the files that the mutants to be tried are shown to, alone and
// together.
func baselines(words []string) []string {
	var out []string
	for _, m := range mutants {
		if files := likely(m.File); wanted(m, words) && !slices.Contains(out, files) {
			out = append(out, files)
		}
	}
	return append(out, "*")
}

func wanted(m mutant, words []string) bool {
	for _, w := range words {
		if strings.Contains(m.File+m.Old+m.New, w) {
			return true
		}
	}
	return len(words) == 0
}

// Verdicts that fail the run: the vectors let the fault pass, or the row is none.
const (
	missing = "NOT CAUGHT"
	broken  = "DOES NOT COMPILE"
)

type bench struct{ root, dir string }

// source gives a mutant's file and its text with the fault in it.
func (b *bench) source(m mutant) (path, text string, err error) {
	path = filepath.Join(b.root, rooms, m.File)
	raw, err := os.ReadFile(path)
	if err != nil {
		return "", "", err
	}
	if n := strings.Count(string(raw), m.Old); n != 1 {
		return "", "", fmt.Errorf("%s: %q stands there %d times, not once: bring the table up to date", m.File, m.Old, n)
	}
	return path, strings.Replace(string(raw), m.Old, m.New, 1), nil
}

// try runs the vectors with the fault. An error says that nothing was shown.
func (b *bench) try(ctx context.Context, m mutant) (string, error) {
	path, text, err := b.source(m)
	if err != nil {
		return "", err
	}
	faulty, overlay := filepath.Join(b.dir, "faulty.go"), filepath.Join(b.dir, "overlay.json")
	if err := os.WriteFile(faulty, []byte(text), 0o600); err != nil {
		return "", err
	}
	replace, err := json.Marshal(map[string]any{"Replace": map[string]string{path: faulty}})
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(overlay, replace, 0o600); err != nil {
		return "", err
	}
	if out, err := b.build(ctx, "-overlay", overlay); err != nil {
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		if !errors.As(err, new(*exec.ExitError)) {
			return "", fmt.Errorf("%w: %s", err, out)
		}
		return broken, nil
	}
	// The file that is most likely to know first, then all.
	for _, files := range []string{likely(m.File), "*"} {
		out, err := b.vectors(ctx, files)
		switch {
		case ctx.Err() != nil:
			return "", ctx.Err()
		case err == nil:
			continue
		case !errors.As(err, new(*exec.ExitError)):
			return "", err
		}
		by, ok := caughtBy(out)
		if !ok {
			return "", fmt.Errorf("the run over %s ended without a verdict: %w\n%s", files, err, tail(out))
		}
		return "caught by " + by, nil
	}
	return missing, nil
}

// likely is the file of vectors that is made for a rule.
func likely(file string) string {
	for _, room := range []struct{ word, vectors string }{{"preempt", "preempt"}, {"volume", "volumes"}, {"dynamic", "devices"}, {"devices/", "devices"}} {
		if strings.Contains(file, room.word) {
			return room.vectors
		}
	}
	return "basic"
}

// build makes the test binary. Vet says nothing about verdicts, and nobody
// debugs a mutant: neither vet nor symbols are waited for.
func (b *bench) build(ctx context.Context, flags ...string) ([]byte, error) {
	args := append([]string{"test", "-c", "-vet=off", "-ldflags=-s -w", "-o", b.binary()}, flags...)
	cmd := exec.CommandContext(ctx, "go", append(args, "./"+rooms)...)
	cmd.Dir = b.root
	return cmd.CombinedOutput()
}

func (b *bench) binary() string { return filepath.Join(b.dir, "engine.test") }

// vectors runs the binary over files of vectors, up to the first failure.
func (b *bench) vectors(ctx context.Context, files string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, b.binary(), "-test.count=1", "-test.failfast", "-test.timeout="+limit, "-test.run=^TestVectors$")
	cmd.Dir = filepath.Join(b.root, rooms)
	cmd.Env = append(os.Environ(), "BERTH_VECTORS=testdata/vectors/"+files+".json.gz")
	return cmd.CombinedOutput()
}

// caughtBy names the vector that failed, or how else the fault showed: it ran into
// the time limit or a panic. A run that failed in another way, such as one that
// found no vectors or was killed, shows nothing.
func caughtBy(out []byte) (string, bool) {
	for line := range strings.Lines(string(out)) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "--- FAIL: TestVectors/"):
			name, _, _ := strings.Cut(strings.TrimPrefix(line, "--- FAIL: TestVectors/"), " ")
			return name, true
		case strings.HasPrefix(line, "panic: test timed out"):
			return "the time limit", true
		case strings.HasPrefix(line, "panic:"):
			return "a panic", true
		}
	}
	return "", false
}

// tail is the end of what a run printed.
func tail(out []byte) []byte { return out[max(0, len(out)-2000):] }
