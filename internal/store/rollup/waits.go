package rollup

import (
	"cmp"
	"slices"
	"time"

	"berth/internal/store"
)

// Pod names a pod of a cluster.
type Pod struct{ Namespace, Name, UID string }

// Event is what is known of a pod from a time on: it waits for a cause, or, where that is empty,
// for nothing.
type Event struct {
	At    time.Time
	Order string // of events of one time, the id of a decision
	Cause string
}

// EventOf returns what a decision says of its pod; ok is false where it says nothing.
func EventOf(d *store.Decision) (e Event, ok bool) {
	switch {
	case Placed(d):
		return Event{At: d.CreatedAt, Order: d.ID}, true
	case Attempted(d):
		return Event{At: d.CreatedAt, Order: d.ID, Cause: Cause(d)}, true
	}
	return Event{}, false
}

// Wait is a stretch of time in which a pod waited for one cause.
type Wait struct {
	Since time.Time
	Cause string
	Until time.Time // zero: it waits
	// Seen is the time of the newest event that is known of the pod, in its last stretch.
	Seen time.Time
}

// Sort puts events in their order, and leaves the last one of each time: a stretch has a length.
func Sort(events []Event) []Event {
	slices.SortStableFunc(events, func(a, b Event) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Order, b.Order))
	})
	sorted := events[:0]
	for i, e := range events {
		if i == len(events)-1 || !events[i+1].At.Equal(e.At) {
			sorted = append(sorted, e)
		}
	}
	return sorted
}

// Waits returns the stretches of a pod that follow from those before and from events that are
// sorted and later than all that made those before: only the last of these may change.
func Waits(before []Wait, events []Event) []Wait {
	waits := slices.Clone(before)
	for _, e := range events {
		n := len(waits)
		open := n > 0 && waits[n-1].Until.IsZero()
		if !open || waits[n-1].Cause != e.Cause {
			if open {
				waits[n-1].Until = e.At
			}
			if e.Cause != "" {
				waits = append(waits, Wait{Since: e.At, Cause: e.Cause})
			}
		}
		if n := len(waits); n > 0 {
			waits[n-1].Seen = e.At
		}
	}
	return waits
}
