package lists

// Room makes values that are kept about as long as each other, some at a time: one allocation is as
// dear as the copy of a small value. The zero value is ready. It is for one goroutine.
type Room[T any] struct{ free []T }

// atOnce is how many values are made at a time: what is kept longer than the others keeps these.
const atOnce = 32

// Keep returns a copy of a value.
func (r *Room[T]) Keep(v *T) *T {
	if len(r.free) == 0 {
		r.free = make([]T, atOnce)
	}
	kept := &r.free[0]
	*kept, r.free = *v, r.free[1:]
	return kept
}
