package handlers

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"runtime/debug"
	runtimemetrics "runtime/metrics"
	"sync/atomic"
	"time"
)

const (
	// defaultBudget is the memory for requests where neither a setting nor a memory limit tells it.
	defaultBudget = 2 << 30
	// budgetWait is how long a request waits for memory that others hold.
	budgetWait = 500 * time.Millisecond
	// decodedFactor is what a body takes beside itself once it is decoded, in bytes a byte. A node in a call with whole
	// nodes takes nodeFactor when it is decoded.
	decodedFactor, nodeFactor = 4, 10
	// uploadFactor and uploadObject are what an object of an upload takes until its state is built: bytes a byte of its
	// encoding, and bytes beside.
	uploadFactor, uploadObject = 3, 2 << 10
	// decoderBytes is what reading YAML or zstd takes at most, whatever comes of it.
	decoderBytes = 64 << 20
	// largeTake is from how many bytes on the live heap is looked at as well.
	largeTake = 1 << 20
)

// budget bounds the memory that all requests take together. What a request takes is estimated and taken before it is
// allocated.
type budget struct {
	limit int64
	// ceiling bounds the live heap with what is taken, states in memory included; 0: there is no memory limit.
	ceiling int64
	used    atomic.Int64
	live    func() int64
}

func newBudget(limit Bytes) *budget {
	b := &budget{limit: int64(limit), live: liveHeap}
	total := debug.SetMemoryLimit(-1)
	if total > 0 && total < 1<<50 { // the runtime calls no limit so
		b.ceiling = total / 8 * 7
		if b.limit == 0 {
			b.limit = total / 2
		}
	}
	if b.limit == 0 {
		b.limit = defaultBudget
	}
	return b
}

// liveHeap is what the last garbage collection found in use.
func liveHeap() int64 {
	s := []runtimemetrics.Sample{{Name: "/gc/heap/live:bytes"}}
	runtimemetrics.Read(s)
	return int64(s[0].Value.Uint64()) //nolint:gosec // no heap has 2^63 bytes
}

// fits takes n bytes if they are there.
func (b *budget) fits(n int64) bool {
	if b.used.Add(n) > b.limit || n >= largeTake && b.ceiling > 0 && b.live()+n > b.ceiling {
		b.used.Add(-n)
		return false
	}
	return true
}

// claim is what one request has taken. It is for one goroutine.
type claim struct {
	b *budget
	n int64
}

// take takes n bytes more, and waits a little where others hold them.
func (c *claim) take(ctx context.Context, n int64) error {
	if c.n+n > c.b.limit {
		return tooLarge("memory-budget", fmt.Sprintf("the request needs more memory than all requests may take together: memory-budget=%s", Bytes(c.b.limit)))
	}
	for began := time.Now(); !c.b.fits(n); {
		if time.Since(began) > budgetWait {
			return &Error{
				Status: http.StatusServiceUnavailable, Kind: "overload", Limit: "memory-budget", RetryAfter: 1 + rand.IntN(3), gate: true,
				Detail: "the memory for requests is taken by others; try again later",
			}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(10 * time.Millisecond):
		}
	}
	c.n += n
	return nil
}

// end gives everything back.
func (c *claim) end() {
	if c.n > 0 {
		c.b.used.Add(-c.n)
		c.n = 0
	}
}
