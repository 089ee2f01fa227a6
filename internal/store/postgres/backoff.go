package postgres

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"berth/internal/store"
)

// Between two attempts to connect to a database that is away. The least keeps
// one replica below five attempts a second; the rest is random in full, so that
// many replicas do not come back at once.
const (
	leastPause = 200 * time.Millisecond
	mostPause  = 5 * time.Second
	// After the first attempt that succeeded the others of a pool follow one by
	// one for so long: the database has just come up.
	convalescence = 2 * time.Second
)

// backoff spaces out attempts to connect while they fail. Calls between two
// attempts fail at once.
type backoff struct {
	mu    sync.Mutex
	pause time.Duration // the random part's bound; 0: the last attempt succeeded
	next  time.Time
	well  time.Time // until when attempts go one by one, though they succeed
}

// admit reports whether an attempt may be made now. Where attempts succeed again
// it waits for its turn rather than fail.
func (b *backoff) admit(ctx context.Context) error {
	wait, err := b.reserve()
	if err != nil || wait <= 0 {
		return err
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (b *backoff) reserve() (wait time.Duration, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	wait = b.next.Sub(now)
	switch {
	case b.pause > 0 && wait > 0:
		return 0, fmt.Errorf("%w: next attempt to connect in %v", store.ErrUnavailable, wait.Round(time.Millisecond))
	case b.pause > 0:
		b.next = now.Add(leastPause) // one attempt at a time
		return 0, nil
	case now.Before(b.well):
		wait = max(wait, 0)
		b.next = now.Add(wait + leastPause)
		return wait, nil
	}
	return 0, nil
}

func (b *backoff) failed() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.pause = min(max(2*b.pause, leastPause), mostPause)
	b.next = time.Now().Add(leastPause + rand.N(b.pause))
}

func (b *backoff) reset() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.pause > 0 {
		b.well = time.Now().Add(convalescence)
		b.next = time.Now().Add(leastPause)
	}
	b.pause = 0
}
