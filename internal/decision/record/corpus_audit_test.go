package record_test

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"berth/internal/decision"
	"berth/internal/store"
	"berth/internal/store/sqlite"
)

// auditConfig is the configuration that decided in audit.
var auditConfig = func() store.Profile {
	text := []byte(`{"schedulerName":"default-scheduler"}`)
	return store.Profile{Digest: decision.DigestOf(text), Name: "default-scheduler", Payload: text}
}()

// auditID is the id of the nth record of fillAudit.
func auditID(n int) string { return fmt.Sprintf("01a204ef-0000-7000-8000-%012d", n) }

// fillAudit adds the log of a cluster named audit, with what berth's own code would not write: a
// pod on two nodes, binds without a filter and against the scores, and a gap.
func (c *corpus) fillAudit(t testing.TB) {
	t.Helper()
	c.at(t, "13:00:00")
	uid := "00000000-0000-4000-8000-00000000a0d1"
	n := 0
	record := func(verb, pod, node string, attempt int, bound int64) *store.Entry {
		n++
		return &store.Entry{Decision: &store.Decision{
			ID: auditID(n), Cluster: "audit", Verb: verb, CreatedAt: c.now.Add(time.Duration(n) * time.Second),
			Namespace: "shop", Pod: pod, PodUID: uid, BoundRevision: bound, Outcome: "Scheduled", Node: node,
			NodesTotal: 2, NodesFeasible: 2, Purpose: "live", Attempt: auditID(attempt),
			Asked: store.Asked{By: "token:eve", Peer: "10.0.0.9", RequestID: fmt.Sprint("request-", n)},
		}}
	}
	scored := record("prioritize", "cart", "web-1", 1, 0)
	scored.Decision.Scores = []store.Score{{Rank: 1, Node: "web-1", Total: 90}, {Rank: 2, Node: "web-2", Total: 80}}
	entries := []*store.Entry{scored, record("bind", "cart", "web-2", 1, 2), record("bind", "cart", "web-1", 3, 3), record("decide", "till", "", 4, 4)}
	for _, e := range entries {
		d := e.Decision
		d.PodDigest, d.Profile, d.ProfileDigest = "sha256:"+d.Pod, "default-scheduler", auditConfig.Digest
	}
	entries[0].Profile = &auditConfig
	budget := "shop/guarded"
	preempts := entries[3].Decision
	preempts.Outcome, preempts.NominatedNode, preempts.NodesFeasible = "Preempting", "web-1", 0
	preempts.Victims = []store.Victim{{Namespace: "shop", Pod: "crawl", UID: "u", Node: "web-1", Budget: &budget, OwnerKind: "CronJob", OwnerName: "crawl"}}
	if err := c.st.Append(t.Context(), entries); err != nil {
		t.Fatal(err)
	}
	entries = []*store.Entry{
		{Gap: &store.Gap{ID: auditID(9), Cluster: "audit", Since: c.now, Until: c.now.Add(time.Minute), Lost: 7, Cause: store.CauseFailover, Instance: "berth-0"}},
	}
	if err := c.st.Append(t.Context(), entries); err != nil {
		t.Fatal(err)
	}
}

// fillEvidence writes into the tables what is about the log of audit and has no caller in this
// room: a replay, a refused call, a changed class, a removal.
func fillEvidence(t testing.TB, backend, address string, at time.Time) {
	t.Helper()
	end := at.Add(time.Minute)
	driver, source, when, later, no := "pgx", address, any(at), any(end), any(false)
	if backend == "sqlite" {
		driver, source = "sqlite", filepath.Join(address, sqlite.FileName)
		when, later, no = at.UnixMicro(), end.UnixMicro(), 0
	}
	db, err := sql.Open(driver, source)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	removed := `{"removed":{"at":"2026-01-02T13:00:00Z","setting":"keep-decisions=30d","decisions":[[1,5]]}}`
	for _, row := range []struct {
		insert string
		values []any
	}{
		{
			`INSERT INTO replay_results (cluster, decision_id, replay, batch, seq, identical, differences, overrides, semantics, asked_by, created_at) VALUES ('audit', $1, $2, $3, 2, $3, 4, 'config', 'v1.36', 'token:eve', $4)`,
			[]any{auditID(2), auditID(8), no, when},
		},
		{
			`INSERT INTO denials (minute, instance, cluster, caller, route, status, reason, asked_by, peer, count, first_at, last_at) VALUES ($1, 'berth-0', 'audit', 'token:eve', 'POST /v1/decisions', 403, 'forbidden', 'token:eve', '10.0.0.9', 3, $1, $1)`,
			[]any{when},
		},
		{
			`INSERT INTO priority_class_changes (cluster, seq, action, name, old_value, new_value, old_policy, new_policy, source, asked_by, created_at) VALUES ('audit', 1, 'update', 'rush', 5000, 9000, 'PreemptLowerPriority', 'Never', 'store', 'token:sre', $1)`,
			[]any{when},
		},
		{
			`INSERT INTO seals (cluster, number, kind, format, after_seq, seq, after_revision, revision, previous, hash, row_hashes, items, created_at) VALUES ('audit', 1000, 'removal', 24, 3, 3, 0, 0, $1, $1, $2, $3, $4)`,
			[]any{[]byte{1}, []byte{}, removed, when},
		},
		{
			`INSERT INTO judged_pods (cluster, pod_digest, namespace, name, uid, owner_kind, owner_name, priority_class, priority, scheduler, cpu_milli, memory_bytes, requests, labels, seen_at)
				SELECT cluster, 'sha256:' || pod, namespace, pod, 'u', 'Deployment', pod, 'rush', 9000, '', 500, 1073741824, '{"cpu":"500m","memory":"1Gi"}', '{"team":"sales"}', max(created_at)
				FROM decisions WHERE cluster = 'audit' AND pod IN ('cart', $1) GROUP BY cluster, namespace, pod`,
			[]any{"till"},
		},
		{
			`INSERT INTO waits (cluster, namespace, pod, pod_uid, since, cause, until, seen) VALUES ('audit', 'shop', 'till', 'u', $1, 'NodeResourcesFit', $2, $1)`,
			[]any{when, later},
		},
		{
			`INSERT INTO hourly_decisions (cluster, hour, verb, outcome, purpose, namespace, stamp, decisions, bound, first_at, last_at) SELECT 'audit', $1, 'bind', 'Scheduled', 'live', 'shop', id, 2, 2, $1, $2 FROM stamps WHERE profile_digest = $3`,
			[]any{when, later, auditConfig.Digest},
		},
		{
			`INSERT INTO tokens (id, name, hash, grants, created_at, used_at) VALUES ('01a204ef-0000-7000-8000-00000000000a', 'ci', $1, $2, $3, $4)`,
			[]any{[]byte{1}, `[{"role":"decider","clusters":["aud*"],"namespaces":["*"]},{"role":"admin","clusters":["a_dit"],"namespaces":["*"]}]`, when, later},
		},
	} {
		if _, err := db.ExecContext(t.Context(), row.insert, row.values...); err != nil {
			t.Fatal(err)
		}
	}
}
