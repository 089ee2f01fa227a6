package cluster

import (
	"context"
	"errors"
	"time"

	"berth/internal/store"
)

// newerPoll bounds the time between two looks at what other servers wrote, while
// a caller waits for it.
const newerPoll = 50 * time.Millisecond

// Newer returns a cluster's newest stored revision as soon as it is above one.
// Revisions of other servers are looked for more often meanwhile than otherwise.
func (m *Manager) Newer(ctx context.Context, cluster string, after int64) (*View, error) {
	l, err := m.chain(ctx, cluster, false)
	if err != nil {
		return nil, err
	}
	defer m.leave(l)
	var look <-chan time.Time
	if m.o.Poll > 0 {
		tick := time.NewTicker(min(m.o.Poll, newerPoll))
		defer tick.Stop()
		look = tick.C
	}
	for {
		l.mu.Lock()
		v := l.durable
		if l.newer == nil {
			l.newer = make(chan struct{})
		}
		newer := l.newer
		l.mu.Unlock()
		if v == nil {
			if v, err = m.newest(ctx, l); err != nil {
				return nil, err
			}
		}
		if v.Revision > after {
			return v, nil
		}
		select {
		case <-newer:
		case <-look:
			// While the store is away what is in memory stands.
			if _, err := m.current(ctx, l); err != nil && !errors.Is(err, store.ErrUnavailable) && ctx.Err() == nil {
				return nil, err
			}
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// announce wakes the callers that wait for a newer revision. l.mu is held.
func (l *chain) announce() {
	if l.newer != nil {
		close(l.newer)
		l.newer = nil
	}
}
