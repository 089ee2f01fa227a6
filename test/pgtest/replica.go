package pgtest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"
)

// Replica starts a standby that follows a server, asynchronously, for one test alone.
func Replica(tb testing.TB, of *Server) *Server {
	tb.Helper()
	dir, err := os.MkdirTemp(shortTemp(), "berth-pg")
	if err != nil {
		tb.Fatal(err)
	}
	s := &Server{dir: dir, bin: of.bin, who: of.who, options: Options{Settings: of.options.Settings}}
	if err := s.who.own(dir); err != nil {
		tb.Fatal(err)
	}
	cmd := exec.Command(filepath.Join(s.bin, "pg_basebackup"), "-h", of.dir, "-p", port, "-U", "berth", "-D", s.data(), "-R", "-c", "fast")
	cmd.Dir, cmd.SysProcAttr = s.dir, s.who.process()
	if out, err := cmd.CombinedOutput(); err != nil {
		tb.Fatalf("pg_basebackup: %v\n%s", err, out)
	}
	if err := s.Launch(); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := s.Stop(); err != nil {
			tb.Errorf("stop postgres: %v", err)
		}
	})
	wait(tb, s, "SELECT EXISTS (SELECT 1 FROM pg_stat_wal_receiver WHERE status = 'streaming')")
	return s
}

// Part has a standby receive no more of its primary's log, once it has all that is there now.
func (s *Server) Part(tb testing.TB, from *Server) {
	tb.Helper()
	conn, err := pgx.Connect(tb.Context(), from.URL())
	if err != nil {
		tb.Fatal(err)
	}
	var at string
	err = errors.Join(conn.QueryRow(tb.Context(), "SELECT pg_current_wal_lsn()::text").Scan(&at), conn.Close(tb.Context()))
	if err != nil {
		tb.Fatal(err)
	}
	wait(tb, s, "SELECT pg_last_wal_replay_lsn() >= '"+at+"'")
	run(tb, s.URL(), "ALTER SYSTEM SET primary_conninfo = ''")
	if err := s.Signal(syscall.SIGHUP); err != nil {
		tb.Fatal(err)
	}
	wait(tb, s, "SELECT NOT EXISTS (SELECT 1 FROM pg_stat_wal_receiver)")
}

// Promote has a standby take writes, on a timeline of its own.
func (s *Server) Promote(tb testing.TB) {
	tb.Helper()
	run(tb, s.URL(), "SELECT pg_promote()")
}

// wait waits until a query of one boolean is true.
func wait(tb testing.TB, s *Server, query string) {
	tb.Helper()
	run(tb, s.URL(), "DO $$ BEGIN FOR i IN 1..1000 LOOP EXIT WHEN ("+query+"); PERFORM pg_sleep(0.01), pg_stat_clear_snapshot(); END LOOP;"+
		" IF NOT ("+query+") THEN RAISE 'not so after ten seconds'; END IF; END $$")
}

// Halted ends a server that may have ended already.
func (s *Server) Halted(tb testing.TB) {
	tb.Helper()
	if err := s.Halt(syscall.SIGQUIT); err != nil && !errors.Is(err, os.ErrProcessDone) {
		tb.Fatal(err)
	}
}

// Either returns the address of whichever server takes writes, of those whose addresses are given.
func Either(servers ...*Server) string {
	var hosts, ports []string
	for _, s := range servers {
		hosts, ports = append(hosts, s.dir), append(ports, port)
	}
	return fmt.Sprintf("postgres:///postgres?host=%s&port=%s&user=berth&sslmode=disable&target_session_attrs=read-write",
		strings.Join(hosts, ","), strings.Join(ports, ","))
}

// Keep copies the data of a server that has ended. The returned function puts it back.
func (s *Server) Keep(tb testing.TB) (back func()) {
	tb.Helper()
	kept := s.data() + ".kept"
	if out, err := exec.Command("cp", "-a", s.data(), kept).CombinedOutput(); err != nil {
		tb.Fatalf("cp: %v\n%s", err, out)
	}
	return func() {
		if err := errors.Join(os.RemoveAll(s.data()), os.Rename(kept, s.data())); err != nil {
			tb.Fatal(err)
		}
	}
}
