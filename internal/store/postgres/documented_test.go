package postgres

import (
	"database/sql"
	"strings"
	"testing"

	"berth/internal/queries"
	"berth/migrations"

	_ "modernc.org/sqlite" // whose views have to have the same columns
)

// TestComments: PostgreSQL has views.txt as its comments, and its views have the columns of
// SQLite's.
func TestComments(t *testing.T) {
	url := freshURL(t)
	s := openAt(t, url, Options{})
	conn, err := s.pool.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Release()
	docs, err := migrations.Documented()
	if err != nil {
		t.Fatal(err)
	}
	const query = `SELECT c.relname, coalesce(a.attname, ''), CASE WHEN a.attname IS NULL THEN obj_description(c.oid) ELSE col_description(c.oid, a.attnum) END, coalesce(a.atttypid::regtype::text, '')
FROM pg_class c LEFT JOIN LATERAL (SELECT NULL::name AS attname, 0::int2 AS attnum, NULL::oid AS atttypid
  UNION ALL SELECT attname, attnum, atttypid FROM pg_attribute WHERE attrelid = c.oid AND attnum > 0 AND NOT attisdropped) a ON true
WHERE c.relkind = 'v' AND c.relnamespace = current_schema()::regnamespace ORDER BY c.relname, a.attnum`
	columns := map[string][]string{}
	for _, row := range ask(t, conn.Conn(), query) {
		row, kind := row[:strings.LastIndex(row, "|")], row[strings.LastIndex(row, "|")+1:]
		cells := strings.SplitN(row, "|", 3)
		if is := kind == "timestamp with time zone"; cells[1] != "" && is != queries.IsTimeColumn(cells[1]) {
			t.Errorf("%s.%s is a %s: SQLite's is read as a time by its name", cells[0], cells[1], kind)
		}
		if want := docs.Text(cells[0], cells[1]); want == "" || want != cells[2] {
			t.Errorf("%s.%s: the comment is %q, want %q", cells[0], cells[1], cells[2], want)
		}
		if cells[1] != "" {
			columns[cells[0]] = append(columns[cells[0]], cells[1])
		}
	}
	script, err := migrations.SQLite.Script()
	if err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	db.SetMaxOpenConns(1)
	if _, err := db.ExecContext(t.Context(), script); err != nil {
		t.Fatal(err)
	}
	for _, v := range docs.Views {
		var want string
		if err := db.QueryRowContext(t.Context(), `SELECT group_concat(name, ' ') FROM (SELECT name FROM pragma_table_info(?) ORDER BY cid)`, v.Name).Scan(&want); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(columns[v.Name], " "); got != want {
			t.Errorf("%s has the columns\n%s\nand in SQLite\n%s", v.Name, got, want)
		}
	}
}

// TestRequestIndex: the way up builds the partitions' indexes by request before it needs them, and
// takes an unfinished one of a killed migration away.
func TestRequestIndex(t *testing.T) {
	url := freshURL(t)
	appendOne(t, openAt(t, url, Options{}), "one")
	if err := MigrateTo(t.Context(), url, migrations.Requests-1, MigrateOptions{}); err != nil {
		t.Fatal(err)
	}
	// What a kill leaves: an index that is not valid, of which no statement makes use.
	execRaw(t, url, `CREATE INDEX decisions_default_request_id_idx ON decisions_default (request_id) WHERE request_id IS NOT NULL`)
	execRaw(t, url, `UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'decisions_default_request_id_idx'::regclass`)
	if err := MigrateUp(t.Context(), url, MigrateOptions{}); err != nil {
		t.Fatal(err)
	}
	s := openAt(t, url, Options{})
	conn, err := s.pool.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Release()
	const query = `SELECT count(*), count(*) FILTER (WHERE p.relname || '_request_id_idx' = c.relname AND x.indisvalid)
FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid JOIN pg_index x ON x.indexrelid = c.oid JOIN pg_class p ON p.oid = x.indrelid
WHERE i.inhparent = 'decisions_by_request'::regclass`
	if got := ask(t, conn.Conn(), query); got[0] != "4|4" {
		t.Errorf("indexes of partitions, and those built before: %s, want 4|4", got)
	}
	plan := strings.Join(ask(t, conn.Conn(), `EXPLAIN SELECT * FROM decision_log WHERE request_id = 'r'`), "\n")
	if !strings.Contains(plan, "request_id_idx") {
		t.Errorf("the index is not used:\n%s", plan)
	}
	if faults, err := s.Schema(t.Context()); err != nil || len(faults) > 0 {
		t.Errorf("Schema = %v, %v", faults, err)
	}
}
