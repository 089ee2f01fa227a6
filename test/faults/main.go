// Command faults shows that the tests find the bugs that internal/planted holds:
// for each it runs the test that is said to find it, which must pass without the
// bug and fail with it.
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"berth/internal/planted"
)

// limit is how long a test may take to find a bug; one that hangs has found it.
const limit = "5m"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "faults:", err)
		os.Exit(1)
	}
}

// run tries all faults, or those whose names hold one of the words given.
func run(ctx context.Context, words []string) error {
	root, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "berth").Output()
	if err != nil {
		return fmt.Errorf("find the module: %w", err)
	}
	dir, err := os.MkdirTemp("", "faults")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	b := &bench{root: strings.TrimSpace(string(root)), dir: dir, built: map[string]string{}, sound: map[string]error{}}
	if b.source, err = readSource(b.root); err != nil {
		return err
	}
	t := tabwriter.NewWriter(os.Stdout, 2, 4, 2, ' ', 0)
	fmt.Fprintf(t, "fault\tfound by\ttook\tverdict\n")
	tried, bad := 0, 0
	for _, p := range planted.All {
		if !wanted(p, words) {
			continue
		}
		tried++
		began := time.Now()
		verdict := "found"
		if err := b.try(ctx, p); err != nil {
			bad++
			verdict = err.Error()
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		fmt.Fprintf(t, "%s\t%s %s\t%.1fs\t%s\n", p.Fault, p.Package, p.Test, time.Since(began).Seconds(), verdict)
		_ = t.Flush()
	}
	for _, f := range b.source.rowless() {
		if wanted(planted.Plant{Fault: f}, words) {
			tried, bad = tried+1, bad+1
			fmt.Fprintf(t, "%s\t\t\tNO ROW: nobody says which test finds it\n", f)
		}
	}
	_ = t.Flush()
	fmt.Printf("%d of %d faults found\n", tried-bad, tried)
	if bad > 0 {
		return fmt.Errorf("%d faults are not shown to be found", bad)
	}
	return nil
}

func wanted(p planted.Plant, words []string) bool {
	for _, w := range words {
		if strings.Contains(string(p.Fault), w) {
			return true
		}
	}
	return len(words) == 0
}

// bench runs tests that were built with the tag planted, each package once.
type bench struct {
	root, dir string
	source    *source
	built     map[string]string // test binaries by package
	sound     map[string]error  // by package and test: whether it passes with no fault on
}

var (
	errSurvived = errors.New("SURVIVED: the test passes with the fault on")
	errNoTest   = errors.New("NO TEST of that name ran")
)

// try gives nil if the fault is found.
func (b *bench) try(ctx context.Context, p planted.Plant) error {
	if err := b.source.judge(b.root, p); err != nil {
		return err
	}
	program := b.built[p.Package]
	if program == "" {
		program = filepath.Join(b.dir, strings.ReplaceAll(strings.Trim(p.Package, "./"), "/", "-")+".test")
		build := exec.CommandContext(ctx, "go", "test", "-c", "-tags", "planted", "-o", program, p.Package)
		build.Dir = b.root
		if out, err := build.CombinedOutput(); err != nil {
			return fmt.Errorf("DOES NOT BUILD: %.300s", out)
		}
		b.built[p.Package] = program
	}
	pattern := "^" + strings.ReplaceAll(p.Test, "/", "$/^") + "$"
	key := p.Package + " " + p.Test
	err, known := b.sound[key]
	if !known {
		err = b.sane(ctx, program, p, pattern)
		b.sound[key] = err
	}
	if err != nil {
		return err
	}
	if _, err := b.in(ctx, program, p, pattern, string(p.Fault)); err == nil {
		return errSurvived
	}
	return nil
}

// sane says whether the test is there and passes with no fault on.
func (b *bench) sane(ctx context.Context, program string, p planted.Plant, pattern string) error {
	out, err := b.in(ctx, program, p, pattern, "")
	if err != nil {
		return fmt.Errorf("FAILS without the fault: %.300s", failure(out))
	}
	if !bytes.Contains(out, []byte("--- PASS: "+strings.Split(p.Test, "/")[0])) {
		return errNoTest // none of that name, or it was skipped
	}
	return nil
}

// failure leaves of a test's output what failed and why.
func failure(out []byte) string {
	var said []string
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, "FAIL") || strings.Contains(line, ".go:") || strings.HasPrefix(line, "panic") {
			said = append(said, strings.TrimSpace(line))
		}
	}
	return strings.Join(said, "; ")
}

func (b *bench) in(ctx context.Context, program string, p planted.Plant, pattern, fault string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, program, "-test.run", pattern, "-test.v", "-test.count=1", "-test.timeout", limit)
	cmd.Dir = filepath.Join(b.root, p.Package)
	cmd.Env = append(os.Environ(), "BERTH_PLANTED="+fault)
	return cmd.CombinedOutput()
}
