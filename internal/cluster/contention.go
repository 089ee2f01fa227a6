package cluster

import (
	"context"
	"errors"
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
			return err // nothing was written
		}
	}
	return nil
}

// contention is the state of a chain that other processes write to at the same time. Writes that
// are pipelined on a refused revision are refused with it, and their process would be late the next
// time too. So after a conflict the processes take the store's lock of the cluster in turn: the
// holder reads what it missed, writes for all its callers at once, and releases the lock.
type contention struct {
	until time.Time // writes take the lock until then
	end   func()    // releases the lock that this chain holds; nil: none
	ends  time.Time // no write is begun under the lock after that
	quiet chan struct{}
}

func (c *contention) lost() { c.until = time.Now().Add(contended) }

// lockStore takes the store's lock of the cluster while there is contention. The caller holds the
// chain's writer token. If the lock cannot be had, writes go on without it, and some are refused.
func (m *Manager) lockStore(ctx context.Context, l *chain) error {
	for {
		l.mu.Lock()
		now := time.Now()
		have, over := l.contention.end != nil, now.After(l.contention.ends)
		if have && !over || !have && now.After(l.contention.until) {
			l.mu.Unlock()
			return nil
		}
		if l.inFlight == 0 {
			l.mu.Unlock()
			break
		}
		// Writes in flight end first; the last of them releases the lock.
		if l.contention.quiet == nil {
			l.contention.quiet = make(chan struct{})
		}
		quiet := l.contention.quiet
		l.mu.Unlock()
		select {
		case <-quiet:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	m.unlockStore(l)
	end, err := m.st.LockChain(ctx, l.name)
	if err != nil {
		m.o.Log.Debug("the lock of the cluster was not acquired", slog.String("cluster", l.name), slog.Any("error", err))
		return ctx.Err()
	}
	l.mu.Lock()
	before := l.durable
	l.contention.end, l.contention.ends = end, time.Now().Add(holdLock)
	l.epoch++
	l.head = nil // it is read anew from the store
	l.mu.Unlock()
	now, err := m.current(ctx, l)
	if err != nil {
		return nil // the write that needs it gets the error
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.head = now
	if before != nil && now.Revision != before.Revision {
		l.contention.lost() // other processes still write
	}
	return nil
}

// unlockStore releases the lock if no write under it is in flight.
func (m *Manager) unlockStore(l *chain) {
	l.mu.Lock()
	var end func()
	if l.inFlight == 0 {
		end, l.contention.end = l.contention.end, nil
	}
	l.mu.Unlock()
	if end != nil {
		end()
	}
}

// landed records that a write is no longer in flight. The caller holds l.mu.
func (m *Manager) landed(l *chain) {
	if l.inFlight--; l.inFlight > 0 {
		return
	}
	if l.contention.quiet != nil {
		close(l.contention.quiet)
		l.contention.quiet = nil
	}
	if end := l.contention.end; end != nil {
		l.contention.end = nil
		m.work.Go(end)
	}
}
