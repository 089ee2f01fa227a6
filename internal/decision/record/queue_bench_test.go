package record_test

import (
	"fmt"
	"testing"
	"time"

	"berth/internal/decision"
	"berth/internal/decision/record"
	"berth/internal/engine/state"
	"berth/internal/kube/object"
	"berth/test/logtest"
)

// BenchmarkQueue shows the queue of 1,000 pods that were tried in vain, after 10,000 revisions, a
// tenth of which woke all of them.
func BenchmarkQueue(b *testing.B) {
	h := logtest.Open(b, b.TempDir())
	list := []object.Object{logtest.Node(b, "n1", 1), logtest.Node(b, "n2", 1)}
	const waiting, revisions = 1000, 10_000
	for i := range waiting {
		p := logtest.Pod(b, fmt.Sprint("web-", i), `"nodeSelector":{"a":"b"},"priority":0,`)
		o, err := object.Of(p)
		if err != nil {
			b.Fatal(err)
		}
		list = append(list, o)
	}
	v, _, err := h.Manager.Upload(b.Context(), "prod", func(yield func(object.Object) error) (map[string]int, error) {
		for _, o := range list {
			if err := yield(o); err != nil {
				return nil, err
			}
		}
		return nil, nil
	})
	if err != nil {
		b.Fatal(err)
	}
	for i := range waiting {
		ref := &object.Key{Kind: "Pod", Namespace: "d", Name: fmt.Sprint("web-", i)}
		if _, err := h.Decide(b.Context(), decision.Question{Cluster: "prod", PodRef: ref}); err != nil {
			b.Fatal(err)
		}
	}
	for i := range revisions {
		n := logtest.Object(b, fmt.Sprintf(`{"apiVersion":"v1","kind":"Node","metadata":{"name":"n3","labels":{"a":"%c"}},
			"status":{"allocatable":{"cpu":"1","pods":"%d"}}}`, "bc"[min(1, i%10)], 100+i))
		if v, err = h.Manager.Change(b.Context(), "prod", 0, []object.Object{n}, nil); err != nil {
			b.Fatal(err)
		}
	}
	ours := func(string) (ours, gates bool) { return true, true }
	b.ReportAllocs()
	for b.Loop() {
		when := record.When{At: time.Now().Add(time.Minute)}
		q, err := h.Queue(b.Context(), v, ours, nil, when)
		if err != nil {
			b.Fatal(err)
		}
		if n := q.In(state.ActiveQueue); n != waiting || q.Active[0].Tried.Woken == nil {
			b.Fatalf("%d are active, %+v", n, q.Active[0].Tried)
		}
	}
}
