// Package stepstest has contexts that show whether, and how often, a call looks at its context.
// None of them has a clock, so what they show is the same on every machine.
package stepstest

import (
	"context"
	"sync"
	"sync/atomic"
)

// Context counts how often it is looked at and ends at a given look. It is safe for concurrent
// use.
type Context struct {
	context.Context
	last  int64
	looks atomic.Int64
	done  chan struct{}
	end   sync.Once
}

// After returns a context that is ended from look n on; below 1 it never ends.
func After(parent context.Context, n int) *Context {
	return &Context{Context: parent, last: int64(n), done: make(chan struct{})}
}

// Err implements context.Context. Each call of it is a look.
func (c *Context) Err() error {
	n := c.looks.Add(1)
	if c.last < 1 || n < c.last {
		return c.Context.Err() //nolint:wrapcheck // a context's own
	}
	c.end.Do(func() { close(c.done) })
	return context.Canceled
}

// Done implements context.Context.
func (c *Context) Done() <-chan struct{} { return c.done }

// Looks tells how often the context was looked at.
func (c *Context) Looks() int { return int(c.looks.Load()) }
