package storetest

import (
	"errors"
	"testing"
	"time"

	"berth/internal/store"
)

// FactViews writes decisions on pods to an empty store, and reads the pods' facts.
func FactViews(t *testing.T, s store.Store, ask Ask) {
	t.Helper()
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	entry := func(id, digest string, at time.Time) *store.Entry {
		f := &store.PodFacts{
			OwnerKind: "Deployment", OwnerName: "cart", PriorityClass: "high", Scheduler: "default-scheduler", CPUMilli: 250, MemoryBytes: 1 << 30,
			Requests: []byte(`{"cpu":"250m","memory":"1Gi"}`), Labels: []byte(`{"team":"a"}`), CreatedAt: start.Add(-time.Minute),
		}
		return &store.Entry{Decision: &store.Decision{
			ID: id, Cluster: "prod", Verb: "decide", CreatedAt: at, Namespace: "shop", Pod: "cart-0", PodUID: "u1", Priority: 7, Outcome: "Scheduled", Node: "n1",
			BoundRevision: 1, PodDigest: digest, Purpose: "live", Attempt: id, Facts: f.Encode(),
		}}
	}
	bare := entry("d3", "sha256:aa", start)
	bare.Decision.Pod, bare.Decision.Priority = "bare", 0
	bare.Decision.Facts = (&store.PodFacts{Requests: []byte("{}"), Labels: []byte("{}")}).Encode()
	const digest = "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
	known := entry("d2", digest, start)
	known.Decision.Facts = ""
	appendAll(t, s, entry("d1", digest, start), known, bare)
	compareRows(t, ask, []question{{`SELECT count(*) FROM pod_facts`, []string{"0"}}})
	rollUp(t, s, "prod")
	const rows = `SELECT pod_digest, pod, owner_kind, owner_name, priority_class, priority, cpu_milli, memory_bytes, requests, labels, time FROM pod_facts ORDER BY pod_digest`
	whole := digest + `|cart-0|Deployment|cart|high|7|250|1073741824|{"cpu":"250m","memory":"1Gi"}|{"team":"a"}|`
	compareRows(t, ask, []question{
		{rows, []string{whole + "2026-01-02T03:04:05.000000Z", `sha256:aa|bare|<nil>|<nil>|<nil>|0|0|0|{}|{}|2026-01-02T03:04:05.000000Z`}},
		{
			`SELECT d.id, f.owner_name FROM decision_log d JOIN pod_facts f ON f.cluster = d.cluster AND f.pod_digest = d.pod_digest ORDER BY d.id`,
			[]string{"d1|cart", "d2|cart", "d3|<nil>"},
		},
		{`SELECT pod_digest, namespace, pod, label, value FROM pod_labels`, []string{digest + "|shop|cart-0|team|a"}},
		{`SELECT decision_id, seconds_since_created FROM placements ORDER BY decision_id`, []string{"d1|60", "d2|60", "d3|<nil>"}},
	})
	// It is seen again; what comes late does not undo that, nor does a rebuild.
	appendAll(t, s, entry("d4", digest, start.Add(30*time.Hour)), entry("d5", digest, start.Add(time.Hour)))
	rollUp(t, s, "prod")
	wantErr(t, "RebuildRollups", s.RebuildRollups(t.Context(), "prod"), nil)
	rollUp(t, s, "prod")
	compareRows(t, ask, []question{{`SELECT time FROM pod_facts WHERE owner_name = 'cart'`, []string{"2026-01-03T09:04:05.000000Z"}}})
	for _, c := range []struct {
		what   string
		before time.Time
		want   []string
	}{
		{"a day", start.Add(24 * time.Hour), []string{"bare", "cart-0"}},
		{"more than a day", start.Add(25 * time.Hour), []string{"cart-0"}},
	} {
		if _, err := s.Retain(t.Context(), c.before); err != nil {
			t.Fatal(err)
		}
		compareRows(t, ask, []question{{`SELECT pod FROM pod_facts ORDER BY pod`, c.want}})
	}
	wrong, other := entry("d6", digest, start), entry("d7", "", start)
	wrong.Decision.Facts = "{}"
	if err := s.Append(t.Context(), []*store.Entry{wrong, other}); err != nil || !errors.Is(wrong.Err, store.ErrInvalid) || !errors.Is(other.Err, store.ErrInvalid) {
		t.Errorf("facts that are not valid: %v, %v, %v", err, wrong.Err, other.Err)
	}
	if err := s.DeleteCluster(t.Context(), "prod"); err != nil {
		t.Fatal(err)
	}
	compareRows(t, ask, []question{{`SELECT count(*) FROM pod_facts`, []string{"0"}}})
}
