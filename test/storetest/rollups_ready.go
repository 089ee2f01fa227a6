package storetest

import (
	"fmt"
	"slices"
	"strings"
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

// waitingEqual wants waiting_by_hour to count the stretches of pod_waits hour by hour: long ones,
// short ones, and those that have not ended.
func waitingEqual(t *testing.T, s store.Store) {
	h := newHistory(11)
	appendAll(t, s, h.entries("prod", 300)...)
	rollUp(t, s, "prod")
	type key struct{ hour, namespace, cause string }
	pods, micros := map[key]map[string]bool{}, map[key]int64{}
	now := time.Now().UTC()
	for _, row := range sorted(t, s, `SELECT time, coalesce(until_time, ''), namespace, cause, pod || '/' || pod_uid FROM pod_waits`) {
		f := strings.Split(row, "|")
		since, err := time.Parse(time.RFC3339, f[0])
		if err != nil {
			t.Fatal(err)
		}
		until := now
		if f[1] != "" {
			if until, err = time.Parse(time.RFC3339, f[1]); err != nil {
				t.Fatal(err)
			}
		}
		for hour := since.Truncate(time.Hour); hour.Before(until); hour = hour.Add(time.Hour) {
			k := key{hour.Format(time.RFC3339), f[2], f[3]}
			if pods[k] == nil {
				pods[k] = map[string]bool{}
			}
			pods[k][f[4]] = true
			begin, end := hour, hour.Add(time.Hour)
			if begin.Before(since) {
				begin = since
			}
			if end.After(until) {
				end = until
			}
			micros[k] += end.Sub(begin).Microseconds()
		}
	}
	present := now.Truncate(time.Hour).Format(time.RFC3339)
	var want []string
	for k, p := range pods {
		if k.hour < present {
			want = append(want, fmt.Sprintf("%s|%s|%s|%d|%v", k.hour, k.namespace, k.cause, len(p), float64(micros[k])))
		}
	}
	slices.Sort(want)
	if len(want) < 100 {
		t.Fatalf("%d hours", len(want))
	}
	same(t, "hours", want, sorted(t, s, `SELECT hour, namespace, cause, pods, round(seconds * 1000000) FROM waiting_by_hour WHERE hour < '`+present+`'`))
}

// rollupsOfGonePods has changes of pods end their waiting, behind the records of before and ahead
// of those that come late.
func rollupsOfGonePods(t *testing.T, s store.Store) {
	changed := func(number int64, second int, objects ...store.RevisionObject) *store.Entry {
		e := change("prod", number)
		e.Revision.CreatedAt, e.Revision.Objects, e.Revision.Changes = at(second), objects, len(objects)
		return e
	}
	// A bind of the UID ends the waiting of the pod that was asked about without it.
	place := func(id, pod, uid string, number int64, second int) *store.Entry {
		e := changed(number, second)
		e.Decision = decision("prod", id, at(second))
		e.Decision.Verb, e.Decision.Namespace, e.Decision.Pod, e.Decision.PodUID = "bind", "shop", pod, uid
		e.Decision.Outcome, e.Decision.Node, e.Decision.BoundRevision, e.Decision.Revision = "Scheduled", "n1", number, number-1
		e.Decision.Purpose = "live"
		return e
	}
	record := func(id, pod, uid, outcome string, second int) *store.Entry {
		d := decision("prod", id, at(second))
		d.Verb, d.Namespace, d.Pod, d.PodUID, d.Outcome, d.Revision = "filter", "shop", pod, uid, outcome, 1
		return &store.Entry{Decision: d}
	}
	gone := func(pod, uid string) store.RevisionObject {
		return store.RevisionObject{Action: store.Deleted, Kind: "Pod", Namespace: "shop", Name: pod, UID: uid}
	}
	bound := gone("bound", "b")
	bound.Action, bound.Node, bound.Changed = store.Applied, "n1", []byte(`["spec.nodeName"]`)
	appendAll(t, s, revision("prod", 1), record("1", "gone", "g", "Gated", 10), record("2", "bound", "b", "Unschedulable", 11),
		record("3", "nameless", "", "Gated", 12), record("4", "stays", "s", "Gated", 13), record("8", "placed", "", "Gated", 14))
	rollUp(t, s, "prod")
	appendAll(t, s, changed(2, 20, gone("gone", "g"), gone("nameless", "n"), gone("late", "l"), gone("stays", "another")), changed(3, 21, bound),
		place("9", "placed", "p", 4, 22))
	rollUp(t, s, "prod")
	rollupsEqual(t, s, "pod_waits")
	waits := []string{"bound|Unschedulable|03-01T00:00:19", "gone|SchedulingGates|03-01T00:00:18", "nameless|SchedulingGates|03-01T00:00:18", "placed|SchedulingGates|03-01T00:00:20", "stays|SchedulingGates|"}
	const query = `SELECT pod, cause, substr(coalesce(until_time, ''), 6, 14) FROM pod_waits`
	same(t, "waits", waits, sorted(t, s, query))
	appendAll(t, s, record("5", "late", "l", "Gated", 5), record("6", "late", "l", "Unschedulable", 6), record("7", "bound", "b", "Gated", 9),
		record("91", "placed", "", "Unschedulable", 8))
	rollUp(t, s, "prod")
	rollupsEqual(t, s, "pod_waits")
	wantErr(t, "RebuildRollups", s.RebuildRollups(t.Context(), "prod"), nil)
	rollUp(t, s, "prod")
	rollupsEqual(t, s, "pod_waits")
}
