package cluster

import (
	"math/rand/v2"
	"time"
)

// Bounds of the random pause between two reads of a store that is unavailable.
const (
	leastPause = 50 * time.Millisecond
	mostPause  = 2 * time.Second
)

// outcomeUnknown is dropHead for a write whose outcome is unknown, since the store is unavailable.
// Decisions go on from what is known to be stored. As soon as the store answers, the newest
// revision is read.
func (m *Manager) outcomeUnknown(l *chain, epoch uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.epoch != epoch {
		return
	}
	l.epoch++
	l.head = nil
	if l.reloading || l.durable == nil || m.ctx.Err() != nil {
		return
	}
	l.reloading = true
	m.work.Go(func() { m.reload(l) })
}

// reload reads a chain's newest revision, however long the store is unavailable.
func (m *Manager) reload(l *chain) {
	defer func() {
		l.mu.Lock()
		l.reloading = false
		l.mu.Unlock()
	}()
	for pause := leastPause; m.ctx.Err() == nil; pause = min(2*pause, mostPause) {
		if _, err := m.newest(m.ctx, l); err == nil {
			return
		}
		select {
		case <-m.ctx.Done():
		case <-time.After(rand.N(pause)):
		}
	}
}
