package state

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// TestFitting compares Fitting with one look at each pod after the other, and Wraps with sums that
// do not overflow.
func TestFitting(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	found := 0
	for range 20_000 {
		s, pods := NewState(), make([]*Pod, r.IntN(12))
		below, total := false, new(big.Int)
		for i := range pods {
			a := Amount{CPU: r.Int64N(4), Memory: r.Int64N(4), Ephemeral: r.Int64N(2)}
			switch r.IntN(100) {
			case 0:
				a.Memory, below = -1, true
			case 1:
				a.CPU = math.MaxInt64 / 2
			}
			total.Add(total, big.NewInt(a.CPU))
			pods[i] = &Pod{Class: &Class{Shape: &Shape{}, Counted: Counted{Request: Request{Amount: a}}}}
			s.t.addClass(fmt.Sprint(i), pods[i].Class)
		}
		k, classes := s.ranking(&PodList{n: len(pods), parts: []podPart{{pods: pods}}}, 0), s.ClassColumns()
		if wraps := below || !total.IsInt64(); k.Wraps() != wraps {
			t.Fatalf("Wraps is %v, want %v", k.Wraps(), wraps)
		}
		if k.Wraps() {
			continue
		}
		from := r.IntN(len(pods) + 1)
		most, room := r.Int64N(14), Amount{CPU: r.Int64N(20), Memory: r.Int64N(20), Ephemeral: math.MaxInt64 / 2}
		want, left := 0, room
		for _, p := range k.Pods[from:] {
			a := p.Class.Request.Amount
			if int64(want) >= most || !a.fits(left) {
				break
			}
			left = Amount{left.CPU - a.CPU, left.Memory - a.Memory, left.Ephemeral - a.Ephemeral}
			want++
		}
		sum := k.SumFrom(from, &classes)
		got, kept := k.Fitting(from, most, room, sum, &classes)
		if got != want {
			t.Fatalf("%d of %d pods fit into %v, want %d", got, len(pods)-from, room, want)
		}
		if rest := k.SumFrom(from+got, &classes); kept != sum.Minus(&rest) {
			t.Fatalf("%d pods sum up to %v, want %v less %v", got, kept, sum, rest)
		}
		found += got
	}
	if found == 0 {
		t.Fatal("no pods fitted")
	}
}
