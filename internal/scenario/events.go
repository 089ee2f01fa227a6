package scenario

import (
	"cmp"
	"container/heap"
)

// event is something that happens at a time of a scenario's own: a second, or a nanosecond of a
// run.
type event struct {
	at    int64
	order int
	do    func() error
}

// events are what is still to happen, the first one first; of one second as they were scheduled.
type events struct {
	list  eventHeap
	order int
}

func (e *events) schedule(at int64, do func() error) {
	e.order++
	heap.Push(&e.list, event{at, e.order, do})
}

// next returns the second of the first event; false where there is none.
func (e *events) next() (at int64, ok bool) {
	if len(e.list) == 0 {
		return 0, false
	}
	return e.list[0].at, true
}

func (e *events) pop() event { return heap.Pop(&e.list).(event) }

type eventHeap []event

func (h eventHeap) Len() int { return len(h) }
func (h eventHeap) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(h[i].at, h[j].at), cmp.Compare(h[i].order, h[j].order)) < 0
}
func (h eventHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *eventHeap) Push(x any)   { *h = append(*h, x.(event)) }

func (h *eventHeap) Pop() any {
	last := len(*h) - 1
	e := (*h)[last]
	*h = (*h)[:last]
	return e
}
