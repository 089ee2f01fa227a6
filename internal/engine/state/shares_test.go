package state_test

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"berth/internal/engine/enginetest"
	"berth/internal/engine/state"
)

// TestShares holds the scores of blocks of nodes against the quotients that they stand for, of
// round amounts and others: whole percents have to be told from those next to them.
func TestShares(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	told, asked := 0, 0
	for round := range 400 {
		s, unit := state.NewState(), []int64{1, 10, 1000, 1 << 20}[r.IntN(4)]
		cpu, memory := 1+r.Int64N([]int64{10, 1000, 1 << 23, 1 << 24}[r.IntN(4)]), unit*(1+r.Int64N(1<<[]int{4, 10, 29}[r.IntN(3)]))
		e := s.Edit()
		for i := range 40 {
			offered := memory
			if i >= 16 && round%8 == 0 {
				offered += r.Int64N(2) // a block that may be mixed
			}
			name := fmt.Sprintf("node-%d", i)
			put(t, e, enginetest.Node(name, enginetest.Allocatable("cpu", milli(cpu), "memory", fmt.Sprint(offered))))
			if i%5 > 0 {
				pod := enginetest.Pod("on-"+name, enginetest.On(name), requests(r.Int64N(cpu+1+cpu/16), unit*r.Int64N(memory/unit+1+memory/unit/16)))
				put(t, e, pod)
			}
		}
		s = e.Done()
		for range 5 {
			pod := state.PodShares{CPU: r.Int64N(1 + cpu/2), Memory: unit * r.Int64N(1+memory/unit/2)}
			for at := 0; at < s.Nodes().Len(); at += state.BlockSize {
				var left, balanced [state.BlockSize]uint8
				notLeft := pod.PercentLeft(s.Shares(at), &left)
				notBalanced := pod.Balanced(s.Shares(at), &balanced)
				for k := range min(state.BlockSize, s.Nodes().Len()-at) {
					c, u := s.Nodes().Capacity(at+k), s.Use(at+k)
					asked++
					if notLeft>>k&1 == 0 {
						told++
						want := (100*(c.CPU-u.NonZeroCPU-pod.CPU)/c.CPU + 100*(c.Memory-u.NonZeroMem-pod.Memory)/c.Memory) / 2
						if int64(left[k]) != want {
							t.Fatalf("%d of %+v left, want %d of %+v, the pod %+v", left[k], c, want, u, pod)
						}
					}
					if notBalanced>>k&1 == 0 {
						after := state.Balance(u.CPU+pod.CPU, c.CPU, u.Memory+pod.Memory, c.Memory)
						if want := 50 + (50+after-(100-int64(u.Unbalanced)))/2; int64(balanced[k]) != want {
							t.Fatalf("a balance of %d on %+v, want %d with %+v, the pod %+v", balanced[k], c, want, u, pod)
						}
					}
				}
			}
		}
	}
	if told < asked/3 {
		t.Errorf("%d of %d nodes are told without a division", told, asked)
	}
}

// TestSharesOfMixedNodes has no shares for nodes that offer different amounts, and has them again
// once they do not.
func TestSharesOfMixedNodes(t *testing.T) {
	e := state.NewState().Edit()
	offer := func(memory string) {
		put(t, e, enginetest.Node("b", enginetest.Allocatable("cpu", "4", "memory", memory)))
	}
	put(t, e, enginetest.Node("a", enginetest.Allocatable("cpu", "4", "memory", "8000")))
	offer("8000")
	put(t, e, enginetest.Pod("p", enginetest.On("a"), requests(100, 1000)))
	for _, c := range []struct {
		memory  string
		unknown int
	}{{"8000", 0}, {"9000", 2}, {"8000", 0}} {
		offer(c.memory)
		s := e.Done()
		pod := state.PodShares{CPU: 1, Memory: 1}
		if rest := pod.PercentLeft(s.Shares(0), new([state.BlockSize]uint8)); bits.OnesCount16(rest&3) != c.unknown {
			t.Errorf("memory of %s: %b are not known", c.memory, rest&3)
		}
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
