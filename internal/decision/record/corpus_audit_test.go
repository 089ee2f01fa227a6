package record_test

import (
	"fmt"
	"testing"
	"time"

	"berth/internal/store"
)

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
	entries := []*store.Entry{scored, record("bind", "cart", "web-2", 1, 2), record("bind", "cart", "web-1", 3, 3)}
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
