// Package steps ends loops that a caller can make long once the caller's context has ended.
package steps

import (
	"context"
	"slices"
)

// stride is after how many steps the context is looked at.
const stride = 2048

// Counter counts the steps of one call, some hundred nanoseconds each. A nil Counter never ends
// anything. It is for one goroutine.
type Counter struct {
	ctx     context.Context
	n, next int
}

// Of makes a counter that heeds ctx.
func Of(ctx context.Context) *Counter { return &Counter{ctx: ctx} }

// Take counts n steps that are about to be done. It returns the context's error once that has
// ended.
func (c *Counter) Take(n int) error {
	if c == nil {
		return nil
	}
	if c.n += n; c.n < c.next {
		return nil
	}
	c.next = c.n + stride
	return c.ctx.Err() //nolint:wrapcheck // it is the caller's own
}

// Sort sorts a list, a step a comparison. With an error the list is in no order.
func Sort[E any](c *Counter, list []E, compare func(a, b E) int) (err error) {
	slices.SortFunc(list, func(a, b E) int {
		if err == nil {
			err = c.Take(1)
		}
		if err != nil {
			return 0 // equal elements take few comparisons more
		}
		return compare(a, b)
	})
	return err
}
