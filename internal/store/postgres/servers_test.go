package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"berth/migrations"

	"github.com/jackc/pgx/v5"
)

// TestServersAreSeen: a way down waits for the servers that run, names them and gives up in time;
// one that stops in order is not waited for, and one that was killed for half a minute.
func TestServersAreSeen(t *testing.T) {
	url := freshURL(t)
	s := openAt(t, url, Options{Program: "v9.8.7"})
	var lines []string
	o := MigrateOptions{ServersTimeout: 300 * time.Millisecond, Waiting: func(line string) { lines = append(lines, line) }}
	down := func() error { return MigrateTo(t.Context(), url, newest(t)-1, o) }
	if err := down(); !errors.Is(err, ErrServing) || !strings.Contains(err.Error(), "v9.8.7") {
		t.Fatalf("down beside a server: %v", err)
	}
	if len(lines) == 0 || !strings.HasPrefix(lines[0], "waiting for servers to stop: v9.8.7 on ") {
		t.Errorf("lines %q", lines)
	}
	if st, err := MigrateStatus(t.Context(), url); err != nil || st.Version != newest(t) {
		t.Errorf("status %+v, %v", st, err)
	}
	if err := MigrateUp(t.Context(), url, o); err != nil {
		t.Errorf("up beside a server: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if n := queryRaw(t, url, `SELECT count(*)::text FROM servers`); n != "0" {
		t.Errorf("%s rows after the server stopped", n)
	}
	execRaw(t, url, `INSERT INTO servers VALUES ('killed', 'h', 'v1', 99, now(), now() - interval '29 seconds')`)
	if err := down(); !errors.Is(err, ErrServing) {
		t.Fatalf("down, 29 s after a server was killed: %v", err)
	}
	o.ServersTimeout = 5 * time.Second
	if err := down(); err != nil {
		t.Fatalf("down, 31 s after a server was killed: %v", err)
	}
}

// TestContractionsWait: a way up that takes away what a server still uses waits for it; any other
// does not.
func TestContractionsWait(t *testing.T) {
	url := freshURL(t)
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer hangUp(conn)
	next := newest(t) + 1
	oldest := migrations.Serves(next)
	o := MigrateOptions{ServersTimeout: time.Millisecond}.withDefaults()
	for _, knows := range []int{oldest - 1, oldest, next - 1} {
		execRaw(t, url, fmt.Sprintf(`DELETE FROM servers; INSERT INTO servers VALUES ('old', 'h', 'v1', %d, now(), now())`, knows))
		if err := o.unused(t.Context(), conn, next-1, next); errors.Is(err, ErrServing) != (knows < oldest) {
			t.Errorf("up beside a server that knows %d: %v", knows, err)
		}
	}
}

// TestServersAreRenewed: a row is renewed under its id, and those of servers long gone are cleaned.
func TestServersAreRenewed(t *testing.T) {
	url := freshURL(t)
	execRaw(t, url, `INSERT INTO servers VALUES ('gone', 'h', 'v1', 17, now() - interval '1 day', now() - interval '11 minutes'),
  ('late', 'h', 'v1', 17, now() - interval '1 day', now() - interval '9 minutes')`)
	s := openAt(t, url, Options{Program: "v9.8.7"})
	execRaw(t, url, `UPDATE servers SET seen = now() - interval '1 hour' WHERE program = 'v9.8.7'`)
	if err := s.renew(context.Background()); err != nil {
		t.Fatal(err)
	}
	const query = `SELECT string_agg(program || ' ' || (seen > now() - interval '5 seconds'), ', ' ORDER BY started) FROM servers`
	if got := queryRaw(t, url, query); got != "v1 false, v9.8.7 true" {
		t.Errorf("servers: %s", got)
	}
}

// TestNewerSchema: a program works with a newer schema that says so, and with no other.
func TestNewerSchema(t *testing.T) {
	for serves, works := range map[int]bool{newest(t): true, migrations.Expanding: true, newest(t) + 1: false, 0: false} {
		url := freshURL(t)
		s := openAt(t, url, Options{})
		execRaw(t, url, fmt.Sprintf(`UPDATE schema_version SET version = %d, serves = %d`, newest(t)+1, serves))
		if err := s.Ping(t.Context()); (err == nil) != works || !works && !errors.Is(err, ErrChanged) {
			t.Errorf("serves %d: Ping: %v", serves, err)
		}
		again, err := Open(t.Context(), url, Options{})
		if (err == nil) != works || !works && !errors.Is(err, ErrSchema) {
			t.Errorf("serves %d: Open: %v", serves, err)
		}
		if err == nil {
			_ = again.Close()
		}
		if err := MigrateUp(t.Context(), url, MigrateOptions{}); (err == nil) != works {
			t.Errorf("serves %d: migrate up: %v", serves, err)
		}
		if got, want := queryRaw(t, url, `SELECT version::text FROM schema_version`), fmt.Sprint(newest(t)+1); got != want {
			t.Errorf("serves %d: version %s, want %s", serves, got, want)
		}
	}
}
