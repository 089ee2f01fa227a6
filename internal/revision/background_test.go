package revision

import (
	"sync"
	"sync/atomic"
	"testing"
)

// TestBackgroundWhileWaiting begins goroutines while others wait for none, as a call does that ends
// while its manager is closed. The race detector reports a sync.WaitGroup here.
func TestBackgroundWhileWaiting(t *testing.T) {
	var b background
	var ended atomic.Int64
	var callers sync.WaitGroup
	const each = 500
	for range 4 {
		callers.Go(func() {
			for range each {
				b.Go(func() { ended.Add(1) })
				b.Wait()
			}
		})
	}
	callers.Wait()
	b.Wait()
	if n := ended.Load(); n != 4*each {
		t.Errorf("%d goroutines ended before Wait returned, of %d", n, 4*each)
	}
}

// TestBackgroundWaits holds a goroutine that begins another, and looks that Wait outlasts both.
func TestBackgroundWaits(t *testing.T) {
	var b background
	held, waited := make(chan struct{}), make(chan struct{})
	var ended atomic.Bool
	b.Go(func() {
		<-held
		b.Go(func() { ended.Store(true) })
	})
	go func() {
		defer close(waited)
		b.Wait()
		if !ended.Load() {
			t.Error("Wait returned before the second goroutine had ended")
		}
	}()
	close(held)
	<-waited
}
