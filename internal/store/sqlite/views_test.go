package sqlite

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"berth/internal/store"
	"berth/test/storetest"
)

// TestViews runs queries that people need.
func TestViews(t *testing.T) {
	s := openAt(t, t.TempDir())
	storetest.Views(t, s, func(query string) []string { return ask(t, s, query) })
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
