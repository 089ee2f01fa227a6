package world

import (
	"slices"
	"time"
)

// Mark is a world as it was when its changes began to be remembered.
type Mark struct {
	now                           time.Duration
	log, others, assumed, unknown int
	waiting                       []entry
	due                           eventHeap
}

// Mark begins to remember changes. All that was to happen has happened.
func (w *World) Mark() Mark {
	m := Mark{now: w.now, log: len(w.log), others: len(w.others), assumed: w.assumed, unknown: w.jobs.unknown, due: slices.Clone(w.due.list)}
	for _, e := range w.queue.waiting {
		m.waiting = append(m.waiting, *e)
	}
	w.Fork.Mark()
	return m
}

// Since returns the pods that have left since a mark.
func (w *World) Since(m Mark) []*Left { return w.log[m.log:] }

// Undo takes back what happened since a mark.
func (w *World) Undo(m Mark) error {
	w.now, w.log, w.others, w.assumed, w.jobs.unknown = m.now, w.log[:m.log], w.others[:m.others], m.assumed, m.unknown
	w.queue.waiting = nil
	for i := range m.waiting {
		w.queue.waiting = append(w.queue.waiting, &m.waiting[i])
	}
	w.due.list = m.due
	return w.Fork.Undo()
}
