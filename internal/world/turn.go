package world

import (
	"cmp"
	"slices"
	"time"

	"berth/internal/engine/state"
	"berth/internal/steps"
)

// turn is a place in the queue among pods of one priority: when a pod came or was last tried, and
// the number of that among others. Who had their turns in one pass, and have no numbers of their
// own in it, stand as they did before it.
type turn struct {
	at     time.Duration
	order  int
	before *history // nil where the number is the pod's alone
}

// history is where a pod stood before a pass: its turn, and the passes after it.
type history struct {
	turn   turn
	passes *pass
}

// pass is one over the queue in which attempts at pods were in vain and were not made.
type pass struct {
	at     time.Duration
	order  int
	before *pass
}

// newest returns the last time that a pod had its turn.
func (h history) newest() (time.Duration, int) {
	if h.passes != nil && h.passes.order > h.turn.order {
		return h.passes.at, h.passes.order
	}
	return h.turn.at, h.turn.order
}

// previous returns where the pod stood before; false where its number is its own.
func (h history) previous() (history, bool) {
	switch {
	case h.passes != nil && h.passes.order > h.turn.order:
		return history{h.turn, h.passes.before}, true
	case h.turn.before != nil:
		return *h.turn.before, true
	}
	return h, false
}

// compare is the order of two pods of one priority.
func (h history) compare(o history) int {
	for {
		if h.passes == o.passes {
			h.passes, o.passes = nil, nil // who had a turn of its own after them is the later one
		}
		at, order := h.newest()
		oAt, oOrder := o.newest()
		if c := cmp.Or(cmp.Compare(at, oAt), cmp.Compare(order, oOrder)); c != 0 {
			return c
		}
		var is, other bool
		h, is = h.previous()
		if o, other = o.previous(); !is || !other {
			return 0
		}
	}
}

// history returns where a pod stands.
func (e *entry) history() history {
	if e.by == nil {
		return history{e.turn, nil}
	}
	return history{e.turn, e.by.passes}
}

// flushEvery is between two looks for pods that have waited too long
// (backend/queue/scheduling_queue.go Run). It is not known when a scheduler's first one was: here
// they are at whole multiples of it from the start.
const flushEvery = 30 * time.Second

// flushAfter is the look after which a pod that is tried in vain at one of them is tried again.
const flushAfter = state.UnschedulableFor + flushEvery

// flushOf returns when a pod that was last tried at an instant, and heard of nothing since, is
// tried again, the first time after now (scheduling_queue.go flushUnschedulablePodsLeftover).
func flushOf(tried, now time.Duration) time.Duration {
	first := (tried+state.UnschedulableFor)/flushEvery*flushEvery + flushEvery
	if first > now {
		return first
	}
	return first + ((now-first)/flushAfter+1)*flushAfter
}

// flush returns when a pod is tried again by time alone, the first time after an instant.
func (e *entry) flush(after time.Duration) time.Duration {
	at, _ := e.history().newest()
	return flushOf(at, after)
}

// locate works out the attempts in vain at looks by which nothing had happened: they were not made,
// and move a pod back in the queue.
func (q *queue) locate(e *entry) {
	if !q.lingers || !e.failed {
		return
	}
	h := e.history()
	at, order := h.newest()
	last := flushOf(at, q.f.now) - flushAfter
	if last <= at || last >= q.f.now {
		return
	}
	if order == e.turn.order {
		e.turn.at = last
		return
	}
	e.turn = turn{last, order, &h}
}

// passing is the present pass.
type passing struct {
	order  int         // its number where attempts of it are not made, else 0
	booked []*rejected // the pods whose attempts are not made
	events uint64      // those by which they would be in vain
	begun  uint64      // the events before it
}

// book begins a pass: it moves those back whose attempts will be in vain and are not made.
func (q *queue) book() {
	p := &q.passing
	p.order, p.events, p.begun = 0, q.f.events, q.f.events
	if len(q.booked) == 0 {
		return
	}
	q.orders++
	p.order = q.orders
	made := map[*pass]*pass{} // by the one before
	for _, r := range q.booked {
		next := made[r.passes]
		if next == nil {
			next = &pass{q.f.now, p.order, r.passes}
			made[r.passes] = next
		}
		r.passes, r.booked, r.gained = next, false, 0
	}
	p.booked = append(p.booked[:0], q.booked...)
	q.booked = q.booked[:0]
}

// stood returns where a pod stood before the present pass.
func (q *queue) stood(e *entry) history {
	h := e.history()
	if h.passes != nil && h.passes.order == q.passing.order {
		h.passes = h.passes.before
	}
	return h
}

// turn returns the turn of a pod that is tried now.
func (q *queue) turn(e *entry) turn {
	if q.passing.order == 0 {
		return turn{at: q.f.now, order: q.orders}
	}
	h := q.stood(e)
	return turn{q.f.now, q.passing.order, &h}
}

// join has those join a pass whose attempts would no longer be in vain, after an attempt at the
// pod at an index, and whose turn is still to come.
func (q *queue) join(due []*entry, i int) ([]*entry, error) {
	p := &q.passing
	if p.order == 0 || p.events == q.f.events {
		return due, nil
	}
	var hear []*rejected
	p.booked = slices.DeleteFunc(p.booked, func(r *rejected) bool {
		if q.wakes(r) <= p.events && r.ended <= p.events {
			return false
		}
		hear = append(hear, r)
		return true
	})
	p.events = q.f.events
	if len(hear) == 0 {
		return due, nil
	}
	last, n := due[i].turn.before, len(due)
	for _, e := range q.waiting {
		if e.wave != q.waves && slices.Contains(hear, e.by) && q.mayTry(e) &&
			cmp.Or(cmp.Compare(due[i].priority, e.priority), q.stood(e).compare(*last)) > 0 {
			due, e.wave = append(due, e), q.waves
		}
	}
	if len(due) == n {
		return due, nil
	}
	return due, steps.Sort(q.steps, due[i+1:], q.before)
}
