package main

import "container/heap"

// endings is a heap of running tasks by the time that they end.
type endings []task

func (e endings) Len() int           { return len(e) }
func (e endings) Less(i, j int) bool { return e[i].deleted < e[j].deleted }
func (e endings) Swap(i, j int)      { e[i], e[j] = e[j], e[i] }
func (e *endings) Push(x any)        { *e = append(*e, x.(task)) }
func (e *endings) Pop() any {
	old := *e
	last := old[len(old)-1]
	*e = old[:len(old)-1]
	return last
}

// evicted is a preempted task that waits for a node again.
type evicted struct {
	task
	tries int
}

// waiting is a heap of them in the order of a scheduler's queue: higher priority
// first, then the older, then by name.
type waiting []evicted

func (w waiting) Len() int      { return len(w) }
func (w waiting) Swap(i, j int) { w[i], w[j] = w[j], w[i] }
func (w waiting) Less(i, j int) bool {
	a, b := w[i], w[j]
	if x, y := a.class().value, b.class().value; x != y {
		return x > y
	}
	if a.created != b.created {
		return a.created < b.created
	}
	return a.name < b.name
}
func (w *waiting) Push(x any) { *w = append(*w, x.(evicted)) }
func (w *waiting) Pop() any {
	old := *w
	last := old[len(old)-1]
	*w = old[:len(old)-1]
	return last
}

func (w *waiting) add(e evicted) { heap.Push(w, e) }
func (w *waiting) next() evicted { return heap.Pop(w).(evicted) }

// leave takes out who would have ended by a time, and describes who that was.
func (w *waiting) leave(by int64) (gone []task) {
	var stay waiting
	for _, e := range *w {
		if e.deleted <= by {
			gone = append(gone, e.task)
		} else {
			stay = append(stay, e)
		}
	}
	if gone != nil {
		*w = stay
		heap.Init(w)
	}
	return gone
}
