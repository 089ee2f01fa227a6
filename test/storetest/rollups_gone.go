package storetest

import (
	"testing"

	"berth/internal/store"
)

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
