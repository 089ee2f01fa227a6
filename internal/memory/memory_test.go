package memory

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"
)

// TestBudgetHeedsTheHeap: large amounts are not given where what is live leaves no room for them, and caches are dropped.
func TestBudgetHeedsTheHeap(t *testing.T) {
	dropped, cycle := make(chan struct{}, 2), uint64(0)
	b := &Budget{limit: 1 << 30, ceiling: 100 << 20, heap: func() (int64, uint64) { return 90 << 20, cycle }}
	b.OnPressure(func() { dropped <- struct{}{} })
	if b.fits(20<<20) || !b.fits(5<<20) || !b.fits(large-1) || b.Used() != 5<<20+large-1 {
		t.Errorf("%d are taken", b.Used())
	}
	<-dropped
	if b.fits(5 << 20) {
		t.Error("what was taken since the heap was measured does not count")
	}
	cycle++
	if !b.fits(3 << 20) {
		t.Error("what was taken before the heap was measured counts in full")
	}
	time.Sleep(20 * time.Millisecond)
	if len(dropped) != 0 {
		t.Error("caches are dropped again at once")
	}
}

func TestClaims(t *testing.T) {
	b := New(100)
	one, two := b.Claim(), b.Claim()
	ctx := With(t.Context(), one)
	if Of(ctx) != one || Take(ctx, 60) != nil || Take(t.Context(), 1000) != nil {
		t.Fatal("a claim")
	}
	if err := two.Take(t.Context(), 101); !errors.As(err, new(*NeverError)) {
		t.Errorf("never: %v", err)
	}
	if err := two.Take(t.Context(), 50); !errors.Is(err, ErrFull) {
		t.Errorf("not now: %v", err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if err := two.Take(gone, 50); !errors.Is(err, context.Canceled) {
		t.Errorf("the caller is gone: %v", err)
	}
	var group sync.WaitGroup
	group.Go(func() {
		if err := two.Grow(t.Context(), 90); err != nil {
			t.Error(err)
		}
	})
	time.Sleep(5 * time.Millisecond)
	one.End()
	group.Wait()
	if err := two.Grow(t.Context(), 80); err != nil || b.Used() != 90 {
		t.Error(err, b.Used())
	}
	part, end := Within(With(t.Context(), two))
	if err := Take(part, 10); err != nil || b.Used() != 100 {
		t.Error(err, b.Used())
	}
	end()
	if b.Used() != 90 {
		t.Errorf("%d are taken behind a part", b.Used())
	}
	ended := 0
	two.OnEnd(func() { ended++ })
	two.End()
	two.End()
	if ended != 1 {
		t.Errorf("the end is told %d times", ended)
	}
	if b.Used() != 0 {
		t.Errorf("%d are still taken", b.Used())
	}
}
