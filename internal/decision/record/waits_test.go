package record_test

import (
	"strings"
	"testing"
	"time"

	"berth/internal/decision"
	"berth/internal/kube/object"
	"berth/internal/revision"
	"berth/internal/store"
	"berth/test/logtest"
)

// TestOthersBindsEndWaiting: a pod waits no more once a watch tells that it has a node, whether it
// was told of the pod before or sees it for the first time.
func TestOthersBindsEndWaiting(t *testing.T) {
	h := logtest.Open(t, t.TempDir())
	logtest.Upload(t, h, append(logtest.Sample(t), logtest.Held(t, logtest.Pod(t, "known", "")))...)
	for _, name := range []string{"known", "new", "stays"} {
		pod := logtest.Pod(t, name, `"nodeSelector":{"none":"it"},`)
		if a := logtest.Decide(t, h, decision.Question{Verb: decision.VerbFilter, Pod: pod}); a.Outcome != "Unschedulable" {
			t.Fatalf("%s: %s", name, a.Outcome)
		}
	}
	rollUp(t, h.Store, "default")
	var changed []object.Object
	for _, name := range []string{"known", "new"} {
		changed = append(changed, logtest.Held(t, logtest.Pod(t, name, `"nodeName":"n1",`)))
	}
	changed = append(changed, logtest.Held(t, logtest.Pod(t, "stays", "")))
	time.Sleep(time.Millisecond) // a stretch has a length
	// As a follower writes what its watches tell.
	_, _, err := h.Manager.Update(t.Context(), "default", 0, func(*revision.View) (*revision.Step, error) {
		return &revision.Step{Apply: changed}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	rollUp(t, h.Store, "default")
	const query = `SELECT pod || CASE WHEN until_time IS NULL THEN ' waits' ELSE ' waited' END FROM pod_waits ORDER BY pod`
	table, err := h.Store.Query(t.Context(), &store.Query{SQL: query, MaxBytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, row := range table.Rows {
		got = append(got, row[0].(string))
	}
	if got := strings.Join(got, ", "); got != "known waited, new waited, stays waits" {
		t.Error(got)
	}
}
