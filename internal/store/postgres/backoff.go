package postgres

import (
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
)

// backoff spaces out attempts to connect while they fail. Calls between two
// attempts fail at once.
type backoff struct {
	mu    sync.Mutex
	pause time.Duration // the random part's bound; 0: the last attempt succeeded
	next  time.Time
}

// admit says whether an attempt may be made now.
func (b *backoff) admit() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if wait := time.Until(b.next); b.pause > 0 && wait > 0 {
		return fmt.Errorf("%w: next attempt to connect in %v", store.ErrUnavailable, wait.Round(time.Millisecond))
	}
	if b.pause > 0 {
		b.next = time.Now().Add(leastPause) // one attempt at a time
	}
	return nil
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
	b.pause = 0
}
