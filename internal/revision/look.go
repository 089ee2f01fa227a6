package revision

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"berth/internal/store"
)

// looks reads the newest revisions of clusters from the store for calls that are about to answer
// no. However many ask, one look at a cluster is under way and one waits: a call shares only a look
// that began after it asked, since another process may have written before an earlier one.
type looks struct {
	mu      sync.Mutex
	waiting map[string]*look // the one after the one under way; nil: none is under way
}

type look struct {
	done   chan struct{}
	newest *store.Revision
	err    error
}

// CatchUp looks into a store that other processes write to: it returns the newest view of v's
// cluster if that is newer than v, else nil. What a state lacks may be there meanwhile, so a no
// about the newest one is only certain when CatchUp has returned nil. If the store does not answer
// before ctx ends, the error wraps store.ErrUnavailable.
func (m *Manager) CatchUp(ctx context.Context, v *View) (*View, error) {
	if m.o.Poll == 0 {
		return nil, nil // this process writes all there is
	}
	r, err := m.look(ctx, v.Cluster)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return nil, nil // deleted meanwhile: the no holds
	case err != nil:
		return nil, fmt.Errorf("%s may not be the newest, and the store does not say: %w: %w", v.ID(), store.ErrUnavailable, err)
	case r.Number <= v.Revision:
		return nil, nil
	}
	l, err := m.chain(ctx, v.Cluster, false)
	if err != nil {
		return nil, err
	}
	defer m.leave(l)
	if have := l.held(0); have != nil && have.Revision >= r.Number {
		return m.withoutDue(ctx, have) // the poll was faster
	}
	if v, err = m.newest(ctx, l); err != nil {
		return nil, err
	}
	return m.withoutDue(ctx, v)
}

// NextTry is for a call that failed on v, which was asked for by its revision or as the newest one,
// 0. Where it failed for what v lacks, and the store has a newer revision than the newest one known
// here, it returns that, to be tried next; else why.
func (m *Manager) NextTry(ctx context.Context, v *View, revision int64, why error) (*View, error) {
	if revision != 0 || !errors.Is(why, store.ErrNotFound) {
		return nil, why
	}
	newer, err := m.CatchUp(ctx, v)
	if err == nil && newer == nil {
		err = why
	}
	return newer, err
}

// look reads a cluster's newest revision in a look that begins after the call.
func (m *Manager) look(ctx context.Context, cluster string) (*store.Revision, error) {
	ls := &m.looks
	ls.mu.Lock()
	mine, underway := ls.waiting[cluster]
	if mine == nil {
		mine = &look{done: make(chan struct{})}
		if ls.waiting == nil {
			ls.waiting = map[string]*look{}
		}
		ls.waiting[cluster] = mine
	}
	ls.mu.Unlock()
	if !underway {
		m.work.Go(func() { m.lookAll(cluster) })
	}
	select {
	case <-mine.done:
		return mine.newest, mine.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// lookAll looks as long as calls wait for a look at a cluster.
func (m *Manager) lookAll(cluster string) {
	for {
		m.looks.mu.Lock()
		l := m.looks.waiting[cluster]
		if l == nil {
			delete(m.looks.waiting, cluster)
			m.looks.mu.Unlock()
			return
		}
		m.looks.waiting[cluster] = nil
		m.looks.mu.Unlock()
		ctx, cancel := context.WithTimeout(m.ctx, pollTimeout)
		l.newest, l.err = m.st.Newest(ctx, cluster)
		cancel()
		close(l.done)
	}
}
