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

// TestUIDsOfMadePods binds a pod, deletes it and binds another of its name: the
// second has a UID of its own, both go where a dry run says, and the records replay.
func TestUIDsOfMadePods(t *testing.T) {
	h := logtest.Open(t, t.TempDir())
	list := []object.Object{}
	for i := range 9 { // all equal
		list = append(list, logtest.Node(t, fmt.Sprintf("n%d", i), 4))
	}
	logtest.Upload(t, h, list...)
	q := decision.Question{Pod: logtest.Pod(t, "web", "")}
	q.Pod.UID = object.DerivedUID(logtest.PodKey("d", "web")) // as a manifest without one is read
	dry := q
	dry.DryRun = true
	want := logtest.Decide(t, h, dry).Node
	uids := map[string]bool{}
	var ids []string
	for range 2 {
		bind := q
		bind.Bind = true
		a := logtest.Decide(t, h, bind)
		if a.Node != want || uids[a.Pod.UID] || a.Pod.UID == string(q.Pod.UID) {
			t.Errorf("bound to %s with UID %s; a dry run says %s", a.Node, a.Pod.UID, want)
		}
		if p, _ := logtest.StoredPod(t, h, "web"); string(p.UID) != a.Pod.UID {
			t.Errorf("stored with UID %s, told %s", p.UID, a.Pod.UID)
		}
		uids[a.Pod.UID] = true
		ids = append(ids, a.ID)
		if again := logtest.Decide(t, h, dry); again.Pod.UID != a.Pod.UID || again.Node != want {
			t.Errorf("the pod of that name is %s on %s, not %s on %s", again.Pod.UID, again.Node, a.Pod.UID, want)
		}
		if _, err := h.Manager.Change(t.Context(), "default", 0, nil, []object.Key{logtest.PodKey("d", "web")}); err != nil {
			t.Fatal(err)
		}
	}
	for _, id := range ids {
		if r, err := h.Replay(t.Context(), id, record.Overrides{}); err != nil || !r.Identical {
			t.Errorf("%v %s", err, logtest.Text(t, r))
		}
	}
}

// TestRecordedPodsStayAsTheyWere replays a record of a pod that was asked about
// under another UID than the ledger's pod of that name has, as older versions made.
func TestRecordedPodsStayAsTheyWere(t *testing.T) {
	h := logtest.Open(t, t.TempDir())
	logtest.Upload(t, h, logtest.Node(t, "n1", 4), logtest.Node(t, "n2", 4), logtest.Held(t, logtest.Pod(t, "web", "")))
	asked := *logtest.Pod(t, "web", "")
	asked.UID = object.DerivedUID(logtest.PodKey("d", "web"))
	v, err := h.Manager.View(t.Context(), "default", 0)
	if err != nil {
		t.Fatal(err)
	}
	q := decision.Question{Pod: &asked, Verb: decision.VerbDecide, DryRun: true, Now: time.Now()}
	p, err := h.Scheduler().Prepare(t.Context(), v, q)
	if err != nil {
		t.Fatal(err)
	}
	if want := v.State.Pod("d", "web").UID; string(p.Pod.UID) != want {
		t.Errorf("the pod has UID %s, the ledger's %s", p.Pod.UID, want)
	}
	q.Recorded = &decision.Recorded{Candidates: func(*state.NodeSet) ([]string, error) { return nil, nil }}
	if p, err = h.Scheduler().Prepare(t.Context(), v, q); err != nil {
		t.Fatal(err)
	}
	if p.Pod.UID != asked.UID {
		t.Errorf("a recorded pod got UID %s", p.Pod.UID)
	}
}
