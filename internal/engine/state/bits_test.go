package state

import (
	"iter"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestRuns: the runs of a set hold its rows, in order, and each row once.
func TestRuns(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, density := range []int{0, 1, 50, 99, 100} {
		for range 100 {
			b := NewBits(1 + r.IntN(300))
			for row := range len(b) * ChunkSize {
				if r.IntN(100) < density {
					b.Set(row)
				}
			}
			for bits, runs := range map[int]iter.Seq2[int, int]{ChunkBits: b.Runs(), blockBits: b.BlockRuns()} {
				var got []int
				last := -1
				for from, to := range runs {
					if from <= last || to <= from || from>>bits != (to-1)>>bits {
						t.Fatalf("run [%d, %d) after row %d", from, to, last)
					}
					for row := from; row < to; row++ {
						got = append(got, row)
					}
					last = to - 1
				}
				if want := slices.Collect(b.All()); !slices.Equal(got, want) {
					t.Fatalf("runs hold %v, the set %v", got, want)
				}
			}
		}
	}
}
