package world

import (
	"slices"
	"time"
)

// Mark is a world as it was when its changes began to be remembered.
type Mark struct {
	now                  time.Duration
	log, others, assumed int
	waiting              []entry
	due                  eventHeap
}

// Mark begins to remember changes. All that was to happen has happened.
func (w *World) Mark() Mark {
	m := Mark{now: w.now, log: len(w.log), others: len(w.others), assumed: w.assumed, due: slices.Clone(w.due.list)}
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
	w.now, w.log, w.others, w.assumed = m.now, w.log[:m.log], w.others[:m.others], m.assumed
	w.due.list = m.due
	err := w.Fork.Undo()
	w.queue.waiting, w.queue.woken, w.queue.arrived = nil, map[string]*woken{}, true
	for i := range m.waiting {
		e := &m.waiting[i]
		e.woken = nil
		w.queue.waiting = append(w.queue.waiting, e)
	}
	return err
}

// kept has what is written down put back when changes are taken back.
func kept[T any](w *World, rec *T) *T {
	if w.marked {
		was := *rec
		w.OnUndo(func() { *rec = was })
	}
	return rec
}
