package cluster

import (
	"math/rand/v2"
	"time"
)

// Bounds of the random pause between two questions to a store that is away.
const (
	leastPause = 50 * time.Millisecond
	mostPause  = 2 * time.Second
)

// doubt is giveUp for a write of which nobody knows whether it took place, as
// the store is away: decisions go on from what is known to be stored, and as
// soon as the store answers, the newest revision is read again.
func (m *Manager) doubt(l *line, epoch uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.epoch != epoch {
		return
	}
	l.epoch++
	l.head = nil
	if l.asking || l.durable == nil || m.ctx.Err() != nil {
		return
	}
	l.asking = true
	m.work.Go(func() { m.find(l) })
}

// find reads a line's newest revision, however long the store is away.
func (m *Manager) find(l *line) {
	defer func() {
		l.mu.Lock()
		l.asking = false
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
