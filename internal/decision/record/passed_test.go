package record_test

import (
	"runtime"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/decision"
	"berth/internal/decision/bind"
	"berth/internal/engine"
	"berth/internal/revision"
	"berth/test/logtest"
)

// TestPassedKeepsNoState: the memory of answers holds no set of nodes, and finds
// the decision on record where the set has gone.
func TestPassedKeepsNoState(t *testing.T) {
	h := logtest.Open(t, t.TempDir())
	h.BindOptions.APIServer = func(string) bind.APIServer { return &logtest.APIServer{} }
	h.Rebuild()
	logtest.Upload(t, h, logtest.Sample(t)...)
	q := decision.Question{Verb: decision.VerbFilter, NoPreemption: true, Pod: logtest.Pod(t, "free", ""), Nodes: []*corev1.Node{logtest.Node(t, "n2", 16).Value.(*corev1.Node)}}
	if _, err := logtest.Record(t.Context(), h, q, func(*revision.View, *engine.Result) error { return nil }); err != nil {
		t.Fatal(err)
	}
	h.ForgetOverlays()
	for range 3 {
		runtime.GC()
	}
	if noted, held := h.Noted("default", "uid-free"); !noted || held {
		t.Errorf("noted %v, and the nodes are held: %v", noted, held)
	}
	free := decision.PodRef{Namespace: "d", Name: "free", UID: "uid-free"}
	if passed, denied, err := h.Passed(t.Context(), "default", free, "n2"); !passed || err != nil {
		t.Errorf("n2: %v, %q, %v", passed, denied, err)
	}
	if passed, denied, err := h.Passed(t.Context(), "default", free, "n1"); passed || denied == "" || err != nil {
		t.Errorf("n1: %v, %q, %v", passed, denied, err)
	}
}
