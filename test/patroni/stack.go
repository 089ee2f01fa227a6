//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// stack is etcd with three nodes of Patroni.
type stack struct {
	dir   string
	who   *syscall.Credential // whom PostgreSQL runs as; nil: this user
	etcd  *process
	nodes []*node
}

// node is one Postgres with the Patroni that keeps it.
type node struct {
	name, dir    string
	port, api    int
	patroni      *process
	bin, config  string
	synchronized bool
}

// process is one that ends with this program.
type process struct {
	cmd   *exec.Cmd
	ended chan struct{}
}

// launch starts a program that writes to a log.
func launch(who *syscall.Credential, log, dir string, env []string, name string, args ...string) (*process, error) {
	out, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.Env = dir, out, out, append(os.Environ(), env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Credential: who, Pdeathsig: syscall.SIGKILL}
	p := &process{cmd: cmd, ended: make(chan struct{})}
	started := make(chan error)
	go func() {
		runtime.LockOSThread() // the process ends with the thread that started it
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait()
		}
		_ = out.Close()
		close(p.ended)
	}()
	return p, <-started
}

// end ends a process with a signal, and kills it where that takes long.
func (p *process) end(sig syscall.Signal) {
	if p == nil {
		return
	}
	_ = p.cmd.Process.Signal(sig)
	select {
	case <-p.ended:
	case <-time.After(20 * time.Second):
		_ = p.cmd.Process.Kill()
		<-p.ended
	}
}

// freePorts returns ports of 127.0.0.1 that nothing listens on.
func freePorts(n int) ([]int, error) {
	var ports []int
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer func() { _ = l.Close() }()
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
	}
	return ports, nil
}

// binaries returns the newest folder of PostgreSQL's programs.
func binaries() (string, error) {
	dirs, _ := filepath.Glob("/usr/lib/postgresql/*/bin") // the pattern is sound
	if len(dirs) == 0 {
		return "", errors.New("no PostgreSQL in /usr/lib/postgresql: run script/patroni.sh")
	}
	version := func(dir string) int { n, _ := strconv.Atoi(filepath.Base(filepath.Dir(dir))); return n }
	return slices.MaxFunc(dirs, func(a, b string) int { return version(a) - version(b) }), nil
}

// start starts the stack, and waits until it has a leader and two standbys.
func start(ctx context.Context, dir string, synchronous bool) (s *stack, err error) {
	s = &stack{dir: dir}
	defer func() {
		if err != nil {
			s.stop()
		}
	}()
	bin, err := binaries()
	if err != nil {
		return nil, err
	}
	uid, gid := os.Getuid(), os.Getgid()
	if uid == 0 {
		u, err := user.Lookup("postgres")
		if err != nil {
			return nil, err
		}
		uid, _ = strconv.Atoi(u.Uid)
		gid, _ = strconv.Atoi(u.Gid)
		s.who = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)} //nolint:gosec // ids of the system
	}
	ports, err := freePorts(8)
	if err != nil {
		return nil, err
	}
	at := func(port int) string { return fmt.Sprintf("http://127.0.0.1:%d", port) }
	s.etcd, err = launch(nil, filepath.Join(dir, "etcd.log"), dir, nil, "etcd", "--data-dir", filepath.Join(dir, "etcd"),
		"--listen-client-urls", at(ports[6]), "--advertise-client-urls", at(ports[6]),
		"--listen-peer-urls", at(ports[7]), "--initial-advertise-peer-urls", at(ports[7]), "--initial-cluster", "default="+at(ports[7]))
	if err != nil {
		return nil, err
	}
	if err := until(ctx, 20*time.Second, "etcd answers", func() bool { return reachable(at(ports[6]) + "/health") }); err != nil {
		return nil, err
	}
	for i := range 3 {
		n := &node{name: fmt.Sprint("n", i+1), port: ports[2*i], api: ports[2*i+1], bin: bin, synchronized: synchronous}
		n.dir = filepath.Join(dir, n.name)
		n.config = filepath.Join(n.dir, "patroni.yml")
		if err := errors.Join(os.Mkdir(n.dir, 0o700), os.WriteFile(n.config, []byte(n.settings(ports[6])), 0o600)); err != nil {
			return nil, err
		}
		for _, path := range []string{n.dir, n.config} {
			if err := os.Chown(path, uid, gid); err != nil {
				return nil, err
			}
		}
		s.nodes = append(s.nodes, n)
		if err := s.watch(n); err != nil {
			return nil, err
		}
		if i == 0 {
			err = until(ctx, time.Minute, "the first node leads", func() bool { return s.leader() != nil })
		}
		if err != nil {
			return nil, err
		}
	}
	return s, until(ctx, time.Minute, "two standbys follow", func() bool { return s.following(2, synchronous) })
}

// settings is a node's configuration of Patroni.
func (n *node) settings(etcd int) string {
	return fmt.Sprintf(`scope: berth
name: %[1]s
restapi: {listen: "127.0.0.1:%[2]d", connect_address: "127.0.0.1:%[2]d"}
etcd3: {host: "127.0.0.1:%[3]d"}
bootstrap:
  dcs:
    ttl: 20
    loop_wait: 1
    retry_timeout: 3
    maximum_lag_on_failover: 1073741824
    synchronous_mode: %[4]v
    synchronous_mode_strict: %[4]v
    postgresql:
      use_pg_rewind: true
      parameters: {max_connections: 60, shared_buffers: 16MB, wal_keep_size: 256MB, wal_log_hints: "on"}
  initdb: [{encoding: UTF8}, {locale: C}, {auth: trust}]
  pg_hba: ["local all all trust", "host all all 127.0.0.1/32 trust", "host replication all 127.0.0.1/32 trust"]
postgresql:
  listen: "127.0.0.1:%[5]d"
  connect_address: "127.0.0.1:%[5]d"
  data_dir: %[6]s/data
  bin_dir: %[7]s
  pgpass: %[6]s/pgpass
  authentication:
    superuser: {username: postgres, password: postgres}
    replication: {username: replicator, password: replicator}
  parameters: {unix_socket_directories: %[6]s}
`, n.name, n.api, etcd, n.synchronized, n.port, n.dir, n.bin)
}

// watch starts a node's Patroni, which starts its Postgres.
func (s *stack) watch(n *node) (err error) {
	n.patroni, err = launch(s.who, filepath.Join(s.dir, n.name+".log"), n.dir, []string{"HOME=" + n.dir}, "/usr/bin/python3", "/usr/bin/patroni", n.config)
	return err
}

// stop ends everything.
func (s *stack) stop() {
	for _, n := range s.nodes {
		if n.patroni != nil {
			_ = n.patroni.cmd.Process.Signal(syscall.SIGCONT)
			n.patroni.end(syscall.SIGKILL)
		}
		n.kill(syscall.SIGQUIT)
	}
	s.etcd.end(syscall.SIGTERM)
}

// pid is the main process of a node's Postgres, 0 without one.
func (n *node) pid() int {
	b, err := os.ReadFile(filepath.Join(n.dir, "data", "postmaster.pid"))
	if err != nil {
		return 0
	}
	pid, _ := strconv.Atoi(strings.SplitN(string(b), "\n", 2)[0])
	if pid == 0 || syscall.Kill(pid, 0) != nil {
		return 0
	}
	return pid
}

// kill ends a node's Postgres with a signal, and waits for its end.
func (n *node) kill(sig syscall.Signal) {
	pid := n.pid()
	if pid == 0 {
		return
	}
	// One that is killed leaves its children, which see that it is gone.
	_ = syscall.Kill(pid, sig)
	for range 200 {
		if syscall.Kill(pid, 0) != nil {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// member is what Patroni says of a node.
type member struct {
	Name, Role, State string
	Timeline          any
}

// members asks any Patroni that answers.
func (s *stack) members() []member {
	for _, n := range s.nodes {
		var c struct{ Members []member }
		resp, err := client.Get(fmt.Sprintf("http://127.0.0.1:%d/cluster", n.api))
		if err != nil {
			continue
		}
		err = json.NewDecoder(resp.Body).Decode(&c)
		if resp.Body.Close(); err == nil {
			return c.Members
		}
	}
	return nil
}

// leader is the node that Patroni has lead, nil without one.
func (s *stack) leader() *node {
	for _, m := range s.members() {
		if m.Role == "leader" && m.State == "running" {
			return s.node(m.Name)
		}
	}
	return nil
}

func (s *stack) node(name string) *node {
	i := slices.IndexFunc(s.nodes, func(n *node) bool { return n.name == name })
	if i < 0 {
		return nil
	}
	return s.nodes[i]
}

// following reports whether so many standbys get their leader's log.
func (s *stack) following(want int, synchronous bool) bool {
	n := s.leader()
	if n == nil {
		return false
	}
	var streams, syncs int
	err := n.query("postgres", `SELECT count(*), count(*) FILTER (WHERE sync_state IN ('sync', 'quorum')) FROM pg_stat_replication WHERE state = 'streaming'`, &streams, &syncs)
	return err == nil && streams >= want && (!synchronous || syncs > 0)
}

// query reads one row of a node.
func (n *node) query(database, query string, into ...any) error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, n.url(database))
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }()
	if len(into) == 0 {
		_, err = conn.Exec(ctx, query)
		return err
	}
	return conn.QueryRow(ctx, query).Scan(into...)
}

func (n *node) url(database string) string {
	return fmt.Sprintf("postgres://postgres:postgres@127.0.0.1:%d/%s?sslmode=disable", n.port, database)
}

// urlOf names all nodes, in an order.
func urlOf(nodes []*node) string {
	hosts := make([]string, len(nodes))
	for i, n := range nodes {
		hosts[i] = fmt.Sprintf("127.0.0.1:%d", n.port)
	}
	return "postgres://postgres:postgres@" + strings.Join(hosts, ",") + "/berth?sslmode=disable&target_session_attrs=read-write"
}

var client = &http.Client{Timeout: 10 * time.Second}

func reachable(url string) bool {
	resp, err := client.Get(url)
	if err != nil {
		return false
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	_ = resp.Body.Close()
	return resp.StatusCode == http.StatusOK
}

// switchOver has Patroni change the leader in order.
func (s *stack) switchOver(from *node) error {
	body, _ := json.Marshal(map[string]string{"leader": from.name}) // plain text
	c := &http.Client{Timeout: time.Minute}
	resp, err := c.Post(fmt.Sprintf("http://127.0.0.1:%d/switchover", from.api), "application/json", bytes.NewReader(body))
	if err != nil {
		return err
	}
	said, err := io.ReadAll(resp.Body)
	if err = errors.Join(err, resp.Body.Close()); err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("switchover: %s: %s", resp.Status, said)
	}
	return err
}

// until waits for what has to become true.
func until(ctx context.Context, limit time.Duration, what string, is func() bool) error {
	for end := time.Now().Add(limit); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if is() {
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return fmt.Errorf("%s: not within %v", what, limit)
}
