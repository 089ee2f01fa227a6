package memory

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"
)

// fakeRuntime is a heap that tests set.
type fakeRuntime struct {
	mu                         sync.Mutex
	live, allocated, held      int64
	limit                      int64
	collected, released, freed int // freed: how much garbage a collection finds
}

func (r *fakeRuntime) heap() (live, allocated int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.live, r.allocated
}

func (r *fakeRuntime) mapped() int64 { return r.held }

func (r *fakeRuntime) collect() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.collected++
	r.allocated -= int64(r.freed)
	r.freed = 0
	r.live = r.allocated
}

func (r *fakeRuntime) release()         { r.released++ }
func (r *fakeRuntime) setLimit(n int64) { r.limit = n }

// TestBudgetHeedsTheHeap: large amounts are not given where the heap leaves no room for them.
// Garbage is found first, and caches are dropped where what is live leaves none.
func TestBudgetHeedsTheHeap(t *testing.T) {
	rt := &fakeRuntime{live: 40 << 20, allocated: 72 << 20, freed: 40 << 20}
	b := &Budget{limit: 1 << 30, total: 100 << 20, rt: rt}
	dropped := make(chan struct{}, 2)
	b.OnPressure(func() { dropped <- struct{}{} })
	if !b.fits(3<<20) || !b.fits(large-1) || b.fits(10<<20) || b.Used() != 3<<20+large-1 {
		t.Errorf("%d are taken", b.Used())
	}
	fitsSoon(t, b, 10<<20)
	if len(dropped) != 0 || rt.collected != 1 {
		t.Errorf("caches are dropped for garbage; %d collections", rt.collected)
	}
	// 32 MiB are on the heap, and half of 14 taken is not yet.
	for began := time.Now(); len(dropped) == 0; time.Sleep(time.Millisecond) {
		if b.fits(37<<20) || time.Since(began) > 5*time.Second {
			t.Fatal("what others have taken does not count, or no cache is dropped")
		}
	}
	<-dropped
	fitsSoon(t, b, 30<<20)
	if len(dropped) != 0 {
		t.Error("caches are dropped again at once")
	}
}

// fitsSoon takes what fits once a collection has run.
func fitsSoon(t *testing.T, b *Budget, n int64) {
	t.Helper()
	for began := time.Now(); !b.fits(n); {
		if time.Since(began) > 5*time.Second {
			t.Fatalf("%d never fit", n)
		}
		time.Sleep(time.Millisecond)
	}
}

// TestOutside: what the collector does not know lowers its limit for as long as it is taken, and
// the runtime gives back what it holds beyond.
func TestOutside(t *testing.T) {
	rt := &fakeRuntime{held: 70 << 20}
	b := &Budget{limit: 1 << 30, total: 100 << 20, rt: rt}
	c := b.Claim()
	ctx := With(t.Context(), c)
	if err := TakeOutside(ctx, 20<<20); err != nil || rt.limit != 80<<20 || rt.released != 0 {
		t.Errorf("%v; the limit is %d, released %d times", err, rt.limit, rt.released)
	}
	if err := TakeOutside(ctx, 40<<20); err != nil || rt.limit != 40<<20 || rt.released != 1 {
		t.Errorf("%v; the limit is %d, released %d times", err, rt.limit, rt.released)
	}
	if b.fits(20 << 20) { // of the 30 that the ceiling is now, 30 are taken half
		t.Error("the ceiling does not follow the limit")
	}
	c.End()
	if rt.limit != 100<<20 || b.Used() != 0 || !b.fits(70<<20) {
		t.Errorf("the limit is %d, and %d are taken", rt.limit, b.Used())
	}
	if err := TakeOutside(t.Context(), 1<<40); err != nil {
		t.Errorf("without a claim: %v", err)
	}
}

// slowRuntime takes its time to release memory.
type slowRuntime struct {
	fakeRuntime
	begun, end chan struct{}
}

func (r *slowRuntime) release() {
	r.begun <- struct{}{}
	<-r.end
}

// TestGiveBack: what a large request leaves goes back to the system, once at a time.
func TestGiveBack(t *testing.T) {
	rt := &slowRuntime{begun: make(chan struct{}, 3), end: make(chan struct{})}
	b := &Budget{limit: 1 << 30, rt: rt}
	spend := func(n int64) {
		c := b.Claim()
		if err := c.Take(t.Context(), n); err != nil {
			t.Fatal(err)
		}
		c.End()
	}
	spend(huge - 1)
	spend(huge)
	select {
	case <-rt.begun:
	case <-time.After(5 * time.Second):
		t.Fatal("memory is never released")
	}
	spend(huge) // while the first is under way
	rt.end <- struct{}{}
	for began := time.Now(); len(rt.begun) == 0; time.Sleep(time.Millisecond) {
		if time.Since(began) > 5*time.Second {
			t.Fatal("memory is released once only")
		}
		spend(huge)
	}
	rt.end <- struct{}{}
	if len(rt.begun) != 1 {
		t.Errorf("released %d times at once", len(rt.begun))
	}
}

func TestClaims(t *testing.T) {
	b := New(112) // 100, and a reserve of 12
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
	// What a request and its parts hold together can never be more than the budget.
	if err := Take(part, 1); !errors.As(err, new(*NeverError)) {
		t.Errorf("a part beyond the budget: %v", err)
	}
	if err := two.Take(t.Context(), 1); !errors.As(err, new(*NeverError)) {
		t.Errorf("the whole beyond the budget: %v", err)
	}
	inner, endInner := Within(part)
	if err := Take(inner, 1); !errors.As(err, new(*NeverError)) {
		t.Errorf("a part of a part beyond the budget: %v", err)
	}
	endInner()
	end()
	if err := two.Take(t.Context(), 0); err != nil || b.Used() != 90 {
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
