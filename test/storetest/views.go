package storetest

import (
	"fmt"
	"testing"
	"time"

	"berth/internal/store"

	"github.com/google/go-cmp/cmp"
)

// Ask returns the rows of a query as text, a row's columns joined by "|" as both
// databases' shells do.
type Ask func(query string) []string

// question is a query that both dialects read alike, and its rows.
type question struct {
	query string
	want  []string
}

func compareRows(t *testing.T, ask Ask, questions []question) {
	t.Helper()
	for _, q := range questions {
		if diff := cmp.Diff(q.want, ask(q.query)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", q.query, diff)
		}
	}
}

// Views runs the queries that people need on the views of an empty store, once some decisions
// are in it.
func Views(t *testing.T, s store.Store, ask Ask) {
	t.Helper()
	start := time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC)
	placed := &store.Decision{
		ID: "d1", Cluster: "prod", Verb: "decide", CreatedAt: start, Namespace: "shop", Pod: "cart",
		Outcome: "Scheduled", Node: "n1", NodesTotal: 5, NodesFeasible: 3, DurationMicros: 1500, Purpose: "live",
		Failures: []store.Failure{{Plugin: "TaintToleration", Code: "Unschedulable", Reason: "untolerated", Nodes: 2, Names: []string{"n4", "n5"}, Pools: []store.PoolCount{{Pool: "m5", Nodes: 1}, {Nodes: 1}}}},
		Scores: []store.Score{
			{Rank: 1, Node: "n1", Total: 612, Plugins: store.PluginScores{{Plugin: "NodeAffinity", Raw: 3, Normalized: 100, Weight: 2, Weighted: 200}}},
			{Rank: 2, Node: "n2", Total: 600},
		},
	}
	pending := &store.Decision{
		ID: "d2", Cluster: "prod", Verb: "decide", CreatedAt: start.Add(time.Hour), Namespace: "shop", Pod: "till",
		Outcome: "Unschedulable", NodesTotal: 5, Purpose: "live",
		Failures: []store.Failure{
			{Plugin: "TaintToleration", Code: "Unschedulable", Reason: "untolerated", Nodes: 1, Names: []string{"n5"}},
			{Plugin: "NodeResourcesFit", Code: "Unschedulable", Reason: "Insufficient cpu", Nodes: 4, Pools: []store.PoolCount{{Pool: "m5", Nodes: 3}, {Pool: "(others)", Nodes: 1}}},
		},
		Victims: []store.Victim{{Namespace: "batch", Pod: "job", UID: "u", Priority: -1, Node: "n3"}},
		Blockers: store.EncodeBlockers([]store.Blocker{
			{Plugin: "NodeResourcesFit", Kind: "Pod", Namespace: "batch", Name: "job", OwnerKind: "Deployment", OwnerName: "jobs"},
			{Plugin: "VolumeBinding", Kind: "PersistentVolume", Name: "pv"},
		}, 3),
	}
	retried := *pending
	retried.ID, retried.CreatedAt, retried.Victims, retried.Blockers = "d3", start.Add(time.Hour+time.Minute), nil, ""
	first := &store.Entry{
		Revision: &store.Revision{
			Cluster: "prod", Number: 1, Token: "t", CreatedAt: start, Cause: "upload", Change: []byte("abc"), Summary: []byte("{}"),
		},
		Checkpoint: &store.Checkpoint{Cluster: "prod", Number: 1, Payload: []byte("state")},
	}
	if err := s.Append(t.Context(), []*store.Entry{first, {Decision: placed}, {Decision: pending}, {Decision: &retried}}); err != nil {
		t.Fatal(err)
	}
	compareRows(t, ask, []question{
		{
			`SELECT time, namespace, pod, outcome, node, snapshot, duration_ms FROM decision_log ORDER BY created_at LIMIT 1`,
			[]string{"2026-01-02T03:04:05.000006Z|shop|cart|Scheduled|n1|prod@0|1.5"},
		},
		{
			`SELECT plugin, reason, count(*), sum(nodes) FROM decision_failures WHERE cluster = 'prod' GROUP BY plugin, reason ORDER BY sum(nodes) DESC LIMIT 10`,
			[]string{"NodeResourcesFit|Insufficient cpu|2|8", "TaintToleration|untolerated|3|4"},
		},
		{
			`SELECT pod, reason, coalesce(pool, 'unknown'), nodes, named, named_share FROM decision_pool_rejections WHERE decision_id <> 'd3' ORDER BY pod, reason, nodes DESC, pool DESC`,
			[]string{"cart|untolerated|m5|1|1|1", "cart|untolerated||1|1|1", "till|Insufficient cpu|m5|3|0|0", "till|Insufficient cpu|(others)|1|0|0", "till|untolerated|unknown|1|1|1"},
		},
		{
			`SELECT sum(nodes), sum(named), min(named_share), sum(CASE WHEN pool IS NULL THEN nodes END) FROM decision_pool_rejections WHERE code = 'Unschedulable'`,
			[]string{"12|4|0|2"},
		},
		{`SELECT sum(nodes), sum(nodes * named_share) FROM decision_failures`, []string{"12|4"}},
		{
			`SELECT time, pod, plugin, reason FROM decision_rejected_nodes WHERE cluster = 'prod' AND node = 'n5' ORDER BY created_at DESC LIMIT 2`,
			[]string{"2026-01-02T04:05:05.000006Z|till|TaintToleration|untolerated", "2026-01-02T04:04:05.000006Z|till|TaintToleration|untolerated"},
		},
		{`SELECT pod, rank, node, total, CASE WHEN chosen THEN 'chosen' ELSE '' END FROM decision_scores ORDER BY rank`, []string{"cart|1|n1|612|chosen", "cart|2|n2|600|"}},
		{`SELECT node, plugin, raw, normalized, weight, weighted FROM decision_plugin_scores`, []string{"n1|NodeAffinity|3|100|2|200"}},
		{`SELECT pod, first, second, margin FROM decision_margins`, []string{"cart|n1|n2|12"}},
		{`SELECT pod, victim_namespace, victim, victim_priority, node FROM decision_victims`, []string{"till|batch|job|-1|n3"}},
		{
			`SELECT decision_id, time, outcome, namespace, pod, rank, plugin, kind, blocker_namespace, blocker, blocker_owner_kind, blocker_owner, more, purpose FROM decision_blockers ORDER BY rank`,
			[]string{
				"d2|2026-01-02T04:04:05.000006Z|Unschedulable|shop|till|1|NodeResourcesFit|Pod|batch|job|Deployment|jobs|3|live",
				"d2|2026-01-02T04:04:05.000006Z|Unschedulable|shop|till|2|VolumeBinding|PersistentVolume|<nil>|pv|<nil>|<nil>|3|live",
			},
		},
		{
			`SELECT hour, plugin, pods, decisions, nodes FROM pending_reasons ORDER BY nodes DESC`,
			[]string{"2026-01-02T04:00:00Z|NodeResourcesFit|1|2|8", "2026-01-02T04:00:00Z|TaintToleration|1|2|2"},
		},
		{`SELECT snapshot, cause, change_bytes, checkpoint_bytes FROM revision_log`, []string{"prod@1|upload|3|5"}},
	})
}

// PreemptionViews has a pod evicted twice under its name, and nominations of
// which one is followed by a bind. The store is empty.
func PreemptionViews(t *testing.T, s store.Store, ask Ask) {
	t.Helper()
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	n := 0
	decision := func(pod, outcome, node string, bound int64, victims ...store.Victim) *store.Entry {
		n++
		d := &store.Decision{
			ID: fmt.Sprintf("d%d", n), Cluster: "prod", Verb: "decide", CreatedAt: start.Add(time.Duration(n) * time.Minute), Namespace: "shop", Pod: pod,
			Outcome: outcome, BoundRevision: bound, Victims: victims,
		}
		if outcome == "Preempting" {
			d.NominatedNode = node
		} else {
			d.Node = node
		}
		return &store.Entry{Decision: d}
	}
	victim := func(name, uid, node string) store.Victim {
		return store.Victim{Namespace: "batch", Pod: name, UID: uid, Node: node}
	}
	entries := []*store.Entry{
		decision("cart", "Preempting", "n1", 2, victim("job", "u1", "n1"), victim("other", "o1", "n1")),
		decision("cart", "Preempting", "n1", 0, victim("job", "u1", "n1"), victim("other", "o1", "n1")), // the same once more
		decision("cart", "Scheduled", "n1", 3),
		decision("cart", "Preempting", "n2", 4, victim("job", "u2", "n2")), // it came back
		decision("cart", "Preempting", "n2", 5, victim("job", "u2", "n2")),
		decision("till", "Preempting", "n3", 6, victim("job", "u3", "n3")),
		decision("till", "Scheduled", "n3", 0), // decided and not bound
		{Decision: &store.Decision{
			ID: "e1", Cluster: "prod", Verb: "preempt", CreatedAt: start, Namespace: "shop", Pod: "till", Outcome: "Preempting",
			Victims: []store.Victim{victim("job", "u9", "n3"), victim("job", "u8", "n4")},
		}},
	}
	if err := s.Append(t.Context(), entries); err != nil {
		t.Fatal(err)
	}
	compareRows(t, ask, []question{
		{`SELECT pod, victim, evictions, decisions, last FROM preemption_pairs`, []string{"cart|job|2|4|2026-01-02T03:09:05.000000Z"}},
		{`SELECT pod, node, nominations, first FROM nominations_never_bound ORDER BY pod`, []string{"cart|n2|2|2026-01-02T03:08:05.000000Z", "till|n3|1|2026-01-02T03:10:05.000000Z"}},
	})
}
