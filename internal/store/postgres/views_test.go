package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"berth/internal/store"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
)

// TestViews asks the views what people ask.
func TestViews(t *testing.T) {
	s := openAt(t, freshURL(t), Options{})
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
		{`SELECT pod, rank, node, total, chosen FROM decision_scores ORDER BY rank`, []string{"cart|1|n1|612|true", "cart|2|n2|600|false"}},
		{`SELECT node, plugin, raw, normalized, weight, weighted FROM decision_plugin_scores`, []string{"n1|NodeAffinity|3|100|2|200"}},
		{`SELECT pod, first, second, margin FROM decision_margins`, []string{"cart|n1|n2|12"}},
		{`SELECT pod, victim_namespace, victim, victim_priority, node FROM decision_victims`, []string{"till|batch|job|-1|n3"}},
		{
			`SELECT hour, plugin, pods, decisions, nodes FROM pending_reasons ORDER BY nodes DESC`,
			[]string{"2026-01-02T04:00:00Z|NodeResourcesFit|1|2|8", "2026-01-02T04:00:00Z|TaintToleration|1|2|2"},
		},
		{`SELECT snapshot, cause, change_bytes, checkpoint_bytes FROM revision_log`, []string{"prod@1|upload|3|5"}},
	}
	conn, err := s.pool.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Release()
	if _, err := conn.Exec(t.Context(), `SET ROLE berth_reader`); err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = conn.Exec(context.Background(), `RESET ROLE`) }()
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, ask(t, conn.Conn(), tt.query)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.query, diff)
		}
	}
	for _, query := range []string{`SELECT * FROM decisions`, `SELECT * FROM checkpoints`, `DELETE FROM decision_log`, `CREATE TABLE x ()`} {
		if _, err := conn.Exec(t.Context(), query); sqlState(err) != statePrivilege && sqlState(err) != "55000" {
			t.Errorf("the reading role's %s: %v", query, err)
		}
	}
}

// TestListsUseTheirIndexes keeps the list from sorting or from reading the
// whole log.
func TestListsUseTheirIndexes(t *testing.T) {
	s := openAt(t, freshURL(t), Options{})
	var es []*store.Entry
	now := time.Now()
	for i := range 3000 {
		d := sampleDecision("prod", fmt.Sprintf("%06d", i), now.Add(time.Duration(i)*time.Second))
		d.Pod, d.Node = fmt.Sprint("pod-", i%300), fmt.Sprint("node-", i%300)
		es = append(es, &store.Entry{Decision: d})
	}
	if err := s.Append(t.Context(), es); err != nil {
		t.Fatal(err)
	}
	conn, err := s.pool.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Release()
	if _, err := conn.Exec(t.Context(), `ANALYZE decisions`); err != nil {
		t.Fatal(err)
	}
	before := store.DecisionFilter{Cluster: "prod", BeforeTime: now.Add(time.Hour), BeforeID: "x", Limit: 10}
	tests := []struct {
		index string
		set   func(f *store.DecisionFilter)
	}{
		{"_pkey", func(*store.DecisionFilter) {}},
		{"_pod_created_at_idx", func(f *store.DecisionFilter) { f.Namespace, f.Pod = "shop", "pod-7" }},
		{"_node_created_at_idx", func(f *store.DecisionFilter) { f.Node = "node-7" }},
	}
	for _, tt := range tests {
		f := before
		tt.set(&f)
		query, args := listSQL(f)
		plan := strings.Join(ask(t, conn.Conn(), "EXPLAIN "+query, args...), "\n")
		if !strings.Contains(plan, tt.index) || strings.Contains(plan, "Seq Scan on "+partitionName(now)) {
			t.Errorf("%+v: plan\n%s\nwants %s and no reading of all", f, plan, tt.index)
		}
	}
}

// TestHostileRows plants values that we never write: a row is input, and one
// that is wrong may cost its own reader an error, and nobody a panic.
func TestHostileRows(t *testing.T) {
	url := freshURL(t)
	s := openAt(t, url, Options{})
	refused := 0
	for c, column := range []string{"failures", "scores", "victims"} {
		for v, value := range []string{`{`, `null`, `{}`, `[1]`, `[[[]]]`, `[[{}]]`, `[null]`, `[[]]`, `[["a","b","c",1e99]]`, `[[9223372036854775808]]`, ``} {
			id := fmt.Sprint("h", c, "-", v)
			appendOne(t, s, id)
			execRaw(t, url, fmt.Sprintf(`UPDATE decisions SET %s = '%s', decided_as_of = 'infinity' WHERE id = '%s'`, column, value, id))
			if v%2 == 0 {
				execRaw(t, url, fmt.Sprintf(`UPDATE decisions SET decided_as_of = now() WHERE id = '%s'`, id))
			}
			if _, err := s.Decision(t.Context(), id); err != nil {
				if errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrClosed) || errors.Is(err, store.ErrUnavailable) {
					t.Errorf("%s = %s: %v", column, value, err)
				}
				refused++
			}
		}
	}
	if refused < 11 {
		t.Errorf("only %d hostile rows were noticed", refused)
	}
	if err := s.Ping(t.Context()); err != nil {
		t.Errorf("Ping = %v", err)
	}
	appendOne(t, s, "after")
}

// ask gives the rows of a query, columns joined as psql -At does.
func ask(t *testing.T, conn *pgx.Conn, query string, args ...any) []string {
	t.Helper()
	rows, err := conn.Query(t.Context(), query, args...)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	var out []string
	for rows.Next() {
		values, err := rows.Values()
		if err != nil {
			t.Fatalf("%s: %v", query, err)
		}
		texts := make([]string, len(values))
		for i, v := range values {
			if n, ok := v.(pgtype.Numeric); ok {
				v = n.Int // of a sum of bigints: a whole number
			}
			texts[i] = fmt.Sprint(v)
		}
		out = append(out, strings.Join(texts, "|"))
	}
	if err := rows.Err(); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return out
}
