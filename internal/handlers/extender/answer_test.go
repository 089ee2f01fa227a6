package extender

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestPriorities holds what docs/extender.md promises of the scores of /prioritize, for totals as
// they come: close to each other, far apart, equal, and nodes that do not fit (-1 here).
func TestPriorities(t *testing.T) {
	for _, c := range []struct{ totals, want []int64 }{
		{[]int64{472, 471, 447, 423}, []int64{10, 9, 7, 5}}, // a step of 10 points: the least
		{[]int64{600, 400, 301, 300, 100}, []int64{10, 6, 4, 4, 0}},
		{[]int64{700, 700, 699}, []int64{10, 10, 9}},
		{[]int64{100, 0}, []int64{10, 0}},
		{[]int64{0, 0}, []int64{10, 10}},
		{[]int64{-1, 5, -1}, []int64{0, 10, 0}},
		{[]int64{-1, 500, 450}, []int64{0, 10, 5}}, // a node that does not fit is no lowest
		{[]int64{-1}, []int64{0}},
	} {
		got := slices.Clone(c.totals)
		priorities(got)
		if !slices.Equal(got, c.want) {
			t.Errorf("%v: %v, want %v", c.totals, got, c.want)
		}
	}
	rng := rand.New(rand.NewPCG(7, 7))
	for range 20_000 {
		totals := make([]int64, 1+rng.IntN(30))
		base, width := rng.Int64N(1000), 1+rng.Int64N([]int64{3, 40, 120, 900}[rng.IntN(4)])
		highest := int64(-1)
		for i := range totals {
			totals[i] = base + rng.Int64N(width)
			if rng.IntN(6) == 0 {
				totals[i] = -1
			}
			highest = max(highest, totals[i])
		}
		got := slices.Clone(totals)
		priorities(got)
		for i, a := range totals {
			switch {
			case got[i] < 0 || got[i] > 10:
				t.Fatalf("%v: %v is not in 0..10", totals, got)
			case a < 0 && got[i] != 0:
				t.Fatalf("%v: %v scores what does not fit", totals, got)
			case a >= 0 && (got[i] == 10) != (a == highest):
				t.Fatalf("%v: %v: the best get 10, and only they", totals, got)
			}
			for j, b := range totals {
				if a < 0 || b < 0 {
					continue
				}
				switch {
				case a == b && got[i] != got[j], a > b && got[i] < got[j]:
					t.Fatalf("%v: %v is not in the order of the totals", totals, got)
				case a > b && 10*(got[i]-got[j]) >= a-b+10: // what kube-scheduler makes of it at weight 1
					t.Fatalf("%v: %v multiplies the difference of %d and %d", totals, got, a, b)
				}
			}
		}
	}
}
