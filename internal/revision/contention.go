package revision

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"time"
)

const (
	// tries is how often a write is retried after a conflict. The caller's context bounds it too.
	tries = 50
	// longestPause bounds the random pause before another try.
	longestPause = 64 * time.Millisecond
	// contended is how long after a conflict writes of a chain take the store's lock.
	contended = time.Second
	// holdLock is how long writes are begun under one lock of the store.
	holdLock = 25 * time.Millisecond
)

// retry runs a write again after a conflict. A write that named its parent then finds that it is
// not the newest any more.
func retry(ctx context.Context, once func() error) error {
	for n := range tries {
		err := once()
		var lost *lostError
		if !errors.As(err, &lost) || n == tries-1 {
			return err
		}
		pause := time.NewTimer(rand.N(min(time.Millisecond<<min(n, 10), longestPause)))
		select {
		case <-pause.C:
		case <-ctx.Done():
			pause.Stop()
			// Nothing was written, and the call was not refused: it has only ended.
			return fmt.Errorf("%w, after %s", context.Cause(ctx), err.Error())
		}
	}
	return nil
}

// lockStore takes the store's lock of the cluster while other processes write to it. Writes that
// are pipelined on a refused revision are refused with it, and their process would be late the next
// time too. So after a conflict the processes take the lock in turn: the holder reads what it
// missed, writes for all its callers at once, and releases the lock. The caller holds the chain's
// writer token. If the lock cannot be had, writes go on without it, and some are refused.
func (m *Manager) lockStore(ctx context.Context, l *chain) error {
	for range 2 {
		if s := l.state.Load(); s.contention.ready(time.Now()) {
			return nil
		}
		// The last write in flight releases the lock of before.
		if err := m.quiet(ctx, l); err != nil {
			return err
		}
	}
	m.unlockStore(l)
	release, err := m.st.LockChain(ctx, l.name)
	if err != nil {
		m.o.Log.Debug("the lock of the cluster was not acquired", slog.String("cluster", l.name), slog.Any("error", err))
		return ctx.Err()
	}
	s, _ := m.apply(l, locked{&storeLock{release: release, ends: time.Now().Add(holdLock)}})
	head, _, err := m.head(ctx, l)
	if err != nil {
		return nil // the write that needs it gets the error
	}
	if before := s.views().durable; before != nil && head.Revision != before.Revision {
		m.apply(l, contested{time.Now()})
	}
	return nil
}

// quiet returns once no write of the chain is in flight. The caller holds the chain's writer token.
func (m *Manager) quiet(ctx context.Context, l *chain) error {
	s, e := m.apply(l, quieted{make(chan struct{})})
	if e.stale {
		return nil
	}
	select {
	case <-s.quiet:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// unlockStore releases the lock if no write under it is in flight.
func (m *Manager) unlockStore(l *chain) {
	if l.state.Load().contention.lock == nil {
		return
	}
	if _, e := m.apply(l, unlocked{}); e.release != nil {
		e.release()
	}
}
