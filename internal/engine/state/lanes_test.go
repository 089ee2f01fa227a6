package state

import (
	"math/rand/v2"
	"testing"
)

// TestLaneSums compares what is done with four rows at a time with one after the other.
func TestLaneSums(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 2000 {
		var sums LaneSums
		var got, want [ChunkSize]int64
		var add [ChunkSize]int64
		for k := range got {
			got[k] = r.Int64N(1000) - 500
		}
		want = got
		left := uint64(127) // the largest weight that keeps 255 points below a guard
		for range 1 + r.IntN(8) {
			var of [ChunkSize]uint8
			weight := r.Uint64N(left + 1)
			left -= weight
			for k := range of {
				of[k] = uint8(255 - r.IntN(256)*r.IntN(2))
				add[k] += int64(weight) * int64(of[k])
			}
			sums.AddBytes(&of, weight)
		}
		classes, all := []uint64{r.Uint64N(50), r.Uint64N(50), r.Uint64N(50)}, r.Int64N(50)
		of := make([]int32, ChunkSize-r.IntN(ChunkSize))
		for k := range of {
			of[k] = int32(r.IntN(len(classes))) - 1
			add[k] += int64(classes[of[k]+1])
		}
		sums.AddClasses(of, classes)
		sums.AddAll(uint64(all))
		for k := range want {
			add[k] += all
			if r.IntN(4) == 0 {
				less := r.Int64N(add[k] + 1)
				add[k] -= less
				sums.Add(k, -less)
			}
			want[k] += add[k]
		}
		if sums.AddTo(&got); got != want {
			t.Fatalf("%v, want %v", got, want)
		}
		rows := r.Uint64() & r.Uint64()
		least, most, equal, any := add[r.IntN(ChunkSize)]+r.Int64N(2), int64(0), uint64(0), false
		for k, n := range add {
			if rows>>k&1 == 1 {
				most = max(most, n)
			}
			if n == least {
				equal |= 1 << k
			}
			any = any || n >= least
		}
		if got := sums.Most(rows); got != most {
			t.Fatalf("at most %d of %v in %b, want %d", got, add, rows, most)
		}
		if got := sums.Equal(uint64(least)); got != equal {
			t.Fatalf("%b of %v are %d, want %b", got, add, least, equal)
		}
		if got := sums.AnyFrom(uint64(least)); got != any {
			t.Fatalf("one of %v from %d on: %v", add, least, got)
		}
	}
}
