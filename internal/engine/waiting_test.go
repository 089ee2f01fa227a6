package engine_test

import (
	"fmt"
	"runtime"
	"testing"

	"berth/test/enginetest"
)

// TestPodsOfUnknownNodes binds ten times as many pods to one node that the state lacks: they cost
// no more than some ten times the memory, and all count once the node comes.
func TestPodsOfUnknownNodes(t *testing.T) {
	build := func(n int) uint64 {
		objs := make([]any, n)
		for i := range objs {
			objs[i] = enginetest.Pod(fmt.Sprintf("p%d", i), enginetest.On("late"))
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		s, err := enginetest.State(objs...)
		runtime.ReadMemStats(&after)
		if err != nil {
			t.Fatal(err)
		}
		e := s.Edit()
		if err := e.Put(enginetest.Node("late")); err != nil {
			t.Fatal(err)
		}
		if p := e.Done().Pod("default", "p0"); p == nil || p.Row != 0 {
			t.Fatalf("the pod is at %+v", p)
		}
		if p := s.Pod("default", "p0"); p.Row != -1 {
			t.Fatal("the state before has changed")
		}
		return after.TotalAlloc - before.TotalAlloc
	}
	if small, large := build(2000), build(20_000); large > 20*small {
		t.Errorf("2,000 pods allocate %d bytes, 20,000 allocate %d", small, large)
	}
}
