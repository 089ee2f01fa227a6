package sqlite

import (
	"database/sql"
	"io/fs"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"berth/internal/store"
	"berth/migrations"
	"berth/test/storetest"

	"github.com/google/go-cmp/cmp"
)

// execRaw runs SQL on the file as another program would.
func execRaw(t *testing.T, dir, query string) {
	t.Helper()
	db := rawDB(t, dir)
	if _, err := db.ExecContext(t.Context(), query); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
}

func rawDB(t *testing.T, dir string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", dsn(filepath.Join(dir, FileName), Options{}.withDefaults(), writing))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

// schema lists what a database consists of.
func schema(t *testing.T, dir string) map[string]string {
	t.Helper()
	rows, err := rawDB(t, dir).QueryContext(t.Context(), `SELECT type || ' ' || name, coalesce(sql, '') FROM sqlite_schema WHERE tbl_name <> 'schema_migrations'`)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	all := map[string]string{}
	for rows.Next() {
		var name, text string
		if err := rows.Scan(&name, &text); err != nil {
			t.Fatal(err)
		}
		all[name] = text
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

func TestMigrateUpDownUp(t *testing.T) {
	dir := t.TempDir()
	status := func(want migrations.Status) {
		t.Helper()
		got, err := MigrateStatus(t.Context(), dir)
		if err != nil || got != want {
			t.Fatalf("status %+v, %v, want %+v", got, err, want)
		}
	}
	status(migrations.Status{Latest: newest(t)})
	if err := MigrateUp(t.Context(), dir); err != nil {
		t.Fatalf("up: %v", err)
	}
	status(migrations.Status{Schema: migrations.Schema{Version: newest(t)}, Latest: newest(t)})
	before := schema(t, dir)
	if err := MigrateTo(t.Context(), dir, 0); err != nil {
		t.Fatalf("down: %v", err)
	}
	status(migrations.Status{Latest: newest(t)})
	if left := schema(t, dir); len(left) != 0 {
		t.Errorf("down leaves %v", left)
	}
	if err := MigrateTo(t.Context(), dir, newest(t)); err != nil {
		t.Fatalf("up again: %v", err)
	}
	if diff := cmp.Diff(before, schema(t, dir)); diff != "" {
		t.Errorf("schema after up, down, up (-want +got):\n%s", diff)
	}
	if err := MigrateTo(t.Context(), dir, newest(t)+1); err == nil {
		t.Error("a version that is not there was reached")
	}
	if err := MigrateTo(t.Context(), dir, -1); err == nil {
		t.Error("version -1 was reached")
	}
}

func TestOpenKeepsData(t *testing.T) {
	dir := t.TempDir()
	for i, id := range []string{"0-a", "0-b", "0-c"} {
		s, err := Open(t.Context(), dir, Options{})
		if err != nil {
			t.Fatal(err)
		}
		d := sampleDecision("prod", id, fromMicro(int64(i)))
		d.Revision = 0
		if err := s.Append(t.Context(), []*store.Entry{{Decision: d}}); err != nil {
			t.Fatal(err)
		}
		all, err := s.ListDecisions(t.Context(), store.DecisionFilter{})
		if err != nil || len(all) != i+1 {
			t.Errorf("open %d: %d decisions, %v", i+1, len(all), err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// A kill between the library's two notes about a migration must not keep the
// server down: what took effect is known all the same.
func TestHalfNotedMigrationHeals(t *testing.T) {
	for name, prepare := range map[string]func(t *testing.T, dir string){
		"killed before it took effect": func(t *testing.T, dir string) {
			if err := MigrateUp(t.Context(), dir); err != nil {
				t.Fatal(err)
			}
			if err := MigrateTo(t.Context(), dir, 0); err != nil {
				t.Fatal(err)
			}
			execRaw(t, dir, "DELETE FROM schema_migrations; INSERT INTO schema_migrations VALUES (15, 1)")
		},
		"killed after it took effect": func(t *testing.T, dir string) {
			if err := MigrateUp(t.Context(), dir); err != nil {
				t.Fatal(err)
			}
			execRaw(t, dir, "UPDATE schema_migrations SET dirty = 1")
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			prepare(t, dir)
			s := openAt(t, dir)
			if err := s.Ping(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

// newest is the version that this program brings a schema to.
func newest(t *testing.T) int {
	t.Helper()
	n, err := migrations.SQLite.Newest()
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// versions lists the schema's versions that there are.
func versions(t *testing.T) (all []int) {
	t.Helper()
	files, err := fs.Glob(migrations.SQLite, "*.up.sql")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		n, err := strconv.Atoi(strings.SplitN(path.Base(f), "_", 2)[0])
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, n)
	}
	return all
}

// TestMigrationsKeepData goes down to every version and up again with records.
func TestMigrationsKeepData(t *testing.T) {
	dir := t.TempDir()
	storetest.RunMigrations(t, versions(t), storetest.Migrating{
		Open: func(t *testing.T) store.Store {
			s, err := Open(t.Context(), dir, Options{})
			if err != nil {
				t.Fatal(err)
			}
			return s
		},
		To: func(t *testing.T, version int) {
			if err := MigrateTo(t.Context(), dir, version); err != nil {
				t.Fatal(err)
			}
		},
		Latest: newest(t),
	})
}

// TestViewsAreMadeAgain: a view that is missing or another program's is put right by opening the
// store, and opening one whose views are right leaves the schema alone.
func TestViewsAreMadeAgain(t *testing.T) {
	dir := t.TempDir()
	cookie := func() (n int) {
		t.Helper()
		if err := rawDB(t, dir).QueryRowContext(t.Context(), "PRAGMA schema_version").Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	reopen := func() {
		t.Helper()
		s, err := Open(t.Context(), dir, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	reopen()
	before, written := schema(t, dir), cookie()
	reopen()
	if got := cookie(); got != written {
		t.Errorf("opening it again changed the schema: %d, then %d", written, got)
	}
	execRaw(t, dir, "DROP VIEW decision_log; CREATE VIEW decision_log AS SELECT 1 AS one; DROP VIEW pending_reasons")
	reopen()
	if diff := cmp.Diff(before, schema(t, dir)); diff != "" {
		t.Errorf("schema (-want +got):\n%s", diff)
	}
}
