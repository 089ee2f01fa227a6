package engine_test

import (
	"fmt"
	"testing"
	"time"

	"berth/internal/engine/enginetest"
)

// TestPodsOfUnknownNodesGrowLinearly: ten times as many pods bound to one node that the state lacks cost less than thirty
// times as much, and all count once the node comes.
func TestPodsOfUnknownNodesGrowLinearly(t *testing.T) {
	build := func(n int) time.Duration {
		objs := make([]any, n)
		for i := range objs {
			objs[i] = enginetest.Pod(fmt.Sprintf("p%d", i), enginetest.On("late"))
		}
		best := time.Hour
		for range 3 {
			began := time.Now()
			s, err := enginetest.State(objs...)
			best = min(best, time.Since(began))
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
		}
		return best
	}
	if small, large := build(4000), build(40_000); large > 30*small {
		t.Errorf("4,000 pods take %v, 40,000 take %v", small, large)
	}
}
