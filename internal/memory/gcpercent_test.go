package memory

import (
	"runtime"
	"testing"
	"time"
)

func TestGCPercent(t *testing.T) {
	sets := 0
	p := &gcPercent{percent: defaultPercent, set: func(int) int { sets++; return 0 }}
	for _, test := range []struct {
		live int64 // MiB
		want int
		set  bool
	}{
		{0, 400, true},
		{20, 400, false},
		{32, 300, true},
		{33, 300, false}, // 287 is not worth it
		{50, 156, true},
		{63, 103, true},
		{64, 100, true},
		{80, 100, false},
		{5000, 100, false},
		{1, 400, true},
	} {
		sets = 0
		if p.adjust(test.live<<20, 128<<20); p.percent != test.want || (sets == 1) != test.set {
			t.Errorf("%d MiB: %d percent, want %d; set %d times", test.live, p.percent, test.want, sets)
		}
	}
}

// TestGCPercentFollowsCollections: it is looked at after every collection, not only the first.
func TestGCPercentFollowsCollections(t *testing.T) {
	set := make(chan int, 8)
	p := &gcPercent{percent: defaultPercent}
	p.set = func(percent int) int {
		p.percent = defaultPercent // so that it is set again
		set <- percent
		return 0
	}
	p.afterCollection()
	for i := range 3 {
		if i > 0 {
			runtime.GC()
		}
		select {
		case got := <-set:
			if got != mostPercent {
				t.Fatalf("%d percent", got)
			}
		case <-time.After(10 * time.Second):
			t.Fatal("not looked at after a collection")
		}
	}
}

func TestGCPercentOfTheEnvironmentStays(t *testing.T) {
	t.Setenv("GOGC", "50")
	if RaiseGCPercent() {
		t.Error("it was changed")
	}
}
