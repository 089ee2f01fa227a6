package record_test

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"berth/internal/decision"
	"berth/internal/decision/record"
	"berth/internal/engine"
	"berth/internal/revision"
	"berth/test/logtest"
)

// TestAnswersAtOnceReplay has callers decide, filter and bind at the same time on a chain of
// revisions. A replay decides each question again, from nothing, and finds the same digest.
func TestAnswersAtOnceReplay(t *testing.T) {
	t.Parallel()
	h := logtest.Open(t, t.TempDir())
	list := append(logtest.Sample(t), logtest.Held(t, logtest.Pod(t, "nominated", `"priority":5,`)))
	for i := range 40 {
		list = append(list, logtest.Node(t, fmt.Sprintf("m%02d", i), 3+i%5))
	}
	logtest.Upload(t, h, list...)
	specs := []string{"", `"priority":9,`, `"topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"topology.kubernetes.io/zone","whenUnsatisfiable":"DoNotSchedule","labelSelector":{"matchLabels":{"app":"web"}}}],`}
	var callers sync.WaitGroup
	for caller := range uint64(4) {
		callers.Go(func() {
			r := rand.New(rand.NewPCG(caller, 9))
			for i := range 40 {
				name := fmt.Sprintf("asked-%d-%d", caller, i)
				q := decision.Question{Pod: logtest.Pod(t, name, specs[r.IntN(len(specs))]), Bind: r.IntN(3) == 0}
				if r.IntN(3) == 0 {
					q.NodeNames = []string{"n1", "n2", "m03", "m04", "m05", "m06", "m30", "m31"}
				}
				var err error
				if r.IntN(3) == 0 {
					q.Verb, q.Bind = decision.VerbFilter, false
					_, err = logtest.Record(t.Context(), h, q, func(*revision.View, *engine.Result) error { return nil })
				} else {
					_, err = h.Decide(t.Context(), q)
				}
				if err != nil {
					t.Errorf("%s: %v", name, err)
				}
				if r.IntN(20) == 0 {
					h.Manager.Relieve()
				}
			}
		})
	}
	callers.Wait()
	rows, err := h.Follow(t.Context(), "default", 0, 0)
	if err != nil || len(rows) != 160 {
		t.Fatalf("%d records, %v", len(rows), err)
	}
	for _, d := range rows {
		if r, err := h.Replay(t.Context(), d.ID, record.Overrides{}); err != nil || !r.Identical {
			t.Errorf("%s of %s: %+v, %v", d.Verb, d.Pod, r, err)
		}
	}
}
