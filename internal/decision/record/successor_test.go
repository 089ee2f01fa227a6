package record_test

import (
	"errors"
	"testing"

	"berth/internal/decision"
	"berth/internal/decision/record"
	"berth/internal/engine"
	"berth/internal/revision"
	"berth/test/logtest"
)

// A StatefulSet's pod comes back under its name with another UID, and
// kube-scheduler asks about it before berth has heard that the old one is gone.
func TestExtenderNamesASuccessor(t *testing.T) {
	h := logtest.Open(t, t.TempDir())
	logtest.Upload(t, h, logtest.Sample(t)...)
	next := logtest.Pod(t, "bound", "")
	next.UID = "another"
	feasible := 0
	id, err := logtest.Record(t.Context(), h, decision.Question{Verb: decision.VerbFilter, Pod: next}, func(_ *revision.View, r *engine.Result) error {
		feasible = r.Feasible.Count()
		return nil
	})
	if err != nil || feasible != 3 {
		t.Fatalf("feasible %d, want all three nodes, the old pod's room being free: %v", feasible, err)
	}
	if r, err := h.Replay(t.Context(), id, record.Overrides{}); err != nil || !r.Identical {
		t.Fatalf("replay: %v %+v", err, r)
	}
	same := logtest.Pod(t, "bound", "")
	_, err = logtest.Record(t.Context(), h, decision.Question{Verb: decision.VerbFilter, Pod: same}, func(*revision.View, *engine.Result) error { return nil })
	wantInput(t, err, "pod", decision.Conflict)
	_, err = h.Decide(t.Context(), decision.Question{Pod: next})
	if other, ok := errors.AsType[*decision.StoredError](err); !ok || other.StoredUID != "uid-bound" || other.AskedUID != "another" {
		t.Fatalf("%v", err)
	}
}

func wantInput(t *testing.T, err error, field string, kind decision.ErrorKind) {
	t.Helper()
	in, ok := errors.AsType[*decision.Error](err)
	if !ok || in.Field != field || in.Kind != kind {
		t.Fatalf("error %v, want kind %d on %s", err, kind, field)
	}
}
