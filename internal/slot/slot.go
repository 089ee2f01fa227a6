// Package slot lets a request pass its place among those at work on to the next one, while it waits
// for something else, such as the disk.
package slot

import "context"

// Slot is a place among the requests at work.
type Slot interface {
	// Release frees the place before the request has ended. It may be called again.
	Release()
}

// Key is the key of a context's Slot.
type Key struct{}

// Release frees the slot of a context, if it has one. It is called where the request's work is done
// but for sending the answer.
func Release(ctx context.Context) {
	if s, ok := ctx.Value(Key{}).(Slot); ok {
		s.Release()
	}
}
