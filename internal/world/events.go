package world

import (
	"cmp"
	"container/heap"
	"errors"
	"fmt"
	"strings"
	"time"
)

// phase orders what happens at one instant.
type phase uint8

const (
	// writes are what kubelets, the node lifecycle controller and people write.
	writes phase = iota
	// syncs are controllers that react.
	syncs
	// arrives is a pod that comes to the queue.
	arrives
)

// events are what is still to happen, in the order of instant, phase and key. Keys name the object
// that an event is about, so that the order does not depend on who scheduled first. Two events of
// one key at one instant happen in any order: they are about the same change.
type events struct{ list eventHeap }

type event struct {
	at    time.Duration
	phase phase
	key   string
	do    func() error
}

func (e *events) schedule(at time.Duration, p phase, key string, do func() error) {
	heap.Push(&e.list, event{at, p, key, do})
}

// next returns the instant of the first event; false where there is none.
func (e *events) next() (at time.Duration, ok bool) {
	if len(e.list) == 0 {
		return 0, false
	}
	return e.list[0].at, true
}

// run has all happen that is due until an instant.
func (e *events) run(until time.Duration) error {
	for len(e.list) > 0 && e.list[0].at <= until {
		if err := heap.Pop(&e.list).(event).do(); err != nil {
			return err
		}
	}
	return nil
}

type eventHeap []event

func (h eventHeap) Len() int { return len(h) }
func (h eventHeap) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(h[i].at, h[j].at), cmp.Compare(h[i].phase, h[j].phase), cmp.Compare(h[i].key, h[j].key)) < 0
}
func (h eventHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *eventHeap) Push(x any)   { *h = append(*h, x.(event)) }

func (h *eventHeap) Pop() any {
	last := len(*h) - 1
	e := (*h)[last]
	(*h)[last] = event{}
	*h = (*h)[:last]
	return e
}

// loop is what is to happen and the pods that wait. Every run, with or without a clock, goes on by
// it.
type loop struct {
	due   events
	queue *queue
}

// step has all happen that is due at an instant, controllers react and the scheduler try the pods
// that wait, until none of them has anything to do. React reports whether it changed anything;
// observe sees what the scheduler did. Both may be nil.
func (l *loop) step(now time.Duration, react func() (changed bool, err error), observe func() error) error {
	for rounds := 0; ; rounds++ {
		if err := l.due.run(now); err != nil {
			return err
		}
		changed := false
		if react != nil {
			var err error
			if changed, err = react(); err != nil {
				return err
			}
		}
		err := l.queue.tryAll()
		if observe != nil {
			err = errors.Join(err, observe())
		}
		if next, ok := l.due.next(); err != nil || !changed && (!ok || next > now) {
			return err
		}
		if rounds == maxRounds {
			object := "a Deployment"
			if len(l.due.list) > 0 {
				object, _, _ = strings.Cut(l.due.list[0].key, "~")
			}
			return &HotLoopError{seconds(now), fmt.Sprintf("%.100s", object)}
		}
	}
}

// maxRounds is how often one instant may bring about what is due at once.
const maxRounds = 1000

// HotLoopError ends a run in which one instant brings about more and more, as in a cluster in which
// controllers undo what others do.
type HotLoopError struct {
	Seconds int64  // of the instant, from the start
	Object  string // one of those that turn
}

func (e *HotLoopError) Error() string {
	return fmt.Sprintf("hot loop: after %d s the cluster changes again and again, at %s", e.Seconds, e.Object)
}
