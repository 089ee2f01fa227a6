package state_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"berth/internal/engine/state"
	"berth/test/enginetest"
)

// TestShares holds the scores of blocks of nodes against the quotients that they stand for, of
// round amounts and others: whole percents have to be told from those next to them.
func TestShares(t *testing.T) {
	for _, kind := range []struct {
		name string
		told int // of a hundred scores, without a division
		// differ changes the amounts of a node from those of all.
		differ func(r *rand.Rand, i int, cpu, memory *int64)
	}{
		{"alike", 80, func(*rand.Rand, int, *int64, *int64) {}},
		{"memory", 80, func(r *rand.Rand, _ int, _, memory *int64) { *memory += r.Int64N(1 + *memory/64) }},
		{"sizes", 70, func(_ *rand.Rand, i int, cpu, memory *int64) { *cpu, *memory = *cpu<<(i%3), *memory<<(i%3)+int64(i) }},
		{"strange", 10, func(r *rand.Rand, _ int, cpu, memory *int64) {
			if r.IntN(8) == 0 {
				*cpu = []int64{0, 1, 2, 3, 1 << 50}[r.IntN(5)]
			}
			if r.IntN(8) == 0 {
				*memory = []int64{0, 1, 2, 3, 1 << 48, 1<<48 + 1, 1 << 62}[r.IntN(7)]
			}
		}},
	} {
		t.Run(kind.name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(7, 8))
			told, asked := 0, 0
			for range 300 {
				unit := []int64{1, 10, 1000, 1 << 20}[r.IntN(4)]
				cpu, memory := 100+r.Int64N([]int64{10, 1000, 1 << 16, 1 << 24}[r.IntN(4)]), unit*(100+r.Int64N(1<<[]int{4, 10, 29}[r.IntN(3)]))
				e := state.NewState().Edit()
				for i := range 40 {
					name, c, m := fmt.Sprintf("node-%d", i), cpu, memory
					kind.differ(r, i, &c, &m)
					put(t, e, enginetest.Node(name, enginetest.Allocatable("cpu", milli(c), "memory", fmt.Sprint(m))))
					for range i % 5 { // in all at times more than the node offers
						pod := enginetest.Pod(fmt.Sprintf("on-%s-%d", name, r.IntN(1<<30)), enginetest.On(name), requests(r.Int64N(cpu/3+1), unit*r.Int64N(memory/unit/3+1)))
						if i%10 == 9 {
							pod.Spec.Containers[0].Resources.Requests = nil // counts for LeastAllocated alone
						}
						put(t, e, pod)
					}
				}
				s := e.Done()
				for range 5 {
					a, b := compareShares(t, s, r.Int64N(1+cpu/2), unit*r.Int64N(1+memory/unit/2))
					told, asked = told+a, asked+b
				}
			}
			if told*100 < asked*kind.told {
				t.Errorf("%d of %d scores are told without a division", told, asked)
			}
		})
	}
}

// compareShares compares the scores of all nodes that are told, with a pod.
func compareShares(t *testing.T, s *state.State, cpu, memory int64) (told, asked int) {
	t.Helper()
	least := func(requested, capacity int64) int64 {
		if requested > capacity {
			return 0
		}
		return 100 * (capacity - requested) / capacity
	}
	pod := state.NewPodShares(cpu, memory)
	for at := 0; at < s.Nodes().Len(); at += state.BlockSize {
		var left, balanced [state.BlockSize]uint8
		notLeft, notBalanced := pod.PercentLeft(s, at, &left), pod.Balanced(s, at, &balanced)
		for k := range min(state.BlockSize, s.Nodes().Len()-at) {
			c, u := s.Nodes().Capacity(at+k), s.Use(at+k)
			asked += 2
			if notLeft>>k&1 == 0 {
				told++
				want := (least(u.NonZeroCPU+cpu, c.CPU) + least(u.NonZeroMem+memory, c.Memory)) / 2
				if int64(left[k]) != want {
					t.Fatalf("%d of %+v left, want %d of %+v, the pod %d, %d", left[k], c, want, u, cpu, memory)
				}
			}
			if notBalanced>>k&1 == 0 {
				told++
				after := state.Balance(u.CPU+cpu, c.CPU, u.Memory+memory, c.Memory)
				if want := 50 + (50+after-(100-int64(u.Unbalanced)))/2; int64(balanced[k]) != want {
					t.Fatalf("a balance of %d on %+v, want %d with %+v, the pod %d, %d", balanced[k], c, want, u, cpu, memory)
				}
			}
		}
	}
	return told, asked
}

// TestSharesFollowTheNodes has the shares of what nodes offer now, with pods and without any.
func TestSharesFollowTheNodes(t *testing.T) {
	e := state.NewState().Edit()
	for _, memory := range []string{"8000", "9000", "8000", "0", "7000"} {
		put(t, e, enginetest.Node("a", enginetest.Allocatable("cpu", "4", "memory", "8000")))
		put(t, e, enginetest.Node("b", enginetest.Allocatable("cpu", "4", "memory", memory)))
		s := e.Done()
		if told, _ := compareShares(t, s, 7, 77); told < 2 {
			t.Errorf("memory of %s: %d scores are told", memory, told)
		}
		e = s.Edit()
		put(t, e, enginetest.Pod("p"+memory, enginetest.On("a"), requests(101, 1001)))
		put(t, e, enginetest.Pod("q"+memory, enginetest.On("b"), requests(71, 701)))
		s = e.Done()
		compareShares(t, s, 7, 77)
		e = s.Edit()
	}
}

func put(t *testing.T, e *state.Edit, object any) {
	t.Helper()
	if err := e.Put(object); err != nil {
		t.Fatal(err)
	}
}

func milli(n int64) string { return fmt.Sprintf("%dm", n) }

func requests(cpu, memory int64) enginetest.PodOption {
	return func(p *corev1.Pod) {
		p.Spec.Containers[0].Resources.Requests = corev1.ResourceList{
			corev1.ResourceCPU: *resource.NewMilliQuantity(cpu, resource.DecimalSI), corev1.ResourceMemory: *resource.NewQuantity(memory, resource.BinarySI),
		}
	}
}
