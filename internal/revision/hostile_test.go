package revision

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"berth/internal/kube/object"
	"berth/internal/store"
	"berth/internal/store/groupcommit"
)

// TestHostileRows plants what no program of ours writes into every column of
// every table, one at a time: a server starts, answers for the other cluster,
// names the bad one where it cannot be loaded, and never panics.
func TestHostileRows(t *testing.T) {
	url := sharedURL(t)
	r := openReplica(t, url, Options{})
	for _, name := range []string{"bad", "good"} {
		if _, _, err := r.Upload(t.Context(), name, reader(sample(t)...)); err != nil {
			t.Fatal(err)
		}
		if _, err := r.Change(t.Context(), name, 1, []object.Object{pod(t, "x", "n1")}, nil); err != nil {
			t.Fatal(err)
		}
		d := &store.Decision{
			ID: "decision-" + name, Cluster: name, Revision: 1, Verb: "decide", CreatedAt: r.now(), Now: r.now(), Outcome: "Scheduled",
			Failures: []store.Failure{{Plugin: "P", Reason: "r", Nodes: 1}}, Scores: []store.Score{{Rank: 1, Node: "n1"}}, Victims: []store.Victim{{Pod: "p"}},
		}
		if err := r.Record(t.Context(), d, &store.Profile{Digest: "sha256:" + name, Name: name, Payload: []byte("{}")}); err != nil {
			t.Fatal(err)
		}
	}
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	if _, err := conn.Exec(t.Context(), `SET synchronous_commit = off`); err != nil {
		t.Fatal(err)
	}
	rows, err := conn.Query(t.Context(), `SELECT table_name || '.' || column_name || '.' || data_type FROM information_schema.columns
WHERE table_schema = current_schema() AND table_name IN ('clusters', 'revisions', 'checkpoints', 'profiles', 'decisions') ORDER BY 1`)
	if err != nil {
		t.Fatal(err)
	}
	columns, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	values := map[string][]string{
		"text":                     {"NULL", "''", "repeat('{', 100000)", "'v999.0.0'"},
		"bigint":                   {"NULL", "0", "-1", "9223372036854775807", "3"},
		"integer":                  {"NULL", "0", "-1", "2147483647"},
		"bytea":                    {"NULL", "''", "convert_to(repeat('x', 100000), 'UTF8')", "'berth-checkpoint-9\n'", `'\x28b52ffd'`, "'{'"},
		"timestamp with time zone": {"NULL", "'infinity'", "'-infinity'", "'200000-01-01'"},
	}
	planted, refused, named := 0, 0, 0
	for i, c := range columns {
		table, column, kind := c[:strings.Index(c, ".")], "", ""
		column, kind, _ = strings.Cut(c[len(table)+1:], ".")
		if values[kind] == nil {
			t.Errorf("no bad values for a column of type %s", kind)
		}
		for k, value := range values[kind] {
			if (k-i)%len(values[kind]) != 0 && os.Getenv("BERTH_HOSTILE") == "" {
				continue // one of each column's turn, all of them in make linear
			}
			key, of := "cluster", "bad"
			if table == "profiles" {
				key = "name"
			}
			restore := keepBad(t, conn, table)
			if _, err := conn.Exec(t.Context(), fmt.Sprintf(`UPDATE %s SET %s = %s WHERE %s = '%s'`, table, column, value, key, of)); err != nil {
				refused++ // by the schema
				continue
			}
			planted++
			if askAll(t, r.st, fmt.Sprintf("%s.%s = %.40s", table, column, value)) {
				named++
			}
			restore()
		}
	}
	t.Logf("%d values planted, %d refused by the schema, %d times a cluster was named", planted, refused, named)
	if planted < 20 || named == 0 {
		t.Errorf("%d values planted, %d times a cluster was named", planted, named)
	}
}

// keepBad remembers the bad rows of a table, and of the rows that refer to it, and returns
// what puts them back.
func keepBad(t *testing.T, conn *pgx.Conn, table string) (restore func()) {
	t.Helper()
	run := func(query string) {
		if _, err := conn.Exec(t.Context(), query); err != nil {
			t.Fatalf("%s: %v", query, err)
		}
	}
	tables := []string{table}
	if table == "revisions" {
		tables = append(tables, "checkpoints")
	}
	key := "cluster"
	if table == "profiles" {
		key = "name"
	}
	for _, table := range tables {
		run("CREATE TEMP TABLE IF NOT EXISTS kept_" + table + " AS SELECT * FROM " + table + " WHERE " + key + " = 'bad'")
	}
	return func() {
		run("DELETE FROM " + table + " WHERE " + key + " <> 'good'")
		for _, table := range tables {
			run("INSERT INTO " + table + " SELECT * FROM kept_" + table)
		}
	}
}

// askAll starts the parts of a server anew and calls all of them. It reports whether the bad
// cluster was named.
func askAll(t *testing.T, st *watched, what string) (named bool) {
	t.Helper()
	ctx := t.Context()
	g := groupcommit.NewGroup(st, groupcommit.Options{})
	m, err := Open(ctx, st, g, Options{})
	if err != nil {
		t.Errorf("%s: start: %v", what, err)
		return false
	}
	r := &replica{m, st, g}
	defer func() { _, _ = r.Close(), g.Close(context.WithoutCancel(ctx)) }()
	if err := r.Warm(ctx); err != nil {
		t.Errorf("%s: warm: %v", what, err)
	}
	if err := r.poll(ctx); err != nil {
		t.Errorf("%s: poll: %v", what, err)
	}
	if _, err := r.Clusters(ctx, store.ClusterFilter{}); err != nil {
		t.Errorf("%s: clusters: %v", what, err)
	}
	v, err := r.View(ctx, "good", 0)
	if err != nil {
		t.Errorf("%s: the other cluster: %v", what, err)
		return false
	}
	if _, err := r.Change(ctx, "good", v.Revision, []object.Object{pod(t, "y", "n1")}, nil); err != nil {
		t.Errorf("%s: a change of the other cluster: %v", what, err)
	}
	if _, err := r.st.Decision(ctx, "decision-good"); err != nil {
		t.Errorf("%s: a decision on the other cluster: %v", what, err)
	}
	if _, err := r.st.ListDecisions(ctx, store.DecisionFilter{Limit: 10}); err != nil {
		t.Errorf("%s: decisions: %v", what, err)
	}
	// Calls about the bad one may fail, with an error.
	_, _ = r.st.Decision(ctx, "decision-bad")
	_, _ = r.st.Profile(ctx, "sha256:bad")
	_, _ = r.List(ctx, "bad", 0, 10)
	_, _ = r.View(ctx, "bad", 1)
	_, err = r.View(ctx, "bad", 0)
	damaged := r.Following().Damaged["bad"]
	if errors.Is(err, ErrCorrupt) != (damaged != nil) {
		t.Errorf("%s: %v, readiness says %v", what, err, damaged)
	}
	short, cancel := context.WithTimeout(ctx, 0)
	_, _ = r.Change(short, "bad", 0, []object.Object{pod(t, "y", "n1")}, nil)
	cancel()
	return damaged != nil
}
