// Package memory bounds what everything in a process that a request can make large takes together.
// What is needed is estimated, from above, and taken before it is allocated.
package memory

import (
	"context"
	"errors"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// defaultLimit is the budget where neither a setting nor a memory limit tells it.
	defaultLimit = 9 << 28
	// wait is how long a request waits for memory that others hold, briefly an urgent one.
	wait, briefly = time.Second, time.Second / 4
	// large is from how many bytes on the heap is looked at as well.
	large = 1 << 20
	// huge is from how many bytes on a claim leaves so much garbage that the system gets it back.
	huge = 64 << 20
	// collectEvery and relieveEvery are how often the heap is collected and caches are dropped at
	// most.
	collectEvery, relieveEvery = 100 * time.Millisecond, 2 * time.Second
)

// ErrFull is of an amount that others hold now.
var ErrFull = errors.New("the memory for requests is taken by others; try again later")

// NeverError is of an amount that is more than all the budget but its reserve. Both are in bytes.
type NeverError struct{ Limit, Reserve int64 }

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
	total int64 // the runtime's memory limit; 0: there is none
	used  atomic.Int64
	kept  reserve // of limit
	// outside is what is taken of memory that the collector does not know.
	outside atomic.Int64
	rt      runtimeMemory

	mu                  sync.Mutex
	relief              []func()  // guarded by mu
	collecting          bool      // guarded by mu
	releasing           bool      // guarded by mu
	collected, relieved time.Time // guarded by mu
}

// New makes a budget of limit bytes; 0 stands for nine sixteenths of the runtime's memory limit, or
// 2,304 MiB where there is none. A ninth of it is the reserve.
func New(limit int64) *Budget {
	b := &Budget{limit: limit, rt: goRuntime{}}
	if total, ok := Total(); ok {
		b.total = total
		if b.limit == 0 {
			b.limit = total / 16 * 9
		}
	}
	if b.limit == 0 {
		b.limit = defaultLimit
	}
	b.kept.size = reserveOf(b.limit)
	return b
}

// Total is the runtime's memory limit; ok is false where there is none.
func Total() (total int64, ok bool) {
	total = debug.SetMemoryLimit(-1)
	return total, total > 0 && total < 1<<50 // the runtime calls no limit so
}

// Limit is how much may be taken, the reserve included.
func (b *Budget) Limit() int64 { return b.limit }

// Used is how much is taken.
func (b *Budget) Used() int64 { return b.used.Load() + b.kept.taken() }

// most is how much may be taken without the reserve.
func (b *Budget) most() int64 { return b.limit - b.kept.size }

// OnPressure has f called where memory is short. f drops what can be worked out or read again.
func (b *Budget) OnPressure(f func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.relief = append(b.relief, f)
}

// ceiling bounds the heap with what will yet be allocated, states in memory included. A quarter is
// left to what is taken and counts half: a collector that has no room takes half of the processors,
// and then lets the heap grow beyond its limit.
func (b *Budget) ceiling() int64 { return (b.total - b.outside.Load()) / 4 * 3 }

// fits takes n bytes if they are there. A large amount has to fit beside the heap as it is now,
// garbage included; half of what others have taken is on it already, since estimates are from
// above. Even if none were, all that may be taken would stay below the runtime's limit.
func (b *Budget) fits(n int64) bool {
	used := b.used.Add(n)
	if used <= b.most() && (n < large || b.total == 0) {
		return true
	}
	if used <= b.most() {
		need := (used-n)/2 + n
		live, allocated := b.rt.heap()
		if allocated+need <= b.ceiling() {
			return true
		}
		b.collect(live+need > b.ceiling())
	}
	b.used.Add(-n)
	return false
}

// collect finds garbage, in the background. Where what was live the last time leaves no room,
// caches are dropped first.
func (b *Budget) collect(short bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.collecting || time.Since(b.collected) < collectEvery {
		return
	}
	var relief []func()
	if short && time.Since(b.relieved) >= relieveEvery {
		b.relieved, relief = time.Now(), b.relief
	}
	b.collecting = true
	go func() {
		for _, f := range relief {
			f()
		}
		b.rt.collect()
		b.mu.Lock()
		defer b.mu.Unlock()
		b.collecting, b.collected = false, time.Now()
	}()
}

// move takes n bytes outside of the heap, or gives them back: the collector keeps that much less.
func (b *Budget) move(n int64) {
	if b.total == 0 || n == 0 {
		return
	}
	b.mu.Lock()
	limit := b.total - b.outside.Add(n)
	b.rt.setLimit(limit)
	b.mu.Unlock()
	if n >= large && b.rt.mapped() > limit {
		b.rt.release() // or both would be there at once
	}
}

// giveBack has the runtime release free memory to the system, in the background. The runtime
// alone keeps as much as its next collection allows, which is twice what was live while the
// largest request ran.
func (b *Budget) giveBack() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.releasing {
		return
	}
	b.releasing = true
	go func() {
		b.rt.release()
		b.mu.Lock()
		defer b.mu.Unlock()
		b.releasing = false
	}()
}

// Claim is what one request, or one piece of work in the background, has taken. It is safe for
// concurrent use.
type Claim struct {
	b       *Budget
	n       atomic.Int64
	outside atomic.Int64 // of n
	whole   *Claim       // of which this is a part; nil: it is none
	parts   atomic.Int64 // what parts of this one hold
	patient bool
	owner   Owner // nil: it is not urgent

	mu   sync.Mutex
	ends []func() // guarded by mu
	kept int64    // guarded by mu: of n, what is of the reserve
}

// Claim begins a claim of work that can wait, such as a scenario. End it.
func (b *Budget) Claim() *Claim { return &Claim{b: b} }

// UrgentClaim begins a claim that has the reserve, too, where others hold the rest.
func (b *Budget) UrgentClaim(owner Owner) *Claim { return &Claim{b: b, owner: owner} }

// Like begins a claim of its own that is as urgent as another, which may be nil.
func (b *Budget) Like(other *Claim) *Claim {
	c := b.Claim()
	if other != nil {
		c.owner = other.owner
	}
	return c
}

// Urgent reports whether a claim, which may be nil, has the reserve.
func (c *Claim) Urgent() bool { return c != nil && c.owner != nil }

// PatientClaim begins a claim of work in the background, which waits for memory for as long as its
// context does.
func (b *Budget) PatientClaim() *Claim { return &Claim{b: b, patient: true} }

// Take takes n bytes more, and waits a little where others hold them.
func (c *Claim) Take(ctx context.Context, n int64) error {
	if n <= 0 {
		return nil
	}
	whole := c
	if c.whole != nil {
		whole = c.whole
	}
	if whole.n.Load()+whole.parts.Load()+n > c.b.most() {
		return &NeverError{c.b.limit, c.b.kept.size}
	}
	patience := wait
	if c.Urgent() {
		patience = briefly
	}
	for began := time.Now(); !c.b.fits(n) && !c.keep(n); {
		if !c.patient && time.Since(began) > patience {
			return ErrFull
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(10 * time.Millisecond):
		}
	}
	c.n.Add(n)
	if c.whole != nil {
		c.whole.parts.Add(n)
	}
	return nil
}

// TakeOutside takes n bytes more of memory that the collector does not know, such as an embedded
// database's.
func (c *Claim) TakeOutside(ctx context.Context, n int64) error {
	if n < large {
		return c.Take(ctx, n) // what is always left beside the heap has room for that
	}
	if err := c.Take(ctx, n); err != nil {
		return err
	}
	c.outside.Add(n)
	c.b.move(n)
	return nil
}

// Grow takes what lacks to n bytes in all.
func (c *Claim) Grow(ctx context.Context, n int64) error { return c.Take(ctx, n-c.n.Load()) }

// End releases everything.
func (c *Claim) End() {
	c.b.move(-c.outside.Swap(0))
	n := c.n.Swap(0)
	if c.whole != nil {
		c.whole.parts.Add(-n)
	}
	c.mu.Lock()
	ends, kept := c.ends, c.kept
	c.ends, c.kept = nil, 0
	c.mu.Unlock()
	c.b.used.Add(kept - n)
	if kept > 0 {
		c.b.kept.give(c.owner.Owner(), kept)
	}
	for _, f := range ends {
		f()
	}
	if n >= huge {
		c.b.giveBack()
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

// Key is the key of a context's *Claim.
type Key struct{}

// With returns a context whose work is charged to a claim.
func With(ctx context.Context, c *Claim) context.Context {
	return context.WithValue(ctx, Key{}, c)
}

// Of returns the claim of a context; nil where it has none.
func Of(ctx context.Context) *Claim {
	c, _ := ctx.Value(Key{}).(*Claim)
	return c
}

// Within returns a context with a claim of its own, for a part of a request's work that ends before
// the request does. Without a claim in ctx there is none here.
func Within(ctx context.Context) (part context.Context, end func()) {
	c := Part(ctx)
	if c == nil {
		return ctx, func() {}
	}
	return With(ctx, c), c.End
}

// Part returns the claim of Within; nil where there is none.
func Part(ctx context.Context) *Claim {
	of := Of(ctx)
	if of == nil {
		return nil
	}
	if of.whole != nil {
		of = of.whole
	}
	return &Claim{b: of.b, whole: of, patient: of.patient, owner: of.owner}
}

// TakeOutside is Take of memory that the collector does not know.
func TakeOutside(ctx context.Context, n int64) error {
	if c := Of(ctx); c != nil {
		return c.TakeOutside(ctx, n)
	}
	return nil
}

// Take takes from the claim of a context. Without one, as on the command line, there is no bound.
func Take(ctx context.Context, n int64) error {
	if c := Of(ctx); c != nil {
		return c.Take(ctx, n)
	}
	return nil
}
