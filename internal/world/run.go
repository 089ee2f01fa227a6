package world

import (
	"context"
	"slices"
	"strconv"
	"time"

	"berth/internal/decision"
	"berth/internal/engine"
)

// Outcome is what a run did.
type Outcome struct {
	// Placed counts the arrivals that are on a node at the end, or left it when their time was
	// over. Evicted counts those that another one's preemption took off it.
	Placed, Evicted int
	// Preemptions counts attempts that evicted pods, Victims the pods that they evicted.
	Preemptions, Victims int
	// Attempts counts all attempts. Waves counts the passes over the queue.
	Attempts, Waves int
	// Waiting are the arrivals without a node, in the order in which they would be tried; Gated are
	// those that wait for their gates.
	Waiting, Gated []Waiting
	// Stopped reports that the run ended by its limit on attempts before it was idle.
	Stopped bool
}

// Run has pods arrive and be tried until the fork is idle: no pod waits that an event since its
// last attempt could help. Time is ordinal: a preemption's victims are gone at once.
//
// Each is called after each attempt and may be nil. Its argument is valid for the call.
func (f *Fork) Run(ctx context.Context, arrivals []Arrival, l Limits, each func(*Attempt) error) (*Outcome, error) {
	r := &run{loop: loop{queue: newQueue(ctx, f)}, known: map[PodName]*entry{}, coming: len(arrivals), out: &Outcome{}, each: each}
	r.queue.l, r.queue.each = l, r.attempted
	if err := r.enter(arrivals); err != nil {
		return nil, err
	}
	for !r.queue.stopped {
		at, ok := r.due.next()
		// Pods that leave when no other arrives and none waits are of no account: the end is the
		// state after the last attempt.
		if !ok || r.coming == 0 && !r.queue.tries() {
			break
		}
		r.now = at
		if err := r.step(at, nil, nil); err != nil {
			return nil, err
		}
	}
	return r.end(), nil
}

type run struct {
	loop
	known  map[PodName]*entry
	listed []*entry // as the arrivals are
	now    time.Duration
	coming int
	out    *Outcome
	each   func(*Attempt) error
}

// enter reads the arrivals.
func (r *run) enter(arrivals []Arrival) error {
	f := r.queue.f
	st := f.State()
	for i := range arrivals {
		if err := r.queue.steps.Take(1); err != nil {
			return err
		}
		name := NameOf(arrivals[i].Pod)
		if r.known[name] != nil {
			return decision.Errorf(decision.Invalid, "arrivals", "pod %s arrives twice", name)
		}
		if held := st.Pod(name.Namespace, name.Name); held != nil && (held.NodeName != "" || held.UID != string(arrivals[i].Pod.UID)) {
			return decision.Errorf(decision.Invalid, "arrivals", "pod %s is in %s already", name, f.base.ID())
		}
		e := r.queue.entry(arrivals[i])
		r.known[name] = e
		r.listed = append(r.listed, e)
		r.due.schedule(e.At, arrives, listed(i), func() error {
			r.coming--
			r.queue.add(e)
			return nil
		})
	}
	return nil
}

// listed is the key of an event by its place in a list.
func listed(i int) string {
	n := strconv.Itoa(i)
	return string(rune('a'+len(n))) + n // longer numbers are larger
}

func (r *run) attempted(e *entry, at *Attempt) error {
	switch at.Outcome {
	case engine.Scheduled:
		if e.Duration > 0 {
			r.due.schedule(r.now+e.Duration, writes, NameOf(e.Pod).String(), func() error { return r.leave(e) })
		}
	case engine.Preempting:
		r.out.Preemptions++
		r.out.Victims += len(at.Victims)
		for _, v := range at.Victims {
			if of := r.known[PodName{v.Namespace, v.Name}]; of != nil && of.place == bound {
				of.place = evicted
				r.out.Evicted++
			}
		}
	}
	if r.each == nil {
		return nil
	}
	return r.each(at)
}

// leave takes a pod off its node, unless it was evicted.
func (r *run) leave(e *entry) error {
	if e.place != bound {
		return nil
	}
	e.place = left
	return r.queue.f.Delete(e.Pod.Namespace, e.Pod.Name)
}

// end sums the run up.
func (r *run) end() *Outcome {
	out := r.out
	out.Attempts, out.Waves, out.Stopped = r.queue.attempts, r.queue.waves, r.queue.stopped
	var rest []*entry
	for _, e := range r.listed {
		switch e.place {
		case bound, left:
			out.Placed++
		case evicted:
		default:
			rest = append(rest, e)
		}
	}
	slices.SortStableFunc(rest, r.queue.before)
	for _, e := range rest {
		w := Waiting{e.Pod, e.last}
		if r.queue.gated(e.Pod) {
			out.Gated = append(out.Gated, w)
		} else {
			out.Waiting = append(out.Waiting, w)
		}
	}
	return out
}
