// Package commit gathers the entries of many callers into batches, so that one
// wait for the disk serves all of them: group commit.
package commit

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"

	"berth/internal/store"
)

// ErrQueueFull reports that the store is slower than its callers and a caller's
// context ended before its entry was accepted: nothing was or will be written.
var ErrQueueFull = errors.New("commit queue is full")

// Group writes entries through a store.Writer, in the order of their Submit.
// It is safe for concurrent use.
type Group struct {
	w       store.Writer
	opts    Options
	queue   chan *pending
	closing chan struct{} // closed first, turns waiting submitters away
	done    chan struct{} // closed when the writing goroutine has ended
	once    sync.Once

	// mu is held shared while sending to queue and alone while closing it.
	mu     sync.RWMutex
	closed bool // guarded by mu
}

// pending is an accepted entry. err may be read once done is closed.
type pending struct {
	entry *store.Entry
	done  chan struct{}
	err   error
}

// NewGroup starts a group; Close ends it.
func NewGroup(w store.Writer, o Options) *Group {
	o = o.withDefaults()
	g := &Group{
		w:       w,
		opts:    o,
		queue:   make(chan *pending, o.Queue),
		closing: make(chan struct{}),
		done:    make(chan struct{}),
	}
	go g.run()
	return g
}

// Commit returns when e is durable, or with e.Err or the batch's error. The
// error of a ctx that ends first says nothing about the entry: see Submit.
func (g *Group) Commit(ctx context.Context, e *store.Entry) error {
	wait, err := g.Submit(ctx, e)
	if err != nil {
		return err
	}
	return wait(ctx)
}

// Submit accepts e for writing; entries are written in the order in which
// Submit accepted them, so that a caller may submit under its own lock and wait
// outside it. An error means that e is not and will not be written: ErrClosed,
// or ErrQueueFull when ctx ends while the queue is full.
//
// wait returns when e is durable, with e.Err or the batch's error. If its ctx
// ends first it returns ctx's error and e is written all the same, so the
// caller must leave e alone. It may be called again and by several goroutines.
func (g *Group) Submit(ctx context.Context, e *store.Entry) (wait func(context.Context) error, err error) {
	store.Prepare(g.w, e)
	p := &pending{entry: e, done: make(chan struct{})}
	g.mu.RLock()
	defer g.mu.RUnlock()
	if g.closed {
		return nil, store.ErrClosed
	}
	select {
	case g.queue <- p: // whatever ctx says: there is room
		return p.wait, nil
	default:
	}
	select {
	case g.queue <- p:
		return p.wait, nil
	case <-g.closing:
		return nil, store.ErrClosed
	case <-ctx.Done():
		return nil, fmt.Errorf("%w: %d entries wait for the store: %w", ErrQueueFull, cap(g.queue), ctx.Err())
	}
}

func (p *pending) wait(ctx context.Context) error {
	select {
	case <-p.done:
		return p.err
	default:
	}
	select {
	case <-p.done:
		return p.err
	case <-ctx.Done():
		return fmt.Errorf("wait for the record, which is still being written: %w", ctx.Err())
	}
}

// Depth is how many accepted entries wait to be taken into a batch.
func (g *Group) Depth() int { return len(g.queue) }

// Close refuses new entries with ErrClosed and returns when everything accepted
// has been written, or with ctx's error when that takes too long; the writing
// then still goes on. It does not close the store, and may be called again.
func (g *Group) Close(ctx context.Context) error {
	g.once.Do(func() {
		close(g.closing)
		g.mu.Lock()
		g.closed = true
		close(g.queue)
		g.mu.Unlock()
	})
	select {
	case <-g.done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("flush the commit queue: %w", ctx.Err())
	}
}

// run takes whatever is queued as soon as the batch before has ended.
func (g *Group) run() {
	defer close(g.done)
	batch := make([]*pending, 0, g.opts.MaxBatch)
	for first := range g.queue {
		// Those whom the last batch set free are about to submit again: let them,
		// or small and large batches alternate.
		runtime.Gosched()
		batch = g.gather(append(batch[:0], first))
		g.write(batch)
		clear(batch)
	}
}

func (g *Group) gather(batch []*pending) []*pending {
	var late <-chan time.Time
	for len(batch) < g.opts.MaxBatch {
		select {
		case p, ok := <-g.queue:
			if !ok {
				return batch
			}
			batch = append(batch, p)
			continue
		default:
		}
		if g.opts.MaxWait <= 0 {
			return batch
		}
		if late == nil {
			late = time.After(g.opts.MaxWait)
		}
		select {
		case p, ok := <-g.queue:
			if !ok {
				return batch
			}
			batch = append(batch, p)
		case <-late:
			return batch
		}
	}
	return batch
}

// write writes a batch and sets its waiters free, whatever happens. A batch
// that failed is not tried again: after a failed fsync a second one that
// succeeds proves nothing.
func (g *Group) write(batch []*pending) {
	entries := make([]*store.Entry, len(batch))
	for i, p := range batch {
		entries[i] = p.entry
	}
	start := time.Now()
	err := g.append(entries)
	took := time.Since(start)
	// Before the callers are answered: figures that are read after an answer count it.
	g.opts.ObserveFunc(len(batch), took, err)
	for _, p := range batch {
		p.err = err
		if err == nil {
			p.err = p.entry.Err
		}
		close(p.done)
	}
}

// append keeps a panic of the store from taking the waiters with it. The
// context is never ended by a caller: an accepted entry is written.
func (g *Group) append(entries []*store.Entry) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("append %d entries: panic: %v", len(entries), r)
		}
	}()
	return g.w.Append(context.Background(), entries)
}
