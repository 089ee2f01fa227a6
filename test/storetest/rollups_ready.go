package storetest

import (
	"fmt"
	"testing"
	"time"

	"berth/internal/queries"
	"berth/internal/store"
	"berth/test/rollupcheck"

	"github.com/google/go-cmp/cmp"
)

// readyEqualPlain asks ready queries that read roll-ups about all kinds of times, while nothing is
// rolled up, while a part is and when all is: the answer is that of the log.
func readyEqualPlain(t *testing.T, s store.Store) {
	h := newHistory(7)
	for _, stage := range []string{"nothing is rolled up", "a part is", "all is"} {
		if err := s.Append(t.Context(), h.entries("prod", 300)); err != nil {
			t.Fatal(err)
		}
		if stage == "all is" {
			rollUp(t, s, "prod")
		}
		for name, plain := range rollupcheck.Ready() {
			for _, span := range spans(h) {
				for _, namespace := range []string{"", "ns-1"} {
					what := fmt.Sprintf("%s: %s of %q from %s to %s", stage, name, namespace, span[0].Format(time.RFC3339Nano), span[1].Format(time.RFC3339Nano))
					compareReady(t, s, what, name, plain, map[string]string{
						"cluster": "prod", "namespace": namespace, "since": span[0].Format(time.RFC3339Nano), "until": span[1].Format(time.RFC3339Nano),
					})
				}
			}
		}
		rollUp(t, s, "prod")
	}
}

// spans are times within a history, with and without whole hours, and around it.
func spans(h *history) (list [][2]time.Time) {
	begin := at(0)
	length := h.at.Sub(begin)
	hour := begin.Add(length / 3).Truncate(time.Hour)
	list = [][2]time.Time{
		{begin.Add(-time.Hour), h.at.Add(time.Hour)},
		{hour, hour.Add(2 * time.Hour)},
		{hour.Add(time.Minute), hour.Add(50 * time.Minute)},
		{h.at.Add(-20 * time.Minute), h.at.Add(time.Microsecond)},
	}
	for range 4 {
		since := begin.Add(time.Duration(h.rand.Int64N(int64(length))))
		list = append(list, [2]time.Time{since, since.Add(time.Duration(h.rand.Int64N(int64(length))))})
	}
	return list
}

func compareReady(t *testing.T, s store.Store, what, name, plain string, values map[string]string) {
	t.Helper()
	q, ok := queries.Named(name)
	if !ok {
		t.Fatalf("there is no query %s", name)
	}
	args, err := q.Bind(values, 1000)
	if err != nil {
		t.Fatal(err)
	}
	var tables [2]*store.Table
	for i, text := range []string{plain, q.SQL} {
		if tables[i], err = s.Query(t.Context(), &store.Query{SQL: text, Args: args, MaxBytes: 1 << 20}); err != nil {
			t.Fatalf("%s: %v\n%s", what, err, text)
		}
	}
	// Sums of sums are of another type in PostgreSQL.
	if diff := cmp.Diff(append(tables[0].Rows, []any{tables[0].Columns}), append(tables[1].Rows, []any{tables[1].Columns})); diff != "" {
		t.Fatalf("%s (-log +ready):\n%s", what, diff)
	}
}
