package sqlite

import (
	"fmt"
	"testing"
	"time"

	"berth/internal/store"

	"github.com/google/go-cmp/cmp"
)

// TestPreemptionViews has a pod evicted twice under its name, and nominations of
// which one is followed by a bind.
func TestPreemptionViews(t *testing.T) {
	s := openAt(t, t.TempDir())
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
		{Decision: &store.Decision{ID: "e1", Cluster: "prod", Verb: "preempt", CreatedAt: start, Namespace: "shop", Pod: "till", Outcome: "Preempting",
			Victims: []store.Victim{victim("job", "u9", "n3"), victim("job", "u8", "n4")}}},
	}
	if err := s.Append(t.Context(), entries); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		query string
		want  []string
	}{
		{`SELECT pod, victim, evictions, decisions, last FROM preemption_pairs`, []string{"cart|job|2|4|2026-01-02T03:09:05.000000Z"}},
		{`SELECT pod, node, nominations, first FROM nominations_never_bound ORDER BY pod`, []string{"cart|n2|2|2026-01-02T03:08:05.000000Z", "till|n3|1|2026-01-02T03:10:05.000000Z"}},
	} {
		if diff := cmp.Diff(tt.want, ask(t, s, tt.query)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.query, diff)
		}
	}
}
