package groupcommit

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// TestStalledStoreHoldsCallersBack: a store that stands still has its callers
// wait and go, not memory grow: no more entries are held than the queue and one
// batch, and no caller is left behind.
func TestStalledStoreHoldsCallersBack(t *testing.T) {
	w := &fakeWriter{began: make(chan int, 4096), gate: make(chan struct{})}
	const queue, batch, callers = 8, 4, 500
	g := NewGroup(w, Options{MaxBatch: batch, Queue: queue})
	submit(t, g, "first")
	<-w.began
	held := goleak.IgnoreCurrent()
	ctx, cancel := context.WithCancel(t.Context())
	var accepted, refused atomic.Int64
	var group, entered sync.WaitGroup
	entered.Add(callers)
	for i := range callers {
		group.Go(func() {
			entered.Done()
			if _, err := g.Submit(ctx, entry(fmt.Sprint(i))); err == nil {
				accepted.Add(1)
			} else if errors.Is(err, ErrQueueFull) {
				refused.Add(1)
			} else {
				t.Errorf("Submit: %v", err)
			}
		})
	}
	entered.Wait()
	for g.Depth() < queue {
		runtime.Gosched()
	}
	cancel() // the callers' deadlines
	group.Wait()
	if a, r := accepted.Load(), refused.Load(); a != queue || a+r != callers || g.Depth() != queue {
		t.Errorf("%d accepted and %d refused of %d, %d in a queue of %d", a, r, callers, g.Depth(), queue)
	}
	// A caller's goroutine ends a moment after its group has let go of it.
	for begun := time.Now(); ; {
		err := goleak.Find(held)
		if err == nil {
			break
		}
		if time.Since(begun) > time.Minute {
			t.Fatal(err)
		}
	}
	close(w.gate)
	closeGroup(t, g)
	if n := len(w.written()); n != 1+queue {
		t.Errorf("%d written, want what was accepted", n)
	}
}
