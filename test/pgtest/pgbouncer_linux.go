package pgtest

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// PgBouncer starts Debian's pgbouncer with the package's own defaults but for the pool mode
// (session, transaction), in front of a server, and returns the URL that leads through it.
func PgBouncer(tb testing.TB, s *Server, mode string) string {
	tb.Helper()
	bin := "/usr/sbin/pgbouncer" // PATH of users often lacks it
	if path, err := exec.LookPath("pgbouncer"); err == nil {
		bin = path
	}
	if _, err := os.Stat(bin); err != nil {
		refuse(tb, errors.New("no pgbouncer: install it with script/postgres.sh (as root: apt-get install -y --no-install-recommends pgbouncer)"))
	}
	dir, err := os.MkdirTemp(shortTemp(), "berth-pgb")
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = os.RemoveAll(dir) })
	config := fmt.Sprintf(`[databases]
postgres = host=%s port=%s user=berth
[pgbouncer]
listen_addr =
unix_socket_dir = %s
auth_type = any
pool_mode = %s
`, s.dir, port, dir, mode)
	file := filepath.Join(dir, "pgbouncer.ini")
	if err := os.WriteFile(file, []byte(config), 0o644); err != nil {
		tb.Fatal(err)
	}
	for _, path := range []string{dir, file} {
		if err := s.who.own(path); err != nil {
			tb.Fatal(err)
		}
	}
	cmd := exec.Command(bin, file)
	cmd.Dir, cmd.SysProcAttr = dir, s.who.process()
	cmd.SysProcAttr.Pdeathsig = 0 // it would end with the thread that started it
	said, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		tb.Fatal(err)
	}
	defer func() { _ = said.Close() }()
	cmd.Stdout, cmd.Stderr = said, said
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGQUIT)
		_ = cmd.Wait() // after a signal it reports that it failed, of course
	})
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(filepath.Join(dir, ".s.PGSQL.6432")); err == nil {
			break
		}
		if time.Now().After(end) {
			log, _ := os.ReadFile(said.Name())
			tb.Fatalf("pgbouncer does not listen:\n%s", log)
		}
	}
	q := url.Values{"host": {dir}, "port": {"6432"}, "user": {"berth"}, "sslmode": {"disable"}}
	return "postgres:///postgres?" + q.Encode()
}
