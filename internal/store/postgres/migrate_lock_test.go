package postgres

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"berth/test/pgtest"

	"github.com/jackc/pgx/v5"
)

// TestForeignMigrationsStay: a table schema_migrations of another program keeps its row through
// every migration of ours, also where it stands at a version of ours, and where it is dirty.
func TestForeignMigrationsStay(t *testing.T) {
	for _, row := range []string{"27 false", "9 true", "15 false", "1 true"} {
		t.Run(row, func(t *testing.T) {
			url := pgtest.URL(t)
			execRaw(t, url, `CREATE TABLE schema_migrations (version bigint NOT NULL PRIMARY KEY, dirty boolean NOT NULL)`)
			execRaw(t, url, `INSERT INTO schema_migrations VALUES (`+strings.Replace(row, " ", ",", 1)+`)`)
			for _, version := range []int{newest(t), newest(t), newest(t) - 1, newest(t), 0, newest(t)} {
				if err := MigrateTo(t.Context(), url, version, MigrateOptions{}); err != nil {
					t.Fatalf("to %d: %v", version, err)
				}
				if got := queryRaw(t, url, `SELECT string_agg(version || ' ' || dirty, ',') FROM schema_migrations`); got != row {
					t.Fatalf("after version %d the other program's row is %q, want %q", version, got, row)
				}
			}
			if err := openAt(t, url, Options{}).Ping(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestNotesOfEarlierReleases: a schema whose versions were noted in the library's own table, as up
// to v0.3.0, goes on from the version that it has.
func TestNotesOfEarlierReleases(t *testing.T) {
	url := pgtest.URL(t)
	if err := MigrateTo(t.Context(), url, 15, MigrateOptions{}); err != nil {
		t.Fatal(err)
	}
	execRaw(t, url, `ALTER TABLE berth_migrations RENAME TO schema_migrations`)
	if err := MigrateUp(t.Context(), url, MigrateOptions{}); err != nil {
		t.Fatal(err)
	}
	st, err := MigrateStatus(t.Context(), url)
	if err != nil || st.Version != newest(t) {
		t.Errorf("status %+v, %v", st, err)
	}
	if err := MigrateTo(t.Context(), url, 0, MigrateOptions{}); err != nil {
		t.Error(err)
	}
}

// TestMigrateRefusesAPooler: through a pooler in transaction mode nothing is migrated, and no lock
// stays behind.
func TestMigrateRefusesAPooler(t *testing.T) {
	url := pgtest.URL(t)
	pooler := pgtest.Pooler(t, url)
	if err := MigrateUp(t.Context(), pooler, MigrateOptions{}); !errors.Is(err, ErrPooler) || !strings.Contains(err.Error(), "--direct-database-url") {
		t.Errorf("migrate up: %v", err)
	}
	st, err := MigrateStatus(t.Context(), pooler)
	if err != nil || st.Version != 0 {
		t.Errorf("status %+v, %v", st, err)
	}
	if n := queryRaw(t, url, `SELECT count(*)::text FROM pg_locks WHERE `+isLock(migrationLock)); n != "0" {
		t.Errorf("%s locks are left", n)
	}
	if err := MigrateUp(t.Context(), url, MigrateOptions{LockTimeout: 10 * time.Second}); err != nil {
		t.Errorf("directly: %v", err)
	}
}

// TestMigrateWaitsWithABound: a migration that waits says for whom, and gives up in time.
func TestMigrateWaitsWithABound(t *testing.T) {
	url := pgtest.With(freshURL(t), "application_name", "the other one")
	if err := MigrateTo(t.Context(), url, newest(t)-1, MigrateOptions{}); err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct{ held, says string }{
		"another migration":              {`SELECT pg_advisory_lock(` + migrationLock + `)`, `application "the other one"`},
		"the statements of a killed one": {`SELECT pg_advisory_lock_shared(` + statementsLock + `)`, `application "the other one"`},
		"a table in use":                 {`BEGIN; LOCK TABLE schema_version IN SHARE MODE`, "end its transaction"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			conn, err := pgx.Connect(t.Context(), url)
			if err != nil {
				t.Fatal(err)
			}
			defer hangUp(conn)
			if err := conn.PgConn().Exec(t.Context(), tt.held).Close(); err != nil {
				t.Fatal(err)
			}
			var lines []string
			o := MigrateOptions{LockTimeout: 300 * time.Millisecond, Waiting: func(line string) { lines = append(lines, line) }}
			err = MigrateUp(context.Background(), url, o)
			if !errors.Is(err, ErrLocked) || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("migrate: %v, want %v that says %q", err, ErrLocked, tt.says)
			}
			if name != "a table in use" && (len(lines) == 0 || !strings.Contains(lines[0], tt.says)) {
				t.Errorf("lines %q", lines)
			}
		})
	}
	if err := MigrateUp(t.Context(), url, MigrateOptions{}); err != nil {
		t.Error(err)
	}
}

// TestMigrateBesideServers: a migration that comes to wait for a server which waits for it steps
// back, and is tried again.
func TestMigrateBesideServers(t *testing.T) {
	url := freshURL(t)
	if err := MigrateTo(t.Context(), url, 15, MigrateOptions{}); err != nil {
		t.Fatal(err)
	}
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer hangUp(conn)
	execute := func(query string) {
		t.Helper()
		if _, err := conn.Exec(t.Context(), query); err != nil {
			t.Fatalf("%s: %v", query, err)
		}
	}
	execute(`BEGIN`)
	execute(`LOCK TABLE schema_version IN SHARE MODE`) // which the migration writes last
	done := make(chan error, 1)
	go func() { done <- MigrateTo(context.Background(), url, 16, MigrateOptions{}) }()
	for n := "0"; n == "0"; {
		n = queryRaw(t, url, `SELECT count(*)::text FROM pg_locks WHERE NOT granted AND relation = 'schema_version'::regclass`)
	}
	execute(`LOCK TABLE decisions IN ACCESS SHARE MODE`)
	execute(`COMMIT`)
	if err := <-done; err != nil {
		t.Error(err)
	}
}
