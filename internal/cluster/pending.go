package cluster

import (
	"context"
	"errors"
	"fmt"

	"berth/internal/memory"
	"berth/internal/span"
	"berth/internal/store"
)

// storedFactor is what writing a payload takes in the store, in bytes a byte: a copy of it, and the
// row that it is in.
const storedFactor = 2

// pending is a revision whose write is in flight.
type pending struct {
	done chan struct{}
	err  error // once done is closed
}

// wait returns when the revision is durable, or the reason why it is not. A nil pending is durable.
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

// submit passes an entry to the committer and makes its view the head. The caller holds the chain's
// writer token. If the head was dropped meanwhile, the entry would be refused: the error is a
// conflict.
func (m *Manager) submit(ctx context.Context, l *chain, epoch uint64, v *View, e *store.Entry) error {
	size := len(e.Revision.Change)
	if e.Checkpoint != nil {
		size += len(e.Checkpoint.Payload)
	}
	if size >= largeCheckpoint {
		if err := memory.TakeOutside(ctx, storedFactor*int64(size)); err != nil {
			return err
		}
	}
	l.mu.Lock()
	stale := l.epoch != epoch
	if !stale {
		l.inFlight++
	}
	l.mu.Unlock()
	if stale {
		return &lostError{fmt.Errorf("%s: %w", v.ID(), store.ErrConflict)}
	}
	_, part := span.Start(ctx, span.Revision)
	wait, err := m.g.Submit(ctx, e)
	if err != nil {
		part.End(err)
		l.mu.Lock()
		m.landed(l)
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
		// The write goes on whether or not a caller still waits for it.
		err := wait(context.WithoutCancel(ctx))
		if err == nil {
			err = e.Err
		}
		part.End(err)
		m.written(l, epoch, v, err)
		close(p.done)
	})
	return nil
}

// written records the outcome of a write.
func (m *Manager) written(l *chain, epoch uint64, v *View, err error) {
	if err != nil {
		err = fmt.Errorf("write %s: %w", v.ID(), err)
		refused := errors.Is(err, store.ErrConflict)
		if refused {
			err = &lostError{err}
		}
		v.write.err = err
		if errors.Is(err, store.ErrUnavailable) {
			m.outcomeUnknown(l, epoch)
		} else {
			l.dropHead(epoch)
		}
		l.mu.Lock()
		if refused {
			l.contention.lost()
		}
		m.landed(l)
		l.mu.Unlock()
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	m.landed(l)
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

// recentBytes bounds the JSON of the changes between the recent views and the newest: what they do
// not share with it.
const recentBytes = 8 << 20

// remember keeps the durable view before v among the recent ones, which cost little as long as they
// share their state. An upload shares nothing, and a large change little.
func (l *chain) remember(v *View, keep int) {
	if v.Cause == causeUpload {
		l.recent = nil
		return
	}
	if l.durable == nil {
		return
	}
	fresh := append(make([]*View, 0, keep), l.durable)
	fresh = append(fresh, l.recent[:min(len(l.recent), keep-1)]...)
	for i, apart := 0, v.changed; i < len(fresh); i++ {
		if apart > recentBytes {
			fresh = fresh[:i:i]
			break
		}
		apart += fresh[i].changed
	}
	l.recent = fresh
}
