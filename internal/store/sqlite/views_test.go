package sqlite

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"berth/internal/store"

	"github.com/google/go-cmp/cmp"
)

// TestViews asks the views what people ask.
func TestViews(t *testing.T) {
	dir := t.TempDir()
	s := openAt(t, dir)
	start := time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC)
	placed := &store.Decision{
		ID: "d1", Cluster: "prod", Verb: "decide", CreatedAt: start, Namespace: "shop", Pod: "cart",
		Outcome: "Scheduled", Node: "n1", NodesTotal: 5, NodesFeasible: 3, DurationMicros: 1500,
		Failures: []store.Failure{{Plugin: "TaintToleration", Code: "Unschedulable", Reason: "untolerated", Nodes: 2, Names: []string{"n4", "n5"}}},
		Scores: []store.Score{
			{Rank: 1, Node: "n1", Total: 612, Plugins: []byte(`[{"plugin":"NodeAffinity","raw":3,"normalized":100,"weight":2,"weighted":200}]`)},
			{Rank: 2, Node: "n2", Total: 600},
		},
	}
	pending := &store.Decision{
		ID: "d2", Cluster: "prod", Verb: "decide", CreatedAt: start.Add(time.Hour), Namespace: "shop", Pod: "till",
		Outcome: "Unschedulable", NodesTotal: 5,
		Failures: []store.Failure{
			{Plugin: "TaintToleration", Code: "Unschedulable", Reason: "untolerated", Nodes: 1, Names: []string{"n5"}},
			{Plugin: "NodeResourcesFit", Code: "Unschedulable", Reason: "Insufficient cpu", Nodes: 4},
		},
		Victims: []store.Victim{{Namespace: "batch", Pod: "job", UID: "u", Priority: -1, Node: "n3"}},
	}
	retried := *pending
	retried.ID, retried.CreatedAt, retried.Victims = "d3", start.Add(time.Hour+time.Minute), nil
	first := &store.Entry{
		Revision: &store.Revision{
			Cluster: "prod", Number: 1, Token: "t", CreatedAt: start, Cause: "upload", Change: []byte("abc"), Summary: []byte("{}"),
		},
		Checkpoint: &store.Checkpoint{Cluster: "prod", Number: 1, Payload: []byte("state")},
	}
	if err := s.Append(t.Context(), []*store.Entry{first, {Decision: placed}, {Decision: pending}, {Decision: &retried}}); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		query string
		want  []string
	}{
		{
			`SELECT time, namespace, pod, outcome, node, snapshot, duration_ms FROM decision_log ORDER BY created_at LIMIT 1`,
			[]string{"2026-01-02T03:04:05.000006Z|shop|cart|Scheduled|n1|prod@0|1.5"},
		},
		{
			`SELECT plugin, reason, count(*), sum(nodes) FROM decision_failures WHERE cluster = 'prod' GROUP BY plugin, reason ORDER BY sum(nodes) DESC LIMIT 10`,
			[]string{"NodeResourcesFit|Insufficient cpu|2|8", "TaintToleration|untolerated|3|4"},
		},
		{
			`SELECT time, pod, plugin, reason FROM decision_rejected_nodes WHERE cluster = 'prod' AND node = 'n5' ORDER BY created_at DESC LIMIT 2`,
			[]string{"2026-01-02T04:05:05.000006Z|till|TaintToleration|untolerated", "2026-01-02T04:04:05.000006Z|till|TaintToleration|untolerated"},
		},
		{`SELECT pod, rank, node, total, chosen FROM decision_scores ORDER BY rank`, []string{"cart|1|n1|612|1", "cart|2|n2|600|0"}},
		{`SELECT node, plugin, raw, normalized, weight, weighted FROM decision_plugin_scores`, []string{"n1|NodeAffinity|3|100|2|200"}},
		{`SELECT pod, first, second, margin FROM decision_margins`, []string{"cart|n1|n2|12"}},
		{`SELECT pod, victim_namespace, victim, victim_priority, node FROM decision_victims`, []string{"till|batch|job|-1|n3"}},
		{
			`SELECT hour, plugin, pods, decisions, nodes FROM pending_reasons ORDER BY nodes DESC`,
			[]string{"2026-01-02T04:00:00Z|NodeResourcesFit|1|2|8", "2026-01-02T04:00:00Z|TaintToleration|1|2|2"},
		},
		{`SELECT snapshot, cause, change_bytes, checkpoint_bytes FROM revision_log`, []string{"prod@1|upload|3|5"}},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, ask(t, s, tt.query)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.query, diff)
		}
	}
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

// ask gives the rows of a query, columns joined as the sqlite3 shell does.
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
