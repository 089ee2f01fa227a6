package sqlite

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"berth/internal/store"
	"berth/migrations"
	"berth/test/storetest"
)

// TestViews runs queries that people need.
func TestViews(t *testing.T) {
	s := openAt(t, t.TempDir())
	storetest.Views(t, s, func(query string) []string { return ask(t, s, query) })
}

// TestAttemptViews asks those about attempts.
func TestAttemptViews(t *testing.T) {
	s := openAt(t, t.TempDir())
	storetest.AttemptViews(t, s, func(query string) []string { return ask(t, s, query) })
}

// TestFactViews reads that of pods.
func TestFactViews(t *testing.T) {
	s := openAt(t, t.TempDir())
	storetest.FactViews(t, s, func(query string) []string { return ask(t, s, query) })
}

// TestPreemptionViews asks those about preemption.
func TestPreemptionViews(t *testing.T) {
	s := openAt(t, t.TempDir())
	storetest.PreemptionViews(t, s, func(query string) []string { return ask(t, s, query) })
}

// TestCapacityView asks that of capacity.
func TestCapacityView(t *testing.T) {
	s := openAt(t, t.TempDir())
	storetest.CapacityView(t, s, func(query string) []string { return ask(t, s, query) })
}

// TestSimulationView asks that of jobs.
func TestSimulationView(t *testing.T) {
	s := openAt(t, t.TempDir())
	storetest.SimulationView(t, s, func(query string) []string { return ask(t, s, query) })
}

// TestHoursAndDays: hour_at and day_at are the beginnings of the texts, in microseconds.
func TestHoursAndDays(t *testing.T) {
	s := openAt(t, t.TempDir())
	storetest.Views(t, s, func(query string) []string { return ask(t, s, query) })
	for _, v := range []string{"pending_reasons", "top_rejecting_plugins", "decision_durations", "node_choices", "decision_shares"} {
		column := "hour"
		if v == "node_choices" || v == "decision_shares" {
			column = "day"
		}
		query := fmt.Sprintf(`SELECT count(*) > 0, min(strftime('%%s', %s) * 1000000 = %s_at) FROM %s`, column, column, v)
		if got := ask(t, s, query); got[0] != "1|1" {
			t.Errorf("%s: %s", v, got)
		}
	}
}

// TestEvidenceViews reads those of replays, refusals, seals, removals and tokens.
func TestEvidenceViews(t *testing.T) {
	s := openAt(t, t.TempDir())
	storetest.EvidenceViews(t, s, func(query string) []string { return ask(t, s, query) })
}

// TestListsUseTheirIndexes keeps the list from sorting or from reading the
// whole log.
func TestListsUseTheirIndexes(t *testing.T) {
	s := openAt(t, t.TempDir())
	before := store.DecisionFilter{Cluster: "prod", BeforeTime: time.Now(), BeforeID: "x", Limit: 10}
	tests := []struct {
		index string
		set   func(f *store.DecisionFilter)
	}{
		{"decisions_by_time", func(*store.DecisionFilter) {}},
		{"decisions_by_time", func(f *store.DecisionFilter) { f.Namespace, f.Outcome, f.Verb = "n", "o", "v" }},
		{"decisions_by_pod", func(f *store.DecisionFilter) { f.Namespace, f.Pod = "n", "p" }},
		{"decisions_by_node", func(f *store.DecisionFilter) { f.Node = "n" }},
	}
	for _, tt := range tests {
		f := before
		tt.set(&f)
		query, args := listSQL(f)
		plan := strings.Join(ask(t, s, "EXPLAIN QUERY PLAN "+query, args...), "\n")
		if !strings.Contains(plan, "INDEX "+tt.index+" ") || strings.Contains(strings.ReplaceAll(plan, "USE TEMP B-TREE FOR LAST TERM OF ORDER BY", ""), "TEMP B-TREE") {
			t.Errorf("%+v: plan\n%s\nwants %s and no sorting but of rows of one time", f, plan, tt.index)
		}
	}
	for index, query := range map[string]string{
		"decisions_by_revision":       sqlReferred,
		"decisions_by_bound_revision": sqlReferred,
		"decisions_by_id":             `SELECT 1 FROM decisions WHERE id = ?`,
	} {
		plan := strings.Join(ask(t, s, "EXPLAIN QUERY PLAN "+query, "a", 1), "\n")
		if !strings.Contains(plan, "INDEX "+index+" ") {
			t.Errorf("%s: plan\n%s\nwants %s", query, plan, index)
		}
	}
}

// ask returns the rows of a query, columns joined as the sqlite3 shell does.
func ask(t *testing.T, s *Store, query string, args ...any) []string {
	t.Helper()
	rows, err := s.reads.QueryContext(t.Context(), query, args[:min(len(args), strings.Count(query, "?"))]...)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer func() { _ = rows.Close() }()
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for rows.Next() {
		values, into := make([]any, len(columns)), make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		if err := rows.Scan(into...); err != nil {
			t.Fatal(err)
		}
		texts := make([]string, len(values))
		for i, v := range values {
			texts[i] = fmt.Sprint(v)
		}
		out = append(out, strings.Join(texts, "|"))
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestColumnDocs: the table column_docs has views.txt, also after a row of it was changed and after
// another release's texts.
func TestColumnDocs(t *testing.T) {
	dir := t.TempDir()
	docs, err := migrations.Documented()
	if err != nil {
		t.Fatal(err)
	}
	// Each change is made before the next round; the last one's is never looked at.
	for _, change := range []string{`UPDATE column_docs SET text = 'x' WHERE "column" = 'node'`, `DELETE FROM column_docs WHERE "column" = ''`, `SELECT 1`} {
		s := openAt(t, dir)
		rows := ask(t, s, `SELECT m.name, coalesce(c.name, ''), d.text FROM sqlite_schema m
LEFT JOIN (SELECT m.name AS view, c.name FROM sqlite_schema m JOIN pragma_table_info(m.name) c UNION ALL SELECT name, '' FROM sqlite_schema) c ON c.view = m.name
LEFT JOIN column_docs d ON d.view = m.name AND d."column" = c.name WHERE m.type = 'view'`)
		if len(rows) < 280 {
			t.Errorf("only %d columns", len(rows))
		}
		for _, row := range rows {
			cells := strings.SplitN(row, "|", 3)
			if want := docs.Text(cells[0], cells[1]); want == "" || want != cells[2] {
				t.Errorf("before %q, %s.%s: %q, want %q", change, cells[0], cells[1], cells[2], want)
			}
		}
		if faults, err := s.Schema(t.Context()); err != nil || len(faults) > 0 {
			t.Errorf("Schema = %v, %v", faults, err)
		}
		if plan := strings.Join(ask(t, s, `EXPLAIN QUERY PLAN SELECT * FROM decision_log WHERE request_id = 'r'`), "\n"); !strings.Contains(plan, "decisions_by_request") {
			t.Errorf("the index by request is not used:\n%s", plan)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		db, err := sql.Open("sqlite", filepath.Join(dir, "berth.db"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := db.ExecContext(t.Context(), change); err != nil {
			t.Fatal(err)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
