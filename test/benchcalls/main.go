// Command benchcalls compares two commits by the calls that users make, from socket to socket: the
// CPU that the process spends on a call and the call's median time. Both programs are built, filled
// with the same clusters and asked in turns, so that a ratio is one of the same minutes. It is the
// benchmark that decides whether a trick for speed is kept (CONTRIBUTING.md).
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

type options struct {
	base   string        // the commit that is compared with
	sizes  []int         // nodes of the large clusters
	pairs  int           // measurements of each side
	length time.Duration // of a measurement
	only   string        // part of the rows' names
	least  float64       // the smallest ratio of a row that is no failure
	list   bool
}

func main() {
	var o options
	sizes := flag.String("nodes", "1500,5000", "sizes of the large clusters, which have 30 pods a node")
	flag.StringVar(&o.base, "base", "HEAD~1", "the commit to compare with")
	flag.IntVar(&o.pairs, "pairs", 11, "pairs of measurements of a row, the two sides in turns")
	flag.DurationVar(&o.length, "for", time.Second, "how long a measurement calls; it makes one call at least")
	flag.StringVar(&o.only, "only", "", "only rows whose name has this in it")
	flag.Float64Var(&o.least, "least", 0.8, "fail if a row is below this share of before")
	flag.BoolVar(&o.list, "list", false, "list the rows and end")
	flag.Parse()
	for text := range strings.SplitSeq(*sizes, ",") {
		n, err := strconv.Atoi(text)
		if err != nil || n < 3 {
			fmt.Fprintf(os.Stderr, "benchcalls: -nodes: %q is not a number of 3 or more\n", text)
			os.Exit(2)
		}
		o.sizes = append(o.sizes, n)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, o)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "benchcalls:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options) (err error) {
	chosen := rows(o.sizes)
	if o.list {
		for _, r := range chosen {
			fmt.Println(r.title())
		}
		return nil
	}
	dir, err := os.MkdirTemp("", "berth-benchcalls-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	old, err := build(ctx, dir, o.base)
	if err != nil {
		return err
	}
	now, err := build(ctx, dir, "")
	if err != nil {
		return err
	}
	fmt.Printf("%s beside %s, %d pairs of %s a row; a ratio over 1 is faster or cheaper than before\n", now.commit, old.commit, o.pairs, o.length)
	fmt.Printf("%-44s %10s %10s %6s %10s %10s %6s\n", "call", "p50 before", "now", "ratio", "CPU before", "now", "ratio")
	var logs float64
	var n int
	var failed []string
	for _, r := range chosen {
		if o.only != "" && !strings.Contains(r.title(), o.only) {
			continue
		}
		f, err := compare(ctx, o, dir, r, old, now)
		if errors.Is(err, errNoAnswer) {
			fmt.Printf("%-44s %v\n", r.title(), err)
			continue
		}
		if err != nil {
			return fmt.Errorf("%s: %w", r.title(), err)
		}
		fmt.Println(f.line(r))
		logs, n = logs+math.Log(f.worse()), n+1
		if f.worse() < o.least {
			failed = append(failed, r.title())
		}
	}
	if n > 0 {
		fmt.Printf("geometric mean of %d rows, each by its worse ratio: %.3f\n", n, math.Exp(logs/float64(n)))
	}
	if len(failed) > 0 {
		return fmt.Errorf("below %.2f of before: %s", o.least, strings.Join(failed, "; "))
	}
	return nil
}

// programs are the two binaries of a commit.
type programs struct{ commit, server, berth string }

// build builds a commit's programs in a worktree of its own; "" is the tree as it is.
func build(ctx context.Context, dir, commit string) (*programs, error) {
	p, tree := &programs{commit: "this tree"}, "."
	if commit != "" {
		out, err := command(ctx, ".", "git", "rev-parse", "--short", "--verify", commit+"^{commit}")
		if err != nil {
			return nil, err
		}
		p.commit, tree = strings.TrimSpace(out), filepath.Join(dir, "tree")
		if _, err := command(ctx, ".", "git", "worktree", "add", "--detach", tree, p.commit); err != nil {
			return nil, err
		}
		defer func() { _, _ = command(context.WithoutCancel(ctx), ".", "git", "worktree", "remove", "--force", tree) }()
	}
	name := strings.ReplaceAll(p.commit, " ", "-")
	for path, into := range map[string]*string{"server": &p.server, "berth": &p.berth} {
		*into = filepath.Join(dir, path+"-"+name)
		if _, err := command(ctx, tree, "go", "build", "-o", *into, "./cmd/"+path); err != nil {
			return nil, err
		}
	}
	return p, nil
}

func command(ctx context.Context, dir, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	var message strings.Builder
	cmd.Stderr = &message
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, strings.TrimSpace(message.String()))
	}
	return string(out), nil
}
