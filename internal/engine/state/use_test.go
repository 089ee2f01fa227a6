package state_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"berth/internal/engine/state"
	"berth/test/enginetest"
)

// TestLeastLeft changes nodes and pods at random, and holds what a block has left at least against
// each of its nodes.
func TestLeastLeft(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	s, known := state.NewState(), 0
	for step := range 3000 {
		e := s.Edit()
		node, pod := fmt.Sprintf("node-%d", r.IntN(40)), fmt.Sprintf("pod-%d", r.IntN(300))
		var err error
		switch r.IntN(8) {
		case 0:
			e.Delete("Node", "", node)
		case 1, 2:
			err = e.Put(enginetest.Node(node, enginetest.Allocatable("cpu", fmt.Sprint(r.IntN(8)), "memory", fmt.Sprint(r.IntN(100)), "pods", fmt.Sprint(r.IntN(20)))))
		case 3:
			e.Delete("Pod", "default", pod)
		default:
			err = e.Put(enginetest.Pod(pod, enginetest.On(node), enginetest.Requests("cpu", fmt.Sprint(r.IntN(3)), "memory", fmt.Sprint(r.IntN(30)))))
		}
		if err != nil {
			t.Fatal(err)
		}
		s = e.Done()
		for _, row := range s.Nodes().Order() {
			c, u, least := s.Nodes().Capacity(int(row)), s.Use(int(row)), *s.LeastLeft(int(row))
			if least == (state.Left{}) {
				continue
			}
			known++
			left := c.Minus(&u.Amount)
			if least.CPU > left.CPU || least.Memory > left.Memory || least.Ephemeral > left.Ephemeral || least.Pods > c.Pods-int64(u.Pods) {
				t.Fatalf("step %d: row %d has %+v left, its block at least %+v", step, row, left, least)
			}
		}
	}
	if known == 0 {
		t.Fatal("no block knows what it has left")
	}
}
