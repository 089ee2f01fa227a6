package revision

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"berth/internal/store"
)

// chain is one cluster's chain of revisions. Its state is a value that apply alone replaces.
type chain struct {
	name   string
	writer chan struct{} // holds a token while a caller writes
	used   atomic.Int64
	users  int // calls that use the chain; guarded by Manager.mu
	state  atomic.Pointer[chainState]
}

func newChain(name string) *chain {
	l := &chain{name: name, writer: make(chan struct{}, 1)}
	l.state.Store(&chainState{position: empty{}})
	return l
}

func (l *chain) lock(ctx context.Context) error {
	select {
	case l.writer <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (l *chain) unlock() { <-l.writer }

// held returns a durable view that is in memory, or nil. Revision 0 is the newest.
func (l *chain) held(revision int64) *View {
	v := l.state.Load().views()
	if d := v.durable; d == nil || revision == 0 || d.Revision == revision {
		return d
	}
	for _, r := range v.recent {
		if r.Revision == revision {
			return r
		}
	}
	return nil
}

// apply replaces the state of a chain by the one after a message, and does what follows from it.
// It returns the new state. The caller calls effects.release, which takes a call of the store.
func (m *Manager) apply(l *chain, x message) (*chainState, effects) {
	b := bounds{keep: m.o.KeepViews, every: int64(m.o.CheckpointEvery)}
	for {
		before := l.state.Load()
		after, e := transition(b, before, x)
		if e.stale {
			return before, e
		}
		if !l.state.CompareAndSwap(before, after) {
			continue // another message came first
		}
		if e.newer != nil {
			close(e.newer)
		}
		if e.quiet != nil {
			close(e.quiet)
		}
		if e.save != nil && m.ctx.Err() == nil {
			m.work.Go(func() { m.save(l, e.save) })
		}
		if e.read && m.ctx.Err() == nil {
			m.work.Go(func() { m.readOutcome(l, after.epoch) })
		}
		return after, e
	}
}

// head returns the view that the next write extends, and its epoch, also with an error. It is read
// from the store unless the chain is live. The caller holds the chain's writer token.
func (m *Manager) head(ctx context.Context, l *chain) (*View, uint64, error) {
	for {
		s := l.state.Load()
		if at, ok := s.position.(live); ok {
			return at.head, s.epoch, nil
		}
		v, err := m.current(ctx, l)
		if err != nil {
			return nil, s.epoch, err
		}
		m.apply(l, loaded{epoch: s.epoch, view: v, lead: true})
	}
}

// publish makes a stored revision the one that readers get, unless they get a newer one. It returns
// the one that they get.
func (m *Manager) publish(l *chain, epoch uint64, v *View) *View {
	s, e := m.apply(l, loaded{epoch: epoch, view: v})
	if e.stale {
		return v
	}
	return s.views().durable
}

// Bounds of the random pause between two reads of a store that is unavailable.
const (
	leastPause = 50 * time.Millisecond
	mostPause  = 2 * time.Second
)

// readOutcome reads a chain's newest revision, however long the store is unavailable, as long as
// the chain is uncertain since an epoch.
func (m *Manager) readOutcome(l *chain, since uint64) {
	for pause := leastPause; m.ctx.Err() == nil; pause = min(2*pause, mostPause) {
		if at, ok := l.state.Load().position.(uncertain); !ok || at.since != since {
			return
		}
		if _, err := m.newest(m.ctx, l); err == nil {
			continue
		}
		select {
		case <-m.ctx.Done():
		case <-time.After(rand.N(pause)):
		}
	}
}

// newerPoll bounds the time between two looks at what other servers wrote, while a caller waits for
// it.
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
		s, _ := m.apply(l, awaited{make(chan struct{})})
		v := s.views().durable
		if v == nil {
			if v, err = m.newest(ctx, l); err != nil {
				return nil, err
			}
		}
		if v.Revision > after {
			return v, nil
		}
		select {
		case <-s.newer:
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
