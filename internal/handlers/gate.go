package handlers

import (
	"container/list"
	"context"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"berth/internal/planted"
)

// gate admits a bounded number of calls and lets a bounded number wait, before a byte of a body is read. Each key, a
// cluster, has slots of its own, so that one scheduler in a crash loop cannot starve the others.
type gate struct {
	class    string // the first part of the settings' names
	inFlight int    // per key
	total    int    // over all keys; 0: no bound
	queue    int    // per key; over all keys if total is set
	wait     time.Duration

	mu sync.Mutex
	// guarded by mu: the keys that have calls in flight or waiting, and the sum over them.
	keys    map[string]*lane
	running int
	waiting *list.List // of *waiter, oldest first
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

// enter waits for a slot. The error says which setting was full; leave has to be called once otherwise.
func (g *gate) enter(ctx context.Context, key string) (leave func(), err error) {
	g.mu.Lock()
	l := g.keys[key]
	if l == nil {
		l = &lane{}
		g.keys[key] = l
	}
	if l.waiting == 0 && g.free(l) {
		g.take(l)
		g.mu.Unlock()
		return func() { g.leave(key) }, nil
	}
	waiting := l.waiting
	if g.total > 0 {
		waiting = g.waiting.Len()
	}
	if waiting >= g.queue && !planted.On(planted.GateQueueUnbounded) {
		g.mu.Unlock()
		return nil, g.shed("queue")
	}
	w := &waiter{key: key, granted: make(chan struct{})}
	l.waiting++
	e := g.waiting.PushBack(w)
	g.mu.Unlock()

	timer := time.NewTimer(g.wait)
	defer timer.Stop()
	select {
	case <-w.granted:
		return func() { g.leave(key) }, nil
	case <-timer.C:
		err = g.shed("wait")
	case <-ctx.Done():
		err = ctx.Err()
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	select {
	case <-w.granted: // in the very moment of giving up
		return func() { g.leave(key) }, nil
	default:
	}
	g.waiting.Remove(e)
	l.waiting--
	g.forget(key, l)
	return nil, err
}

func (g *gate) free(l *lane) bool {
	return l.running < g.inFlight && (g.total == 0 || g.running < g.total)
}

func (g *gate) take(l *lane) {
	l.running++
	g.running++
}

// leave gives the slot to whoever has waited longest of those that may now run.
func (g *gate) leave(key string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	l := g.keys[key]
	l.running--
	g.running--
	for e := g.waiting.Front(); e != nil; {
		w, next := e.Value.(*waiter), e.Next()
		if wl := g.keys[w.key]; g.free(wl) {
			g.waiting.Remove(e)
			wl.waiting--
			g.take(wl)
			close(w.granted)
		}
		e = next
	}
	g.forget(key, l)
}

// forget drops a key that nobody uses, so that made-up names cannot fill the map. The caller holds mu.
func (g *gate) forget(key string, l *lane) {
	if l.running == 0 && l.waiting == 0 {
		delete(g.keys, key)
	}
}

func (g *gate) shed(cause string) *Error {
	limit := g.class + "-in-flight"
	if cause == "queue" {
		limit = g.class + "-queue"
	}
	// The jitter keeps callers that were refused together from coming back together.
	return &Error{
		Status: http.StatusTooManyRequests, Kind: "overload", Limit: limit, RetryAfter: 1 + rand.IntN(3),
		Detail: "too many calls of this kind at once; try again later",
	}
}
