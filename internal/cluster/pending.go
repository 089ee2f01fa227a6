package cluster

import (
	"context"
	"errors"
	"fmt"

	"berth/internal/store"
)

// pending is a revision on its way to the store.
type pending struct {
	done chan struct{}
	err  error // once done is closed
}

// wait returns when the revision is durable, or says why it is not. A nil
// pending is durable.
func (p *pending) wait(ctx context.Context) error {
	if p == nil {
		return nil
	}
	select {
	case <-p.done:
		return p.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// submit hands an entry to the committer and makes its view the head. The line
// is locked. If the head was given up meanwhile, the entry would be refused, so
// the caller has lost the race.
func (m *Manager) submit(ctx context.Context, l *line, epoch uint64, v *View, e *store.Entry) error {
	l.mu.Lock()
	stale := l.epoch != epoch
	if !stale {
		l.flying++
	}
	l.mu.Unlock()
	if stale {
		return &lostError{fmt.Errorf("%s: %w", v.ID(), store.ErrConflict)}
	}
	wait, err := m.g.Submit(ctx, e)
	if err != nil {
		l.mu.Lock()
		m.land(l)
		l.mu.Unlock()
		return fmt.Errorf("write %s: %w", v.ID(), err)
	}
	p := &pending{done: make(chan struct{})}
	v.write = p
	l.mu.Lock()
	if l.epoch == epoch {
		l.head = v
	}
	l.mu.Unlock()
	m.work.Go(func() {
		// The write goes on whether or not somebody still waits for it.
		err := wait(context.WithoutCancel(ctx))
		if err == nil {
			err = e.Err
		}
		m.settle(l, epoch, v, err)
		close(p.done)
	})
	return nil
}

// settle notes what became of a write.
func (m *Manager) settle(l *line, epoch uint64, v *View, err error) {
	if err != nil {
		err = fmt.Errorf("write %s: %w", v.ID(), err)
		refused := errors.Is(err, store.ErrConflict)
		if refused {
			err = &lostError{err}
		}
		v.write.err = err
		if errors.Is(err, store.ErrUnavailable) {
			m.doubt(l, epoch)
		} else {
			l.giveUp(epoch)
		}
		l.mu.Lock()
		if refused {
			l.race.lost()
		}
		m.land(l)
		l.mu.Unlock()
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	m.land(l)
	if l.epoch == epoch && (l.durable == nil || l.durable.Revision < v.Revision) {
		l.remember(v, m.o.KeepViews)
		l.durable = v
		l.announce()
	}
	l.checkpoint = max(l.checkpoint, v.checkpoint)
	if v.Revision-l.checkpoint >= int64(m.o.CheckpointEvery) && !l.saving && m.ctx.Err() == nil {
		l.saving = true
		m.work.Go(func() { m.save(l, v) })
	}
}

// remember keeps the durable view that v follows among the recent ones, which
// cost little as long as they share their state. An upload shares nothing.
func (l *line) remember(v *View, keep int) {
	if v.Cause == causeUpload {
		l.recent = nil
		return
	}
	if l.durable == nil {
		return
	}
	fresh := append(make([]*View, 0, keep), l.durable)
	l.recent = append(fresh, l.recent[:min(len(l.recent), keep-1)]...)
}
