package groupcommit

import (
	"sync/atomic"
	"testing"
	"time"
)

// A figure read after an answer has that answer in it.
func TestObservedBeforeAnswered(t *testing.T) {
	var seen atomic.Int64
	g := NewGroup(&fakeWriter{}, Options{ObserveFunc: func(n int, _ time.Duration, _ error) {
		time.Sleep(2 * time.Millisecond)
		seen.Add(int64(n))
	}})
	for i := int64(1); i <= 3; i++ {
		if err := g.Commit(t.Context(), entry("a")); err != nil {
			t.Fatal(err)
		}
		if n := seen.Load(); n != i {
			t.Fatalf("%d entries were observed when %d were answered", n, i)
		}
	}
	closeGroup(t, g)
}
