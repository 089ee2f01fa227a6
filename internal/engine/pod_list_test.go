package engine_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"berth/internal/engine/state"
	"berth/test/enginetest"
)

// TestLongLists puts, moves and deletes pods of one crowded node and compares the state with one
// that is made of what is left, in one edit and in several.
func TestPodLists(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 1))
		base := []any{enginetest.Node("n1"), enginetest.Node("n2")}
		e := state.NewState().Edit()
		for _, o := range base {
			if err := e.Put(o); err != nil {
				t.Fatal(err)
			}
		}
		left := map[string]any{}
		for range 3000 {
			name := fmt.Sprintf("p%03d", r.IntN(900))
			switch r.IntN(20) {
			case 0, 1, 2, 3, 4:
				e.Delete("Pod", "default", name)
				delete(left, name)
			case 5:
				if r.IntN(20) == 0 {
					e.Delete("Node", "", "n1")
					if err := e.Put(base[0]); err != nil {
						t.Fatal(err)
					}
				}
			case 6:
				e = e.Done().Edit()
			default:
				p := enginetest.Pod(name, enginetest.On([]string{"n1", "n1", "n2"}[r.IntN(3)]))
				if r.IntN(2) == 0 {
					p = enginetest.Pod(name)
					p.Status.NominatedNodeName = "n1"
				}
				if err := e.Put(p); err != nil {
					t.Fatal(err)
				}
				left[name] = p
			}
		}
		got := e.Done()
		all := append([]any{}, base...)
		for _, p := range left {
			all = append(all, p)
		}
		want, err := enginetest.State(all...)
		if err != nil {
			t.Fatal(err)
		}
		for row := range 2 {
			names := func(s *state.State, row int) (out string) {
				for p := range s.PodsOn(row).All() {
					out += p.Name + " "
				}
				return out
			}
			node := fmt.Sprintf("n%d", row+1)
			if a, b := names(got, got.Nodes().Row(node)), names(want, want.Nodes().Row(node)); a != b {
				t.Fatalf("seed %d, %s: %s, want %s", seed, node, a, b)
			}
		}
		nominated := func(s *state.State) (out string) {
			for p := range s.NominatedPods().All() {
				out += p.Name + " "
			}
			return out
		}
		if a, b := nominated(got), nominated(want); a != b {
			t.Fatalf("seed %d: nominated %s, want %s", seed, a, b)
		}
	}
}

// BenchmarkCrowdedNode fills one node; time per pod must not grow with their number.
func BenchmarkCrowdedNode(b *testing.B) {
	for _, n := range []int{2_000, 20_000, 200_000} {
		pods := make([]any, n)
		for i := range pods {
			pods[i] = enginetest.Pod(fmt.Sprintf("p%d", (i*7919)%n), enginetest.On("n1"))
		}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				e := state.NewState().Edit()
				_ = e.Put(enginetest.Node("n1"))
				for _, p := range pods {
					if err := e.Put(p); err != nil {
						b.Fatal(err)
					}
				}
				e.Done()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/pod")
		})
	}
}
