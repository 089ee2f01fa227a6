package sqlite

import (
	"strings"
	"testing"
)

// narrowed are the ways to narrow each view, with the index that has to serve.
var narrowed = []struct{ view, by, index string }{
	{"decision_log", "time", "decisions_by_time (cluster=? AND created_at>?)"},
	{"decision_log", "pod", "decisions_by_pod (cluster=? AND pod=?"},
	{"decision_log", "node", "decisions_by_node (cluster=? AND node=?"},
	{"decision_log", "seq", "decisions_by_seq (cluster=? AND seq>?)"},
	{"decision_failures", "time", "decisions_by_time (cluster=? AND created_at>?)"},
	{"decision_failures", "pod", "decisions_by_pod (cluster=? AND pod=?"},
	{"decision_pool_rejections", "time", "decisions_by_time (cluster=? AND created_at>?)"},
	{"decision_pool_rejections", "pod", "decisions_by_pod (cluster=? AND pod=?"},
	{"decision_rejected_nodes", "time", "decisions_by_time (cluster=? AND created_at>?)"},
	{"decision_rejected_nodes", "pod", "decisions_by_pod (cluster=? AND pod=?"},
	{"decision_scores", "time", "decisions_by_time (cluster=? AND created_at>?)"},
	{"decision_scores", "pod", "decisions_by_pod (cluster=? AND pod=?"},
	{"decision_plugin_scores", "time", "decisions_by_time (cluster=? AND created_at>?)"},
	{"decision_plugin_scores", "pod", "decisions_by_pod (cluster=? AND pod=?"},
	{"decision_margins", "time", "decisions_by_time (cluster=? AND created_at>?)"},
	{"decision_margins", "pod", "decisions_by_pod (cluster=? AND pod=?"},
	{"decision_victims", "time", "decisions_by_time (cluster=? AND created_at>?)"},
	{"decision_victims", "pod", "decisions_by_pod (cluster=? AND pod=?"},
	{"decision_blockers", "time", "decisions_by_time (cluster=? AND created_at>?)"},
	{"decision_blockers", "pod", "decisions_by_pod (cluster=? AND pod=?"},
	{"attempts", "time", "decisions_by_time (cluster=? AND created_at>?)"},
	{"attempts", "pod", "decisions_by_pod (cluster=? AND pod=?"},
	{"evictions", "time", "decisions_by_time (cluster=? AND created_at>?)"},
	{"placements", "time", "decisions_by_time (cluster=? AND created_at>?)"},
	{"placements", "pod", "decisions_by_pod (cluster=? AND pod=?"},
	{"stale_decisions", "time", "decisions_by_time (cluster=? AND created_at>?)"},
	{"stale_decisions", "pod", "decisions_by_pod (cluster=? AND pod=?"},
	{"scheduling_latency", "pod", "decisions_by_pod (cluster=? AND pod=?"},
	{"flapping_pods", "pod", "decisions_by_pod (cluster=? AND pod=?"},
	{"pending_reasons", "cluster", " (cluster=?"},
	{"top_rejecting_plugins", "cluster", " (cluster=?"},
	{"decision_shares", "cluster", " (cluster=?"},
	{"scheduling_latency", "cluster", " (cluster=?"},
	{"flapping_pods", "cluster", " (cluster=?"},
	{"capacity", "cluster", "SEARCH capacities USING PRIMARY KEY (cluster=?)"},
	{"profile_log", "cluster", "PRIMARY KEY (cluster=?)"},
	{"pod_deletions", "deleted", "revision_changes_deleted (cluster=? AND namespace=? AND name=? AND revision>?)"},
	{"holds", "cluster", "SEARCH placement_holds USING INDEX placement_holds_by_cluster (cluster=?)"},
	{"simulation_log", "cluster", "SEARCH simulations USING PRIMARY KEY (cluster=?)"},
}

// TestViewsUseTheIndexes wants a query that is narrowed as the guide says to
// look at no more of the log than that.
func TestViewsUseTheIndexes(t *testing.T) {
	s := openAt(t, t.TempDir())
	for _, n := range narrowed {
		query := map[string]string{
			"time":    `SELECT * FROM ` + n.view + ` WHERE cluster = 'prod' AND created_at > 1767225600000000`,
			"pod":     `SELECT * FROM ` + n.view + ` WHERE cluster = 'prod' AND pod = 'cart'`,
			"node":    `SELECT * FROM ` + n.view + ` WHERE cluster = 'prod' AND node = 'n1' AND node <> '' ORDER BY created_at DESC`,
			"seq":     `SELECT * FROM ` + n.view + ` WHERE cluster = 'prod' AND seq > 7 ORDER BY seq LIMIT 100`,
			"cluster": `SELECT * FROM ` + n.view + ` WHERE cluster = 'prod'`,
			"deleted": `SELECT * FROM ` + n.view + ` WHERE cluster = 'prod' AND namespace = 'shop' AND pod = 'cart' AND revision > 7`,
		}[n.by]
		plan := strings.Join(ask(t, s, "EXPLAIN QUERY PLAN "+query), "\n")
		if !strings.Contains(plan, n.index) || strings.Contains(plan, "SCAN d\n") || strings.HasSuffix(plan, "SCAN d") || strings.Contains(plan, "SCAN d USING INDEX") {
			t.Errorf("%s by %s: plan\n%s\nwants %s", n.view, n.by, plan, n.index)
		}
	}
}

// TestAttemptsUseTheIndexes wants the queue's question to look up each pod.
func TestAttemptsUseTheIndexes(t *testing.T) {
	s := openAt(t, t.TempDir())
	const index = "decisions_by_pod (cluster=? AND pod=?"
	query := strings.NewReplacer("?1", "'[]'", "?2", "'prod'", "?3", "9", "?4", "1", "?5", "9").Replace(sqlAttempts)
	if plan := strings.Join(ask(t, s, "EXPLAIN QUERY PLAN "+query), "\n"); !strings.Contains(plan, index) || strings.Contains(plan, "SCAN d") {
		t.Errorf("plan\n%s\nwants %s", plan, index)
	}
}
