package revision

import (
	"context"
	"errors"
	"fmt"
	"time"

	"berth/internal/memory"
	"berth/internal/span"
	"berth/internal/store"
)

// storedFactor is what writing a payload takes in the store, in bytes a byte: a copy of it, and the
// row that it is in.
const storedFactor = 2

// pending is a revision whose write is in flight. Its submitter finishes it.
type pending struct {
	done chan struct{}
	err  error // once done is closed

	// written waits for the write, and end records its outcome. Both are nil then, since a view
	// keeps its pending, and they keep what is written.
	written func(context.Context) error
	end     func(error)
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
	if v.Cause != causeExpired { // it is of no call
		e.Revision.Asked = store.AskedOf(ctx)
		e.Call = store.KeyedOf(ctx).Claim(pathOf(e))
	}
	for d := range e.Decisions() {
		d.Asked = e.Revision.Asked
	}
	size := len(e.Revision.Change)
	if e.Checkpoint != nil {
		size += len(e.Checkpoint.Payload)
	}
	if size >= largeCheckpoint {
		if err := memory.TakeOutside(ctx, storedFactor*int64(size)); err != nil {
			return err
		}
	}
	if _, e := m.apply(l, begun{epoch}); e.stale {
		return &lostError{fmt.Errorf("%s: %w", v.ID(), store.ErrConflict)}
	}
	_, part := span.Start(ctx, span.Revision)
	wait, err := m.g.Submit(ctx, e)
	if err != nil {
		part.End(err)
		m.end(l, unsent{})
		return fmt.Errorf("write %s: %w", v.ID(), err)
	}
	p := &pending{done: make(chan struct{})}
	p.written = func(ctx context.Context) error {
		if err := wait(ctx); err != nil {
			return err
		}
		return e.Err
	}
	p.end = func(err error) {
		part.End(err)
		m.written(l, epoch, v, err)
		p.written, p.end = nil, nil
		close(p.done)
	}
	v.write = p
	m.apply(l, submitted{epoch, v})
	return nil
}

// finish calls meanwhile, where it is not nil, and returns when the revision is durable, or the
// reason why it is not. The outcome is recorded also where ctx ends first or meanwhile panics.
func (m *Manager) finish(ctx context.Context, p *pending, meanwhile func()) error {
	recorded := false
	defer func() {
		if !recorded {
			m.work.Go(func() { p.end(p.written(context.WithoutCancel(ctx))) })
		}
	}()
	if meanwhile != nil {
		meanwhile()
	}
	err := p.written(ctx)
	if err != nil && ctx.Err() != nil {
		return ctx.Err() // the write goes on
	}
	recorded = true
	p.end(err)
	return p.err
}

// written records the outcome of a write.
func (m *Manager) written(l *chain, epoch uint64, v *View, err error) {
	x := written{epoch: epoch, view: v, now: time.Now()}
	if err != nil {
		err = fmt.Errorf("write %s: %w", v.ID(), err)
		switch {
		case errors.Is(err, store.ErrConflict):
			x.outcome, err = refused, &lostError{err}
		case errors.Is(err, store.ErrUnavailable):
			x.outcome = unknown
		default:
			x.outcome = failed
		}
		v.write.err = err
	}
	m.end(l, x)
}

// end applies the message that ends a write.
func (m *Manager) end(l *chain, x message) {
	if _, e := m.apply(l, x); e.release != nil {
		m.work.Go(e.release) // the answer does not wait for it
	}
}
