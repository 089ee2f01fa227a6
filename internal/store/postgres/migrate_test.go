package postgres

import (
	"io/fs"
	"path"
	"strconv"
	"strings"
	"sync"
	"testing"

	"berth/internal/store"
	"berth/migrations"
	"berth/test/pgtest"
	"berth/test/storetest"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
)

// schema lists what a schema consists of.
func schema(t *testing.T, url string) []string {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer hangUp(conn)
	const query = `SELECT 'column ' || c.relname || '.' || a.attname || ' ' || format_type(a.atttypid, a.atttypmod) || ' ' || a.attnotnull
FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p', 'v') AND c.relname <> 'berth_migrations'
UNION ALL
SELECT 'index ' || replace(pg_get_indexdef(indexrelid), current_schema(), '') FROM pg_index i JOIN pg_class c ON c.oid = indrelid
WHERE c.relnamespace = current_schema()::regnamespace AND c.relname <> 'berth_migrations'
UNION ALL
SELECT 'right ' || c.relname || ' ' || c.relacl::text FROM pg_class c WHERE c.relnamespace = current_schema()::regnamespace AND c.relacl IS NOT NULL
ORDER BY 1`
	rows, err := conn.Query(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	all, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestMigrateUpDownUp(t *testing.T) {
	url := pgtest.URL(t)
	status := func(want migrations.Status) {
		t.Helper()
		got, err := MigrateStatus(t.Context(), url)
		if err != nil || got != want {
			t.Fatalf("status %+v, %v, want %+v", got, err, want)
		}
	}
	status(migrations.Status{Latest: newest(t)})
	if err := MigrateUp(t.Context(), url, MigrateOptions{}); err != nil {
		t.Fatalf("up: %v", err)
	}
	status(migrations.Status{Schema: migrations.Schema{Version: newest(t), Serves: migrations.Serves(newest(t))}, Latest: newest(t)})
	before := schema(t, url)
	if len(before) < 100 {
		t.Errorf("schema of %d parts", len(before))
	}
	s := openAt(t, url, Options{}) // makes partitions, and leaves one detached
	appendOne(t, s, "d1")
	var name string
	for name = range map[string]bool{partitionNames(t, s)[0]: true} {
		execRaw(t, url, `ALTER TABLE decisions DETACH PARTITION `+name)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := MigrateTo(t.Context(), url, 0, MigrateOptions{}); err != nil {
		t.Fatalf("down: %v", err)
	}
	status(migrations.Status{Latest: newest(t)})
	if left := schema(t, url); len(left) != 0 {
		t.Errorf("down leaves %v", left)
	}
	if err := MigrateTo(t.Context(), url, newest(t), MigrateOptions{}); err != nil {
		t.Fatalf("up again: %v", err)
	}
	if diff := cmp.Diff(before, schema(t, url)); diff != "" {
		t.Errorf("schema after up, down, up (-want +got):\n%s", diff)
	}
	if err := MigrateTo(t.Context(), url, newest(t)+1, MigrateOptions{}); err == nil {
		t.Error("a version that is not there was reached")
	}
	if err := MigrateTo(t.Context(), url, -1, MigrateOptions{}); err == nil {
		t.Error("version -1 was reached")
	}
}

func TestMigrateUpKeepsData(t *testing.T) {
	url := freshURL(t)
	s := openAt(t, url, Options{})
	appendOne(t, s, "d1")
	if err := MigrateUp(t.Context(), url, MigrateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Decision(t.Context(), "d1"); err != nil {
		t.Error(err)
	}
}

// A kill between the library's two notes about a migration must not keep the
// server down: what took effect is known all the same.
func TestHalfNotedMigrationHeals(t *testing.T) {
	for name, query := range map[string]string{
		"killed before it took effect": "UPDATE berth_migrations SET version = 16, dirty = true",
		"killed after it took effect":  "UPDATE berth_migrations SET dirty = true",
	} {
		t.Run(name, func(t *testing.T) {
			url := freshURL(t)
			if name == "killed before it took effect" {
				if err := MigrateTo(t.Context(), url, 0, MigrateOptions{}); err != nil {
					t.Fatal(err)
				}
				execRaw(t, url, "CREATE TABLE berth_migrations (version bigint NOT NULL PRIMARY KEY, dirty boolean NOT NULL)")
				query = "INSERT INTO berth_migrations VALUES (15, true)"
			}
			execRaw(t, url, query)
			if err := MigrateUp(t.Context(), url, MigrateOptions{}); err != nil {
				t.Fatal(err)
			}
			if err := openAt(t, url, Options{}).Ping(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestReplicasMigrateAtOnce(t *testing.T) {
	url := pgtest.URL(t)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if err := MigrateUp(t.Context(), url, MigrateOptions{}); err != nil {
				t.Errorf("MigrateUp: %v", err)
			}
		})
	}
	wg.Wait()
	if err := openAt(t, url, Options{}).Ping(t.Context()); err != nil {
		t.Error(err)
	}
}

// newest is the version that this program brings a schema to.
func newest(t *testing.T) int {
	t.Helper()
	n, err := migrations.Postgres.Newest()
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// versions lists the schema's versions that there are.
func versions(t *testing.T) (all []int) {
	t.Helper()
	files, err := fs.Glob(migrations.Postgres, "*.up.sql")
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

// TestMigrationsKeepData goes down to every version and up again with records,
// some of them in a month's partition and some in the default one.
func TestMigrationsKeepData(t *testing.T) {
	url := freshURL(t)
	storetest.RunMigrations(t, versions(t), storetest.Migrating{
		Open: func(t *testing.T) store.Store {
			s, err := Open(t.Context(), url, Options{})
			if err != nil {
				t.Fatal(err)
			}
			return s
		},
		To: func(t *testing.T, version int) {
			if err := MigrateTo(t.Context(), url, version, MigrateOptions{}); err != nil {
				t.Fatal(err)
			}
		},
		Latest: newest(t),
	})
}

// TestViewsAreMadeAgain: migrate up puts views in place without a new version, and leaves what an
// operator built on them.
func TestViewsAreMadeAgain(t *testing.T) {
	url := freshURL(t)
	before := schema(t, url)
	execRaw(t, url, `CREATE VIEW mine AS SELECT id FROM decision_log; DROP VIEW pending_reasons`)
	if err := MigrateUp(t.Context(), url, MigrateOptions{}); err != nil {
		t.Fatal(err)
	}
	execRaw(t, url, `SELECT id FROM mine; DROP VIEW mine`)
	if diff := cmp.Diff(before, schema(t, url)); diff != "" {
		t.Errorf("schema (-want +got):\n%s", diff)
	}
}
