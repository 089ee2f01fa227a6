// Package memory bounds what everything in a process that a request can make large takes together. What is needed is
// estimated, from above, and taken before it is allocated.
package memory

import (
	"context"
	"errors"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// defaultLimit is the budget where neither a setting nor a memory limit tells it.
	defaultLimit = 2 << 30
	// wait is how long a request waits for memory that others hold.
	wait = 500 * time.Millisecond
	// large is from how many bytes on the live heap is looked at as well.
	large = 1 << 20
	// relieveEvery is how often caches are dropped at most.
	relieveEvery = 2 * time.Second
)

// ErrFull is of an amount that others hold now.
var ErrFull = errors.New("the memory for requests is taken by others; try again later")

// NeverError is of an amount that is more than all the budget.
type NeverError struct{ Limit int64 }

// Error implements error.
func (e *NeverError) Error() string {
	return "the request needs more memory than all requests may take together"
}

// Refused reports whether an error is of memory that was not there.
func Refused(err error) bool {
	return errors.Is(err, ErrFull) || errors.As(err, new(*NeverError))
}

// Budget bounds the memory that all work takes together. It is safe for concurrent use.
type Budget struct {
	limit int64
	// ceiling bounds the live heap with what is taken since it was measured, states in memory included; 0: there is no
	// memory limit. A quarter of the limit is left to garbage: a collector that has no room takes half of the processors
	// and then lets the heap grow beyond its limit.
	ceiling int64
	used    atomic.Int64
	heap    func() (live int64, cycle uint64)

	found atomic.Int64  // what is taken and was there when the heap was measured
	cycle atomic.Uint64 // the collection that measured it

	mu       sync.Mutex
	relief   []func()  // guarded by mu
	relieved time.Time // guarded by mu
}

// New makes a budget of limit bytes; 0 stands for half of the runtime's memory limit, or 2 GiB where there is none.
func New(limit int64) *Budget {
	b := &Budget{limit: limit, heap: liveHeap}
	if total, ok := Total(); ok {
		b.ceiling = total / 4 * 3
		if b.limit == 0 {
			b.limit = total / 2
		}
	}
	if b.limit == 0 {
		b.limit = defaultLimit
	}
	return b
}

// Total is the runtime's memory limit; ok is false where there is none.
func Total() (total int64, ok bool) {
	total = debug.SetMemoryLimit(-1)
	return total, total > 0 && total < 1<<50 // the runtime calls no limit so
}

// liveHeap is what the last garbage collection found in use, and which one that was.
func liveHeap() (live int64, cycle uint64) {
	s := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/gc/cycles/total:gc-cycles"}}
	metrics.Read(s)
	return int64(s[0].Value.Uint64()), s[1].Value.Uint64() //nolint:gosec // no heap has 2^63 bytes
}

// Limit is how much may be taken.
func (b *Budget) Limit() int64 { return b.limit }

// Used is how much is taken.
func (b *Budget) Used() int64 { return b.used.Load() }

// OnPressure has f called where memory is short. f drops what can be worked out or read again.
func (b *Budget) OnPressure(f func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.relief = append(b.relief, f)
}

// fits takes n bytes if they are there.
func (b *Budget) fits(n int64) bool {
	used := b.used.Add(n)
	if used <= b.limit && (n < large || b.ceiling == 0) {
		return true
	}
	if used <= b.limit {
		live, cycle := b.heap()
		if old := b.cycle.Load(); old != cycle && b.cycle.CompareAndSwap(old, cycle) {
			b.found.Store((used - n) / 2) // most of what is held was there to be found
		}
		if live+used-b.found.Load() <= b.ceiling {
			return true
		}
		b.relieve()
	}
	b.give(n)
	return false
}

// give returns n bytes.
func (b *Budget) give(n int64) {
	used := b.used.Add(-n)
	for found := b.found.Load(); found > used && !b.found.CompareAndSwap(found, used); found = b.found.Load() {
	}
}

// relieve drops caches and collects, since the live heap is known from the last collection.
func (b *Budget) relieve() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if time.Since(b.relieved) < relieveEvery {
		return
	}
	b.relieved = time.Now()
	relief := b.relief
	go func() {
		for _, f := range relief {
			f()
		}
		runtime.GC()
	}()
}

// Claim is what one request, or one piece of work in the background, has taken. It is safe for concurrent use.
type Claim struct {
	b       *Budget
	n       atomic.Int64
	patient bool

	mu   sync.Mutex
	ends []func() // guarded by mu
}

// Claim begins a claim. End it.
func (b *Budget) Claim() *Claim { return &Claim{b: b} }

// PatientClaim begins a claim of work in the background, which waits for memory for as long as its context does.
func (b *Budget) PatientClaim() *Claim { return &Claim{b: b, patient: true} }

// Take takes n bytes more, and waits a little where others hold them.
func (c *Claim) Take(ctx context.Context, n int64) error {
	if n <= 0 {
		return nil
	}
	if c.n.Load()+n > c.b.limit {
		return &NeverError{c.b.limit}
	}
	for began := time.Now(); !c.b.fits(n); {
		if !c.patient && time.Since(began) > wait {
			return ErrFull
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(10 * time.Millisecond):
		}
	}
	c.n.Add(n)
	return nil
}

// Grow takes what lacks to n bytes in all.
func (c *Claim) Grow(ctx context.Context, n int64) error { return c.Take(ctx, n-c.n.Load()) }

// End releases everything.
func (c *Claim) End() {
	c.b.give(c.n.Swap(0))
	c.mu.Lock()
	ends := c.ends
	c.ends = nil
	c.mu.Unlock()
	for _, f := range ends {
		f()
	}
}

// OnEnd has f called when the claim ends.
func (c *Claim) OnEnd(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ends = append(c.ends, f)
}

// Budget is what the claim takes from.
func (c *Claim) Budget() *Budget { return c.b }

type claimKey struct{}

// With returns a context whose work is charged to a claim.
func With(ctx context.Context, c *Claim) context.Context {
	return context.WithValue(ctx, claimKey{}, c)
}

// Of returns the claim of a context; nil where it has none.
func Of(ctx context.Context) *Claim {
	c, _ := ctx.Value(claimKey{}).(*Claim)
	return c
}

// Within returns a context with a claim of its own, for a part of a request's work that ends before
// the request does. Without a claim in ctx there is none here.
func Within(ctx context.Context) (part context.Context, end func()) {
	of := Of(ctx)
	if of == nil {
		return ctx, func() {}
	}
	c := &Claim{b: of.b, patient: of.patient}
	return With(ctx, c), c.End
}

// Take takes from the claim of a context. Without one, as on the command line, there is no bound.
func Take(ctx context.Context, n int64) error {
	if c := Of(ctx); c != nil {
		return c.Take(ctx, n)
	}
	return nil
}
