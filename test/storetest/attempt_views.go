package storetest

import (
	"fmt"
	"testing"
	"time"

	"berth/internal/store"
)

// AttemptViews runs the obvious queries on a small history in an empty store, which a count of
// records answers wrong.
func AttemptViews(t *testing.T, s store.Store, ask Ask) {
	t.Helper()
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	n := 0
	var entries []*store.Entry
	add := func(pod, attempt, verb, purpose, outcome string, change func(*store.Decision)) {
		n++
		d := &store.Decision{
			ID: fmt.Sprintf("d%02d", n), Cluster: "prod", Verb: verb, CreatedAt: start.Add(time.Duration(n) * time.Second),
			Namespace: "shop", Pod: pod, PodUID: "uid-" + pod, Outcome: outcome, Purpose: purpose, Attempt: attempt,
		}
		if attempt == "" {
			d.Attempt = d.ID
		}
		if purpose == "shadow" {
			d.Mode = "shadow"
		}
		if change != nil {
			change(d)
		}
		entries = append(entries, &store.Entry{Decision: d})
	}
	on := func(node string, bound int64) func(*store.Decision) {
		return func(d *store.Decision) { d.Node, d.BoundRevision = node, bound }
	}
	rejects := func(d *store.Decision) { d.Message, d.RejectedBy = "0/3 nodes are available", "NodeResourcesFit" }
	nominates := func(d *store.Decision) { d.NominatedNode, d.BoundRevision = "n2", int64(n) }
	// One pod fails once, comes in a question, and is placed by the next cycle.
	add("cart", "", "filter", "live", "Unschedulable", rejects) // d01
	add("cart", "d01", "preempt", "live", "Preempting", nil)
	add("cart", "", "filter", "shadow", "Scheduled", nil)
	add("cart", "", "decide", "question", "Scheduled", on("n9", 0))
	add("cart", "", "filter", "live", "Scheduled", nil) // d05
	add("cart", "d05", "prioritize", "live", "Scheduled", on("n3", 0))
	add("cart", "d05", "bind", "live", "Scheduled", on("n1", 5))
	// One waits for its victims, try after try.
	for range 6 {
		add("till", "", "decide", "live", "Preempting", nominates)
	}
	// One is refused by its apiserver, and of another nothing is heard.
	add("late", "", "filter", "live", "Scheduled", nil) // d14
	add("late", "d14", "bind", "live", "Scheduled", on("n1", 20))
	add("late", "d14", "bind-result", "live", "Unschedulable", func(d *store.Decision) { d.Message = "it is being deleted" })
	add("lost", "", "filter", "live", "Scheduled", nil) // d17
	add("lost", "d17", "bind", "live", "Scheduled", on("n2", 21))
	add("lost", "d17", "bind-result", "live", "Unknown", nil)
	// One is of a release without attempts.
	add("old", "", "decide", "", "Scheduled", func(d *store.Decision) { d.Attempt, d.Node, d.BoundRevision = "", "n1", 22 })
	// The same name comes again an hour later.
	add("cart", "", "decide", "live", "Scheduled", func(d *store.Decision) {
		d.CreatedAt, d.PodUID, d.Node, d.BoundRevision = start.Add(time.Hour), "uid-other", "n3", 23
	})
	if err := s.Append(t.Context(), entries); err != nil {
		t.Fatal(err)
	}
	compareRows(t, ask, []question{
		{`SELECT pod, count(*) FROM attempts WHERE cluster = 'prod' GROUP BY pod ORDER BY pod`, []string{"cart|3", "late|1", "lost|1", "till|6"}},
		{`SELECT pod, count(*) FROM attempts WHERE outcome <> 'Scheduled' GROUP BY pod ORDER BY pod`, []string{"cart|1", "late|1", "lost|1", "till|6"}},
		{
			`SELECT number, outcome, node, waited_seconds, message, rejected_by, decisions FROM attempts WHERE pod = 'cart' AND pod_uid = 'uid-cart' ORDER BY created_at`,
			[]string{
				`1|Preempting||1|0/3 nodes are available|NodeResourcesFit|["d01","d02"]`,
				`2|Scheduled|n1|6||<nil>|["d05","d06","d07"]`,
			},
		},
		{`SELECT number, outcome, nominated_node, waited_seconds FROM attempts WHERE pod = 'till' AND number IN (1, 6) ORDER BY number`, []string{"1|Preempting|n2|0", "6|Preempting|n2|5"}},
		{`SELECT outcome, message FROM attempts WHERE pod = 'late'`, []string{"Unschedulable|it is being deleted"}},
		{`SELECT pod, node, verb, attempts, waited_seconds, bound_snapshot, attempt FROM placements WHERE cluster = 'prod' ORDER BY created_at`, []string{
			"cart|n1|bind|2|6|prod@5|d05", "lost|n2|bind|1|1|prod@21|d17", "old|n1|decide|<nil>|<nil>|prod@22|<nil>", "cart|n3|decide|1|0|prod@23|d21",
		}},
		{`SELECT purpose, count(*) FROM decision_log GROUP BY purpose ORDER BY purpose`, []string{"live|19", "question|1", "shadow|1"}},
	})
}
