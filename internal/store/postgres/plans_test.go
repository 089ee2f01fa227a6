package postgres

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"berth/internal/store"
)

// narrowed are the ways to narrow each view, with the index that has to serve.
var narrowed = []struct{ view, by, index string }{
	{"decision_log", "time", "Index Cond: ((cluster = 'prod'::text) AND (created_at >"},
	{"decision_log", "pod", "Index Cond: ((cluster = 'prod'::text) AND (pod = 'cart'::text)"},
	{"decision_log", "node", "Index Cond: ((cluster = 'prod'::text) AND (node = 'n1'::text)"},
	{"decision_log", "seq", "Index Cond: ((cluster = 'prod'::text) AND (seq >"},
	{"decision_failures", "time", "Index Cond: ((cluster = 'prod'::text) AND (created_at >"},
	{"decision_failures", "pod", "Index Cond: ((cluster = 'prod'::text) AND (pod = 'cart'::text)"},
	{"decision_pool_rejections", "time", "Index Cond: ((cluster = 'prod'::text) AND (created_at >"},
	{"decision_pool_rejections", "pod", "Index Cond: ((cluster = 'prod'::text) AND (pod = 'cart'::text)"},
	{"decision_rejected_nodes", "time", "Index Cond: ((cluster = 'prod'::text) AND (created_at >"},
	{"decision_rejected_nodes", "pod", "Index Cond: ((cluster = 'prod'::text) AND (pod = 'cart'::text)"},
	{"decision_scores", "time", "Index Cond: ((cluster = 'prod'::text) AND (created_at >"},
	{"decision_scores", "pod", "Index Cond: ((cluster = 'prod'::text) AND (pod = 'cart'::text)"},
	{"decision_plugin_scores", "time", "Index Cond: ((cluster = 'prod'::text) AND (created_at >"},
	{"decision_plugin_scores", "pod", "Index Cond: ((cluster = 'prod'::text) AND (pod = 'cart'::text)"},
	{"decision_margins", "time", "Index Cond: ((cluster = 'prod'::text) AND (created_at >"},
	{"decision_margins", "pod", "Index Cond: ((cluster = 'prod'::text) AND (pod = 'cart'::text)"},
	{"decision_victims", "time", "Index Cond: ((cluster = 'prod'::text) AND (created_at >"},
	{"decision_victims", "pod", "Index Cond: ((cluster = 'prod'::text) AND (pod = 'cart'::text)"},
	{"decision_blockers", "time", "Index Cond: ((cluster = 'prod'::text) AND (created_at >"},
	{"decision_blockers", "pod", "Index Cond: ((cluster = 'prod'::text) AND (pod = 'cart'::text)"},
	{"attempts", "time", "Index Cond: ((cluster = 'prod'::text) AND (created_at >"},
	{"attempts", "pod", "Index Cond: ((cluster = 'prod'::text) AND (pod = 'cart'::text)"},
	{"evictions", "time", "Index Cond: ((cluster = 'prod'::text) AND (created_at >"},
	{"placements", "time", "Index Cond: ((cluster = 'prod'::text) AND (created_at >"},
	{"placements", "pod", "Index Cond: ((cluster = 'prod'::text) AND (pod = 'cart'::text)"},
	{"stale_decisions", "time", "Index Cond: ((cluster = 'prod'::text) AND (created_at >"},
	{"stale_decisions", "pod", "Index Cond: ((cluster = 'prod'::text) AND (pod = 'cart'::text)"},
	{"scheduling_latency", "pod", "Index Cond: ((cluster = 'prod'::text) AND (pod = 'cart'::text)"},
	{"flapping_pods", "pod", "Index Cond: ((cluster = 'prod'::text) AND (pod = 'cart'::text)"},
	{"pending_reasons", "cluster", "Index Cond: (cluster = 'prod'::text)"},
	{"top_rejecting_plugins", "cluster", "Index Cond: (cluster = 'prod'::text)"},
	{"node_choices", "cluster", "Index Cond: (cluster = 'prod'::text)"},
	{"nodes_never_chosen", "cluster", "Index Cond: (cluster = 'prod'::text)"},
	{"decision_shares", "cluster", "Index Cond: (cluster = 'prod'::text)"},
	{"decision_durations", "cluster", "Index Cond: (cluster = 'prod'::text)"},
	{"scheduling_latency", "cluster", "Index Cond: (cluster = 'prod'::text)"},
	{"flapping_pods", "cluster", "Index Cond: (cluster = 'prod'::text)"},
	{"capacity", "cluster", "Index Cond: (cluster = 'prod'::text)"},
	{"profile_log", "cluster", "Index Cond: (cluster = 'prod'::text)"},
	{"pod_deletions", "deleted", "revision_changes_deleted"},
	{"revision_objects", "deletion", "Index Scan using revision_changes_deleted"},
}

// TestViewsUseTheIndexes wants a query that is narrowed as the guide says to
// look at no more of the log than that. A table as small as a test's may well be
// read whole all the same, and so that is forbidden here.
func TestViewsUseTheIndexes(t *testing.T) {
	s := openAt(t, freshURL(t), Options{})
	var es []*store.Entry
	now := time.Now()
	for i := range 3000 {
		d := sampleDecision([]string{"prod", "test", "lab"}[i%3], fmt.Sprintf("%06d", i), now.Add(time.Duration(-i)*time.Second))
		d.Pod, d.Node, d.Revision = fmt.Sprint("pod-", i%300), fmt.Sprint("n", i%300), 0
		es = append(es, &store.Entry{Decision: d})
	}
	if err := s.Append(t.Context(), es); err != nil {
		t.Fatal(err)
	}
	if _, err := s.pool.Exec(t.Context(), `ANALYZE`); err != nil {
		t.Fatal(err)
	}
	conn, err := s.pool.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Release()
	tx, err := conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(t.Context()) }()
	if _, err := tx.Exec(t.Context(), `SET LOCAL enable_seqscan = off; SET LOCAL jit = off`); err != nil {
		t.Fatal(err)
	}
	this := partitionName(firstOf(time.Now()))
	for _, n := range narrowed {
		query := map[string]string{
			"deletion": `SELECT * FROM ` + n.view + ` WHERE cluster = 'prod' AND namespace = 'web' AND name = 'cart' AND action = 'delete' AND kind = 'Pod'`,
			"time":     `SELECT * FROM ` + n.view + ` WHERE cluster = 'prod' AND created_at > now() - interval '1 minute'`,
			"pod":      `SELECT * FROM ` + n.view + ` WHERE cluster = 'prod' AND pod = 'cart'`,
			"node":     `SELECT * FROM ` + n.view + ` WHERE cluster = 'prod' AND node = 'n1' AND node <> '' ORDER BY created_at DESC`,
			"seq":      `SELECT * FROM ` + n.view + ` WHERE cluster = 'prod' AND seq > 7 ORDER BY seq LIMIT 100`,
			"cluster":  `SELECT * FROM ` + n.view + ` WHERE cluster = 'prod'`,
			"deleted":  `SELECT * FROM ` + n.view + ` WHERE cluster = 'prod' AND namespace = 'shop' AND pod = 'cart' AND revision > 7`,
		}[n.by]
		plan := strings.Join(ask(t, conn.Conn(), "EXPLAIN "+query), "\n")
		plan = strings.ReplaceAll(plan, ` COLLATE "C"`, "")
		if !strings.Contains(plan, n.index) || strings.Contains(plan, "Seq Scan on "+this) {
			t.Errorf("%s by %s: plan\n%s\nwants %s", n.view, n.by, plan, n.index)
		}
	}
}
