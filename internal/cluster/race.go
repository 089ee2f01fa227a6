package cluster

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"berth/internal/planted"
)

const (
	// tries is how often a write is begun anew after it lost a race; the
	// caller's context bounds it too.
	tries = 50
	// longestPause bounds the random pause before another try.
	longestPause = 64 * time.Millisecond
	// After a lost race a line takes turns with the other processes for so long.
	contention = time.Second
	// turnTime is after how long a turn takes no more writes.
	turnTime = 25 * time.Millisecond
)

// retry runs a write again where it lost a race. A write that named its parent
// comes to know then that it is not the newest any more.
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

// race is what a line knows of other processes that write to its cluster at the
// same time. Writes that are pipelined on a revision that is refused fall with
// it, and whoever falls comes late the next time too. So after a conflict the
// processes take turns: one has the chain to itself, finds out what it missed,
// writes for all its callers in one go, and lets the next one.
type race struct {
	until time.Time // turns are taken until then
	end   func()    // of the turn that this line has; nil: none
	ends  time.Time // when that takes no more writes
	quiet chan struct{}
}

func (r *race) lost() { r.until = time.Now().Add(contention) }

// takeTurn waits for the cluster's turn where that is wanted. The line is
// locked. Without the store's help writes go on as they are: some are refused.
func (m *Manager) takeTurn(ctx context.Context, l *line) error {
	for {
		l.mu.Lock()
		now := time.Now()
		have, over := l.race.end != nil, now.After(l.race.ends)
		if have && !over || !have && now.After(l.race.until) {
			l.mu.Unlock()
			return nil
		}
		if l.flying == 0 {
			l.mu.Unlock()
			break
		}
		// Those on their way go first, and their end is the turn's.
		if l.race.quiet == nil {
			l.race.quiet = make(chan struct{})
		}
		quiet := l.race.quiet
		l.mu.Unlock()
		select {
		case <-quiet:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	m.restTurn(l)
	end, err := m.st.Turn(ctx, l.name)
	if err != nil {
		m.o.Log.Debug("no turn", "cluster", l.name, "error", err)
		return ctx.Err()
	}
	l.mu.Lock()
	before := l.durable
	l.race.end, l.race.ends = end, time.Now().Add(turnTime)
	l.epoch++
	l.head = nil // it is found anew from the store
	l.mu.Unlock()
	now, err := m.current(ctx, l)
	if err != nil {
		return nil // whoever needs it finds out why
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.head = now
	if before != nil && now.Revision != before.Revision {
		l.race.lost() // the others are still at it
	}
	return nil
}

// restTurn ends a turn that nothing is on its way of.
func (m *Manager) restTurn(l *line) {
	l.mu.Lock()
	var end func()
	if l.flying == 0 {
		end, l.race.end = l.race.end, nil
	}
	l.mu.Unlock()
	if end != nil {
		end()
	}
}

// land notes that a write is on its way no more. l.mu is held.
func (m *Manager) land(l *line) {
	if l.flying--; l.flying > 0 {
		return
	}
	if l.race.quiet != nil {
		close(l.race.quiet)
		l.race.quiet = nil
	}
	if end := l.race.end; end != nil && !planted.On(planted.TurnKept) {
		l.race.end = nil
		m.work.Go(end)
	}
}
