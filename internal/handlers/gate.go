package handlers

import (
	"container/list"
	"context"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"
)

// gate admits a bounded number of calls and lets a bounded number wait, before a byte of a body is
// read. Each key, a cluster or a caller, has slots of its own, so that one scheduler in a crash
// loop cannot starve the others.
type gate struct {
	class    string // the first part of the settings' names
	inFlight int    // per key
	total    int    // over all keys; 0: no bound
	queue    int    // per key; over all keys if shared
	shared   bool
	// fair marks a gate whose keys are callers: one caller leaves an eighth of the slots and of the
	// queue to others, and a slot that gets free goes to the caller with the fewest.
	fair bool
	wait time.Duration

	mu sync.Mutex
	// guarded by mu: the keys that have calls in flight or waiting, and the sum over them.
	keys    map[string]*lane
	running int
	waiting *list.List // of *waiter, oldest first
	// released are the calls that go on without their slot.
	released int
}

// mostReleased bounds the calls of a class that go on without a slot: those above it keep theirs,
// so that the class fills up, and refuses calls, where a store hangs.
const mostReleased = 512

// place is a call's slot. It is for one goroutine.
type place struct {
	g    *gate
	key  string
	gone bool // given back before the call's end
}

// Release implements slot.Slot.
func (p *place) Release() {
	p.g.mu.Lock()
	defer p.g.mu.Unlock()
	if !p.gone && p.g.released < mostReleased {
		p.gone = true
		p.g.released++
		p.g.leave(p.key)
	}
}

// end ends the call.
func (p *place) end() {
	p.g.mu.Lock()
	defer p.g.mu.Unlock()
	if p.gone {
		p.g.released--
		return
	}
	p.g.leave(p.key)
}

// lane is what a gate knows of one key.
type lane struct{ running, waiting int }

type waiter struct {
	key     string
	granted chan struct{}
}

func newGate(class string, inFlight, total, queue int, wait time.Duration) *gate {
	return &gate{class: class, inFlight: inFlight, total: total, queue: queue, wait: wait, keys: map[string]*lane{}, waiting: list.New()}
}

// enter waits for a slot, which is to be ended. The error describes which setting was full.
func (g *gate) enter(ctx context.Context, key string) (*place, error) {
	g.mu.Lock()
	l := g.keys[key]
	if l == nil {
		l = &lane{}
		g.keys[key] = l
	}
	if l.waiting == 0 && g.free(l) {
		g.take(l)
		g.mu.Unlock()
		return &place{g: g, key: key}, nil
	}
	if g.full(l) {
		err := g.shed("queue")
		g.forget(key, l)
		g.mu.Unlock()
		return nil, err
	}
	w := &waiter{key: key, granted: make(chan struct{})}
	l.waiting++
	e := g.waiting.PushBack(w)
	g.mu.Unlock()

	timer := time.NewTimer(g.wait)
	defer timer.Stop()
	var err error
	select {
	case <-w.granted:
		return &place{g: g, key: key}, nil
	case <-timer.C:
	case <-ctx.Done():
		err = ctx.Err()
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	select {
	case <-w.granted: // in the very moment of giving up
		return &place{g: g, key: key}, nil
	default:
	}
	g.waiting.Remove(e)
	l.waiting--
	if err == nil {
		if err = g.shed("in-flight"); !g.fair && l.running < g.inFlight {
			err = g.shed("total")
		}
	}
	g.forget(key, l)
	return nil, err
}

// full reports whether a call may not even wait. The caller holds mu.
func (g *gate) full(l *lane) bool {
	switch {
	case g.fair:
		return l.waiting >= g.share(g.queue) || g.waiting.Len() >= g.queue
	case g.shared:
		return g.waiting.Len() >= g.queue
	}
	return l.waiting >= g.queue
}

// share is how much of n one key may have.
func (g *gate) share(n int) int {
	if g.fair {
		return n - n/8
	}
	return n
}

func (g *gate) free(l *lane) bool {
	return l.running < g.share(g.inFlight) && (g.total == 0 || g.running < g.total)
}

func (g *gate) take(l *lane) {
	l.running++
	g.running++
}

// leave passes the slot to the call that has waited longest of those that may now run; in a fair
// gate, to one of the caller with the fewest slots. The caller holds mu.
func (g *gate) leave(key string) {
	l := g.keys[key]
	l.running--
	g.running--
	for g.total == 0 || g.running < g.total {
		e := g.next()
		if e == nil {
			break
		}
		w := e.Value.(*waiter)
		wl := g.keys[w.key]
		g.waiting.Remove(e)
		wl.waiting--
		g.take(wl)
		close(w.granted)
	}
	g.forget(key, l)
}

// next finds the call that gets a free slot. The caller holds mu.
func (g *gate) next() (best *list.Element) {
	fewest := 0
	for e := g.waiting.Front(); e != nil; e = e.Next() {
		l := g.keys[e.Value.(*waiter).key]
		if !g.free(l) || best != nil && l.running >= fewest {
			continue
		}
		best, fewest = e, l.running
		if !g.fair || fewest == 0 {
			break
		}
	}
	return best
}

// forget drops a key without users, so that made-up names cannot fill the map. The caller holds mu.
func (g *gate) forget(key string, l *lane) {
	if l.running == 0 && l.waiting == 0 {
		delete(g.keys, key)
	}
}

// shed words a refusal; which is the last part of the name of the limit that was reached.
func (g *gate) shed(which string) *Error {
	// The jitter keeps callers that were refused together from coming back together.
	return &Error{
		Status: http.StatusTooManyRequests, Kind: "overload", Limit: g.class + "-" + which, RetryAfter: 1 + rand.IntN(3), gate: true,
		Detail: "too many calls of this kind at once; try again later",
	}
}
