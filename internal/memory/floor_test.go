package memory

import (
	"runtime"
	"testing"
	"time"
)

func TestPercentFor(t *testing.T) {
	const mib = 1 << 20
	tests := []struct {
		most, live, scanned int64
		want                int
	}{
		{64 * mib, 0, 0, 100},          // before the first collection
		{64 * mib, mib / 4, mib, 1600}, // the runtime's 4 MiB become 64
		{64 * mib, 4 * mib, 4 * mib, 1500},
		{64 * mib, 10 * mib, 12 * mib, 450}, // 54 MiB of garbage
		{64 * mib, 32 * mib, 32 * mib, 100},
		{64 * mib, 40 * mib, 41 * mib, 100},
		{64 * mib, 80 * mib, 81 * mib, 100},
	}
	for _, tt := range tests {
		if got := percentFor(tt.most, tt.live, tt.scanned); got != tt.want {
			t.Errorf("percentFor(%d, %d, %d) = %d, want %d", tt.most, tt.live, tt.scanned, got, tt.want)
		}
	}
}

// TestGrowSmall has a small heap grow, and go on to grow after collections.
func TestGrowSmall(t *testing.T) {
	t.Setenv("GOGC", "")
	GrowSmall()
	for range 3 {
		runtime.GC()
		deadline := time.Now().Add(10 * time.Second)
		for {
			goal, _ := read("/gc/heap/goal:bytes", "/gc/heap/live:bytes")
			if goal > smallHeap/2 && goal < smallHeap*5/4 {
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("the next collection is at %d bytes, want about %d", goal, smallHeap)
			}
			time.Sleep(time.Millisecond)
		}
	}
}
