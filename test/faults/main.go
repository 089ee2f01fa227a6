// Command faults shows that the tests find bugs. Each row of its tables is a
// change of a few lines that is put in by a build overlay, so that no file is
// changed, and the test that must fail with it and pass without it. faults has
// one named test for each row; with -vectors the rows are faults of the rules,
// and the recorded verdicts of kube-scheduler alone have to find them.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

type options struct {
	vectors, check, fix bool
	overlay             string
	words               []string
}

func main() {
	var o options
	flag.BoolVar(&o.vectors, "vectors", false, "try the faults of the rules that the golden vectors have to find")
	flag.BoolVar(&o.check, "check", false, "run nothing: name the rows that no longer fit the code, and where their text moved to")
	flag.BoolVar(&o.fix, "fix", false, "as -check, and correct the paths of what moved")
	flag.StringVar(&o.overlay, "overlay", "", "run nothing: write the overlay of the one fault that is named into this `folder`")
	flag.Parse()
	o.words = flag.Args()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := start(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "faults:", err)
		os.Exit(1)
	}
}

func start(ctx context.Context, o options) error {
	dir, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "berth").Output()
	if err != nil {
		return fmt.Errorf("find the module: %w", err)
	}
	root := strings.TrimSpace(string(dir))
	rows := faultRows()
	if o.vectors {
		rows = vectorRows()
	}
	switch {
	case o.check, o.fix:
		return checkAll(root, o.fix)
	case o.overlay != "":
		return printOverlay(root, o.overlay, rows, o.words)
	}
	return tryAll(ctx, root, rows, o.words)
}

func printOverlay(root, dir string, rows []row, words []string) error {
	for _, r := range rows {
		if len(words) == 1 && r.name == words[0] {
			path, err := writeOverlay(root, dir, r.edits)
			fmt.Println(path)
			return err
		}
	}
	return fmt.Errorf("no fault is named %q", strings.Join(words, " "))
}

// tryAll tries all rows, or those that hold one of the words.
func tryAll(ctx context.Context, root string, rows []row, words []string) error {
	dir, err := os.MkdirTemp("", "faults")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	var chosen []row
	for _, r := range rows {
		if r.wanted(words) {
			chosen = append(chosen, r)
		}
	}
	if len(chosen) == 0 {
		return errors.New("no fault holds any of these words")
	}
	b, bad := newBench(root, dir), 0
	for i, r := range chosen {
		began := time.Now()
		by, err := b.try(ctx, r)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		verdict := "found by " + by
		if err != nil {
			bad++
			verdict = err.Error()
		}
		fmt.Printf("%d/%d\t%s\t%s\t%.1fs\n", i+1, len(chosen), r.name, verdict, time.Since(began).Seconds())
	}
	fmt.Printf("%d of %d faults found\n", len(chosen)-bad, len(chosen))
	if bad > 0 {
		return fmt.Errorf("%d faults are not found", bad)
	}
	return nil
}
