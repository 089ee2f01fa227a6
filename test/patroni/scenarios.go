//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// scenario is what happens to the database while clients call.
type scenario struct {
	name        string
	synchronous bool
	// loses is whether answers may be missing in the end; then some have to be, or the scenario
	// shows nothing.
	loses bool
	// refuses is whether an old primary takes writes, which servers have to refuse.
	refuses bool
	do      func(ctx context.Context, t *trial) error
}

var scenarios = []scenario{
	{name: "switchover", do: planned},
	{name: "switchover sync", synchronous: true, do: planned},
	{name: "failover sync", synchronous: true, do: killed},
	{name: "failover async", loses: true, do: lagging},
	{name: "unfenced", loses: true, refuses: true, do: unfenced},
}

// planned has Patroni change the leader in order.
func planned(ctx context.Context, t *trial) error {
	return t.stack.switchOver(t.stack.leader())
}

// killed kills the leader with its Patroni.
func killed(_ context.Context, t *trial) error {
	n := t.stack.leader()
	t.gone = n
	n.patroni.end(syscall.SIGKILL)
	n.kill(syscall.SIGKILL)
	return nil
}

// lagging kills the leader after its standbys have got nothing of its log for a while.
func lagging(ctx context.Context, t *trial) error {
	n := t.stack.leader()
	var receivers []int
	for _, s := range t.stack.nodes {
		if s == n {
			continue
		}
		var pid int
		if err := s.query("postgres", `SELECT pid FROM pg_stat_wal_receiver`, &pid); err != nil {
			return err
		}
		receivers = append(receivers, pid)
		if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
			return err
		}
	}
	err := pause(ctx, 3*time.Second)
	err = errors.Join(err, killed(ctx, t))
	for _, pid := range receivers { // they end without a look at what waits for them
		err = errors.Join(err, syscall.Kill(pid, syscall.SIGTERM), syscall.Kill(pid, syscall.SIGCONT))
	}
	return err
}

// unfenced kills the leader's Patroni alone: its Postgres goes on beside the one that is promoted.
// When it has ended, and servers have met the new one, it is started once more.
func unfenced(ctx context.Context, t *trial) error {
	old := t.stack.leader()
	t.gone = old
	old.patroni.end(syscall.SIGKILL)
	err := until(ctx, time.Minute, "another node leads", func() bool {
		n := t.stack.leader()
		return n != nil && n != old
	})
	if err != nil {
		return err
	}
	if err := pause(ctx, 3*time.Second); err != nil { // both take writes
		return err
	}
	if old.pid() == 0 {
		return errors.New("the old primary has ended by itself: it was fenced")
	}
	old.kill(syscall.SIGKILL)
	moved := time.Now()
	if err := until(ctx, time.Minute, "both servers answer on the new primary", func() bool { return t.load.since(moved.Add(time.Second)) }); err != nil {
		return err
	}
	for _, s := range t.servers {
		if err := until(ctx, time.Minute, "the spool is handed over", s.drained); err != nil {
			return err
		}
	}
	if err := t.stack.alone(old); err != nil {
		return err
	}
	cut := time.Now()
	if err := t.stack.leader().query("berth", `SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name = 'berth'`); err != nil {
		return err
	}
	if err := until(ctx, time.Minute, "both servers answer beside an old primary", func() bool { return t.load.since(cut.Add(2 * time.Second)) }); err != nil {
		return err
	}
	var n int
	if err := old.query("berth", `SELECT count(*) FROM decisions WHERE created_at > '`+cut.UTC().Format(time.RFC3339Nano)+`'`, &n); err != nil {
		return err
	}
	if n > 0 {
		return fmt.Errorf("%d decisions went to the old primary", n)
	}
	return nil
}

// alone starts a node's Postgres without Patroni, as a primary.
func (s *stack) alone(n *node) error {
	_ = os.Remove(filepath.Join(n.dir, "data", "postmaster.pid"))
	p, err := launch(s.who, filepath.Join(s.dir, n.name+"-alone.log"), n.dir, nil, filepath.Join(n.bin, "postgres"), "-D", filepath.Join(n.dir, "data"),
		"-p", strconv.Itoa(n.port), "-c", "synchronous_standby_names=")
	if err != nil {
		return err
	}
	n.patroni = p // ends with the stack
	return until(context.Background(), 30*time.Second, "the old primary takes writes", func() bool {
		var standby bool
		return n.query("postgres", `SELECT pg_is_in_recovery()`, &standby) == nil && !standby
	})
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// trial is one scenario under way.
type trial struct {
	scenario
	program, dir string
	clients      int

	stack   *stack
	servers []*berth
	load    *load
	gone    *node // ended, and not to be asked
	result  result
}

// run tries a scenario, and checks every answer.
func (t *trial) run(ctx context.Context) (err error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	t.dir = strings.ReplaceAll(t.dir, " ", "-")
	if err := os.Mkdir(t.dir, 0o755); err != nil { //nolint:gosec // PostgreSQL runs as another user
		return err
	}
	if t.stack, err = start(ctx, t.dir, t.synchronous); err != nil {
		return err
	}
	defer t.stack.stop()
	// The first leader stands first, and so does an old primary.
	url := urlOf(t.stack.nodes)
	if err := migrate(ctx, t.program, t.stack.leader(), url); err != nil {
		return err
	}
	for i := range 2 {
		s, err := serve(ctx, t.program, filepath.Join(t.dir, fmt.Sprint("berth", i+1)), url)
		if err != nil {
			return err
		}
		t.servers = append(t.servers, s)
		defer s.p.end(syscall.SIGTERM)
	}
	if err := upload(t.servers[0]); err != nil {
		return err
	}
	t.load = startLoad(ctx, t.servers, t.clients)
	defer t.load.end()
	if err := pause(ctx, 4*time.Second); err != nil {
		return err
	}
	if !t.load.since(time.Now().Add(-2 * time.Second)) {
		return errors.New("no load before the failover")
	}
	before := t.stack.leader()
	if err := t.do(ctx, t); err != nil {
		return err
	}
	err = until(ctx, 90*time.Second, "another node leads", func() bool {
		n := t.stack.leader()
		return n != nil && n != before
	})
	if err != nil {
		return err
	}
	over := time.Now()
	if err := until(ctx, time.Minute, "both servers answer", func() bool { return t.load.since(over.Add(2 * time.Second)) }); err != nil {
		return err
	}
	t.load.end()
	for _, s := range t.servers {
		if err := until(ctx, time.Minute, "the spool is handed over", s.drained); err != nil {
			return err
		}
	}
	return t.check(ctx)
}

// verify runs the check of the hash chain on the leader.
func (t *trial) verify(ctx context.Context, leader *node) error {
	cmd := exec.CommandContext(ctx, t.program, "audit", "verify")
	cmd.Env = append(os.Environ(), "DATABASE_URL="+leader.url("berth"))
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "GOOD") {
		return fmt.Errorf("audit verify: %w\n%s", err, out)
	}
	return nil
}
