package engine

import (
	"math/rand/v2"
	"testing"

	"berth/internal/engine/state"
)

// TestAddLanes compares the sums of eight rows at a time with those of one after the other.
func TestAddLanes(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 2000 {
		list := make([]byteColumn, 1+r.IntN(8))
		left := int64(257) // the largest weight that keeps 255 points in 16 bits
		var got, want [state.ChunkSize]int64
		for k := range got {
			got[k] = r.Int64N(1000) - 500
		}
		want = got
		for i := range list {
			c := &list[i]
			c.norm, c.weight = make([]uint8, 2*state.ChunkSize), r.Int64N(min(left, 256))
			left -= c.weight
			for k := range c.norm {
				c.norm[k] = uint8(255 - r.IntN(256)*r.IntN(2))
			}
			for k, n := range c.norm[state.ChunkSize:] {
				want[k] += c.weight * int64(n)
			}
		}
		if addLanes(&got, list, state.ChunkSize); got != want {
			t.Fatalf("%v, want %v", got, want)
		}
	}
}
