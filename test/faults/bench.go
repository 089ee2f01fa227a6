package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// limit is how long a test may take; a fault that makes it hang is found.
const limit = "10m"

// bench builds test binaries, with and without a fault, and runs them.
type bench struct {
	root, dir string
	sound     map[string]error // by package and run: whether the test passes without a fault
	built     map[string]bool  // packages whose sound binary is built
}

func newBench(root, dir string) *bench {
	return &bench{root: root, dir: dir, sound: map[string]error{}, built: map[string]bool{}}
}

var (
	errSurvived = errors.New("NOT FOUND: the test passes with the fault")
	errNoTest   = errors.New("NO TEST of that name ran")
)

// try returns how the fault was found. An error reports that it was not, or that
// nothing was shown.
func (b *bench) try(ctx context.Context, r row) (string, error) {
	for _, run := range r.runs {
		if err := b.passes(ctx, run); err != nil {
			return "", err
		}
	}
	overlay, err := writeOverlay(b.root, b.dir, r.edits)
	if err != nil {
		return "", err
	}
	program := filepath.Join(b.dir, "faulty.test")
	if out, err := b.build(ctx, program, r.runs[0].pkg, "-overlay", overlay); err != nil {
		return "", fmt.Errorf("DOES NOT BUILD: %.400s", out)
	}
	for _, run := range r.runs {
		out, err := b.start(ctx, program, run, "BERTH_OVERLAY="+overlay)
		if err == nil {
			continue
		}
		if by, ok := foundBy(out, run.failure); ok {
			return by, nil
		}
		return "", fmt.Errorf("ENDED WITHOUT A VERDICT: %w: %s", err, out[max(0, len(out)-400):])
	}
	return "", errSurvived
}

// passes reports, once for each run, whether the test is there and passes
// without a fault.
func (b *bench) passes(ctx context.Context, r run) error {
	key := r.pkg + " " + r.test + " " + r.env
	err, known := b.sound[key]
	if !known {
		err = b.runSound(ctx, r)
		b.sound[key] = err
	}
	return err
}

func (b *bench) runSound(ctx context.Context, r run) error {
	program := filepath.Join(b.dir, strings.ReplaceAll(strings.Trim(r.pkg, "./"), "/", "-")+".test")
	if !b.built[r.pkg] {
		if out, err := b.build(ctx, program, r.pkg); err != nil {
			return fmt.Errorf("DOES NOT BUILD without the fault: %.400s", out)
		}
		b.built[r.pkg] = true
	}
	out, err := b.start(ctx, program, r)
	if err != nil {
		return fmt.Errorf("FAILS without the fault: %.400s", failed(out))
	}
	top, _, _ := strings.Cut(r.test, "/")
	if !bytes.Contains(out, []byte("--- PASS: "+top)) {
		return errNoTest // or it was skipped
	}
	return nil
}

// build makes a test binary. Vet and symbols do not change a verdict, so neither
// is waited for.
func (b *bench) build(ctx context.Context, program, pkg string, flags ...string) ([]byte, error) {
	args := append([]string{"test", "-c", "-vet=off", "-ldflags=-s -w", "-o", program}, flags...)
	cmd := exec.CommandContext(ctx, "go", append(args, pkg)...)
	cmd.Dir = b.root
	return cmd.CombinedOutput()
}

func (b *bench) start(ctx context.Context, program string, r run, env ...string) ([]byte, error) {
	pattern := "^" + strings.ReplaceAll(r.test, "/", "$/^") + "$"
	cmd := exec.CommandContext(ctx, program, "-test.run", pattern, "-test.v", "-test.count=1", "-test.failfast", "-test.timeout", limit)
	cmd.Dir = filepath.Join(b.root, r.pkg)
	if r.env != "" {
		env = append(env, r.env)
	}
	cmd.Env = append(os.Environ(), env...)
	return cmd.CombinedOutput()
}

// foundBy returns the test that failed, or how else the fault showed: by the time
// limit, a panic or a deadlock. A run that ended in another way, such as one that
// was killed, shows nothing.
func foundBy(out []byte, failure string) (string, bool) {
	for line := range strings.Lines(string(out)) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, failure):
			name, _, _ := strings.Cut(strings.TrimPrefix(line, "--- FAIL: "), " ")
			return name, true
		case strings.HasPrefix(line, "panic: test timed out"):
			return "the time limit", true
		case strings.HasPrefix(line, "panic:"):
			return "a panic", true
		case strings.HasPrefix(line, "fatal error: all goroutines are asleep"):
			return "a deadlock", true
		}
	}
	return "", false
}

// failed keeps of a test's output what failed and why.
func failed(out []byte) string {
	var kept []string
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, "FAIL") || strings.Contains(line, ".go:") || strings.HasPrefix(line, "panic") {
			kept = append(kept, strings.TrimSpace(line))
		}
	}
	return strings.Join(kept, "; ")
}
