package decision

import "context"

// Slot is a place among the requests at work. A request passes it on to the next one while it waits
// for something else, such as the disk.
type Slot interface {
	// Release frees the place before the request has ended. It may be called again.
	Release()
}

// SlotKey is the key of a context's Slot.
type SlotKey struct{}

// ReleaseSlot frees the slot of a context, if it has one. It is called where the request's work is
// done except for sending the answer.
func ReleaseSlot(ctx context.Context) {
	if s, ok := ctx.Value(SlotKey{}).(Slot); ok {
		s.Release()
	}
}
