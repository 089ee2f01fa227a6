//go:build linux

// Command patroni tries what berth notices of failovers of PostgreSQL, with Patroni and etcd as
// Debian packages them: three Postgres, two servers of berth over all of them, and clients that
// note every answer. Where the standby is synchronous nothing may be missing in the end; elsewhere
// all that is missing has to be named, and no number may be given out twice. All of it listens on
// 127.0.0.1 alone, and ends with the program.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// limit bounds a scenario from its start to its check.
const limit = 4 * time.Minute

func main() {
	only := flag.String("only", "", "scenarios whose name has this text; all without")
	clients := flag.Int("clients", 8, "clients, half of them at each server")
	keep := flag.Bool("keep", false, "keep the directory with logs")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *only, *clients, *keep); err != nil {
		fmt.Fprintln(os.Stderr, "patroni:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, only string, clients int, keep bool) error {
	dir, err := os.MkdirTemp("", "berth-patroni")
	if err != nil {
		return err
	}
	if keep {
		fmt.Println("logs are in", dir)
	} else {
		defer func() { _ = os.RemoveAll(dir) }()
	}
	if err := os.Chmod(dir, 0o755); err != nil { //nolint:gosec // PostgreSQL runs as another user
		return err
	}
	program := filepath.Join(dir, "server")
	if out, err := exec.CommandContext(ctx, "go", "build", "-o", program, "./cmd/server").CombinedOutput(); err != nil {
		return fmt.Errorf("build the server: %w\n%s", err, out)
	}
	fmt.Printf("%-20s %8s %8s %8s %8s %8s %7s  %s\n", "scenario", "answered", "missing", "named", "unnamed", "twice", "outage", "verdict")
	failed, tried := 0, 0
	for _, s := range scenarios {
		if !strings.Contains(s.name, only) {
			continue
		}
		tried++
		t := &trial{scenario: s, program: program, dir: filepath.Join(dir, s.name), clients: clients}
		err := t.run(ctx)
		r := t.result
		verdict := "ok"
		if err != nil {
			verdict = err.Error()
			failed++
		}
		fmt.Printf("%-20s %8d %8d %8d %8d %8d %6.1fs  %s\n", s.name, r.answered, r.missing, r.named, r.unnamed, r.twice, r.outage.Seconds(), verdict)
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	if tried == 0 {
		return fmt.Errorf("no scenario's name has %q", only)
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d scenarios failed", failed, tried)
	}
	return nil
}
