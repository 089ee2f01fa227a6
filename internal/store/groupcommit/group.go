// Package groupcommit gathers the entries of many callers into batches, so that one
// wait for the disk serves all of them: group commit.
package groupcommit

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
	wake    chan struct{} // tells the writing goroutine that entries are queued
	closing chan struct{} // closed first, turns waiting submitters away
	done    chan struct{} // closed when the writing goroutine has ended
	once    sync.Once

	// turn holds a token while entries are written. Its holder looks at the queue once more then.
	turn  chan struct{}
	batch []*pending // guarded by turn

	// mu is held shared while sending to queue and alone while closing.
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
		wake:    make(chan struct{}, 1),
		turn:    make(chan struct{}, 1),
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
// Of Options.CallersWrite it has to be called, and returns no sooner than the
// writing that it does itself.
func (g *Group) Submit(ctx context.Context, e *store.Entry) (wait func(context.Context) error, err error) {
	p := &pending{entry: e, done: make(chan struct{})}
	wait = func(ctx context.Context) error { return g.wait(ctx, p) }
	g.mu.RLock()
	defer g.mu.RUnlock()
	if g.closed {
		return nil, store.ErrClosed
	}
	select {
	case g.queue <- p: // whatever ctx says: there is room
		if !g.opts.CallersWrite {
			g.signal()
		}
		return wait, nil
	default:
	}
	g.signal()
	select {
	case g.queue <- p:
		g.signal()
		return wait, nil
	case <-g.closing:
		return nil, store.ErrClosed
	case <-ctx.Done():
		return nil, fmt.Errorf("%w: %d entries wait for the store: %w", ErrQueueFull, cap(g.queue), ctx.Err())
	}
}

func (g *Group) wait(ctx context.Context, p *pending) error {
	select {
	case <-p.done:
		return p.err
	default:
	}
	if g.opts.CallersWrite {
		select {
		case g.turn <- struct{}{}:
			g.lead(p)
			return p.err
		default: // who writes finds the entry
		}
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
		g.mu.Unlock()
		g.signal()
	})
	select {
	case <-g.done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("flush the commit queue: %w", ctx.Err())
	}
}

// signal has the writing goroutine look at the queue.
func (g *Group) signal() {
	select {
	case g.wake <- struct{}{}:
	default:
	}
}

// run writes what is queued whenever it is told to, until the group is closed.
func (g *Group) run() {
	defer close(g.done)
	for closed := false; !closed; {
		<-g.wake
		g.mu.RLock()
		closed = g.closed
		g.mu.RUnlock()
		for again := true; again; again = len(g.queue) > 0 {
			g.turn <- struct{}{}
			for len(g.queue) > 0 {
				g.writeQueued()
			}
			<-g.turn
		}
	}
}

// lead writes p and what is queued before it. A caller does it that has the turn: no goroutine has
// to be woken for an entry that comes alone, neither to write it nor to tell of it.
func (g *Group) lead(p *pending) {
	defer func() {
		<-g.turn
		if len(g.queue) > 0 {
			g.signal()
		}
	}()
	for {
		select {
		case <-p.done:
			return
		default:
			g.writeQueued()
		}
	}
}

// writeQueued writes a batch of what is queued. Those whom the last batch set free are about to
// submit again: let them, or small and large batches alternate. On one processor they could not
// before the batch is written, and each would be a batch alone.
func (g *Group) writeQueued() {
	runtime.Gosched()
	g.batch = g.batch[:0]
	for len(g.batch) < g.opts.MaxBatch && len(g.queue) > 0 {
		g.batch = append(g.batch, <-g.queue)
	}
	g.write(g.batch)
	clear(g.batch)
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
