package decisionlog

import (
	"errors"
	"net/http"
	"testing"

	"berth/internal/cluster"
	"berth/internal/engine"
)

// A StatefulSet's pod comes back under its name with another UID, and
// kube-scheduler asks about it before berth has heard that the old one is gone.
func TestExtenderAsksAboutASuccessor(t *testing.T) {
	h := open(t, t.TempDir())
	upload(t, h, sample(t)...)
	next := pod(t, "bound", "")
	next.UID = "another"
	feasible := 0
	id, err := h.Judge(t.Context(), Question{Verb: VerbFilter, Pod: next}, func(_ *cluster.View, r *engine.Result) error {
		feasible = r.Feasible.Count()
		return nil
	})
	if err != nil || feasible != 3 {
		t.Fatalf("feasible %d, want all three nodes, the old pod's room being free: %v", feasible, err)
	}
	if r, err := h.Replay(t.Context(), id, Overrides{}); err != nil || !r.Identical {
		t.Fatalf("replay: %v %+v", err, r)
	}
	same := pod(t, "bound", "")
	_, err = h.Judge(t.Context(), Question{Verb: VerbFilter, Pod: same}, func(*cluster.View, *engine.Result) error { return nil })
	wantInput(t, err, "pod", http.StatusConflict)
	_, err = h.Decide(t.Context(), Question{Pod: next})
	wantInput(t, err, "pod", http.StatusConflict)
}

func wantInput(t *testing.T, err error, field string, status int) {
	t.Helper()
	in, ok := errors.AsType[*InputError](err)
	if !ok || in.Field != field || in.Status != status {
		t.Fatalf("error %v, want %d on %s", err, status, field)
	}
}
