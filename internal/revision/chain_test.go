package revision

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"berth/internal/kube/object"
	"berth/internal/store"
)

// TestReadersTakeNoLock: what is in memory is read while a writer works and while chains are
// dropped.
func TestReadersTakeNoLock(t *testing.T) {
	h, _ := gated(t)
	l := h.chainInMemory("prod")
	if err := l.lock(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer l.unlock()
	h.mu.Lock()
	defer h.mu.Unlock()
	done := make(chan error, 1)
	go func() {
		v, err := h.View(context.Background(), "prod", 0)
		if err == nil && (v.Revision != 1 || len(h.Held()) != 1) {
			err = errors.New("another view")
		}
		done <- err
	}()
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Error("a reader waits for a lock")
	}
}

// TestDeletedOnceWritesHaveEnded: the delete of a cluster waits for writes in flight, those whose
// head was given up too.
func TestDeletedOnceWritesHaveEnded(t *testing.T) {
	h, g := gated(t)
	hold := make(chan struct{})
	release := sync.OnceFunc(func() { close(hold) })
	defer release()
	g.set(hold)
	written := make(chan error, 1)
	go func() {
		_, err := h.Change(context.Background(), "prod", 0, []object.Object{pod(t, "late", "n1")}, nil)
		written <- err
	}()
	l := h.chainInMemory("prod")
	waitFor(t, func() bool { return l.state.Load().inFlight == 1 })
	h.apply(l, outdated{l.state.Load().epoch})
	short, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := h.DeleteCluster(short, "prod"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("deleted with a write in flight: %v", err)
	}
	release()
	if err := <-written; err != nil {
		t.Error(err)
	}
	if err := h.DeleteCluster(t.Context(), "prod"); err != nil {
		t.Error(err)
	}
	if n := h.countChains(); n != 0 {
		t.Errorf("%d chains are left", n)
	}
}

// TestMessagesAtOnce: of messages that come at once none is lost.
func TestMessagesAtOnce(t *testing.T) {
	h, _ := gated(t)
	l := h.chainInMemory("prod")
	epoch := l.state.Load().epoch
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 1000 {
				if _, e := h.apply(l, begun{epoch}); e.stale {
					t.Error("the epoch has changed")
				}
			}
		})
	}
	wg.Wait()
	if n := l.state.Load().inFlight; n != 8000 {
		t.Errorf("%d of 8000 messages are counted", n)
	}
}

// TestRetryEndsWithItsCaller: a caller that goes while its write waits for another try is not
// refused. An answer of 409 would be kept for its repetitions.
func TestRetryEndsWithItsCaller(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := retry(ctx, func() error {
		return &lostError{store.ErrConflict}
	})
	if !errors.Is(err, context.Canceled) || errors.Is(err, store.ErrConflict) {
		t.Error(err)
	}
}
