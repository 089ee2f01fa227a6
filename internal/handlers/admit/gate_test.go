package admit

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"berth/internal/handlers/exchange"
)

func named(name string) exchange.Caller { return exchange.Caller{Identity: name} }

// queued has calls of callers arrive, one after the other, at a gate whose slots are taken.
func queued(t *testing.T, g *gate, callers ...string) (list []*waiter) {
	t.Helper()
	for _, c := range callers {
		_, w, err := g.arrive("", named(c))
		if w == nil {
			t.Fatalf("%s does not wait: %v", c, err)
		}
		list = append(list, w)
	}
	return list
}

func taken(t *testing.T, g *gate, callers ...string) (list []*place) {
	t.Helper()
	for _, c := range callers {
		at, _, err := g.arrive("", named(c))
		if at == nil {
			t.Fatalf("%s has no slot: %v", c, err)
		}
		list = append(list, at)
	}
	return list
}

// TestCallersTakeTurns: a caller with many calls delays its own, and none of the others.
func TestCallersTakeTurns(t *testing.T) {
	g := newGate("x", 1, 1, 20, time.Minute)
	at := taken(t, g, "a")[0]
	names := strings.Fields("a a a b b c a")
	waiters := queued(t, g, names...)
	var order []string
	for range waiters {
		at.end()
		for i, w := range waiters {
			if len(w.ended) > 0 {
				order = append(order, names[i])
				<-w.ended
				at = &place{g: g, lane: w.lane, flow: w.flow}
			}
		}
	}
	at.end()
	if got := strings.Join(order, " "); got != "a b c a b a a" || len(g.flows) != 0 || g.running != 0 {
		t.Errorf("order %s, left %v, %d running", got, g.flows, g.running)
	}
}

// TestFewestSlotsFirst: a slot goes to the caller with the fewest, whose turn it is or not.
func TestFewestSlotsFirst(t *testing.T) {
	g := newGate("x", 4, 4, 20, time.Minute)
	at := taken(t, g, "a", "a", "a", "b")
	waiters := queued(t, g, "a", "b", "c")
	at[0].end()
	if len(waiters[2].ended) != 1 {
		t.Error("a caller without a slot waits for one with two")
	}
	at[3].end()
	if len(waiters[1].ended) != 1 || len(waiters[0].ended) != 0 {
		t.Error("a caller without a slot waits for one with two")
	}
}

// TestOneIdentityLeavesASlot: an identity leaves a slot also of two to others, and has no more than
// its bound.
func TestOneIdentityLeavesASlot(t *testing.T) {
	g := newGate("x", 2, 0, 20, time.Minute)
	taken(t, g, "a")
	queued(t, g, "a")
	taken(t, g, "b")
	if g = newGate("x", 1, 0, 20, time.Minute); len(taken(t, g, "a")) != 1 {
		t.Error("no slot of one")
	}
	g = newGate("x", 16, 0, 20, time.Minute)
	g.perCaller = 3
	taken(t, g, "a", "a", "a")
	queued(t, g, "a")
}

// TestGreediestGivesWay: where all places to wait are taken, the newest call of the caller with the
// most gives way, until all have as many.
func TestGreediestGivesWay(t *testing.T) {
	g := newGate("x", 1, 1, 4, time.Minute)
	taken(t, g, "a")
	greedy := queued(t, g, "a", "a", "a", "a")
	if _, w, err := g.arrive("", named("a")); w != nil || err == nil {
		t.Error("a fifth call waits in four places")
	}
	queued(t, g, "b")
	var e *exchange.Error
	if len(greedy[3].ended) != 1 || !errors.As(<-greedy[3].ended, &e) || e.Limit != "x-queue" {
		t.Errorf("the newest call of the greediest: %v", e)
	}
	queued(t, g, "b")
	if len(greedy[2].ended) != 1 {
		t.Error("the second newest has its place still")
	}
	if _, w, err := g.arrive("", named("b")); w != nil || err == nil {
		t.Error("a caller takes more than half of the places from another")
	}
	queued(t, g, "c")
	if g.waiting != 4 || len(greedy[0].ended) != 0 {
		t.Errorf("%d wait", g.waiting)
	}
}

// twin is a gate written the plain way: lists of calls, everything counted anew.
type twin struct {
	inFlight, total, queue int
	shared                 bool
	running, waiting       []twinCall
	turns                  map[string]int // of callers with calls that wait: when the turn was
	now                    int
}

type twinCall struct {
	id           int
	lane, caller string
}

func count(list []twinCall, f func(twinCall) bool) (n int) {
	for _, c := range list {
		if f(c) {
			n++
		}
	}
	return n
}

func (w *twin) free(c twinCall) bool {
	share := w.total - w.total/8
	if w.total > 1 {
		share = w.total - max(1, w.total/8)
	}
	return len(w.running) < w.total &&
		count(w.running, func(r twinCall) bool { return r.lane == c.lane }) < w.inFlight &&
		count(w.running, func(r twinCall) bool { return r.caller == c.caller }) < share
}

// arrive returns the id of the call that gave way, -1 for none, and whether the call is let in.
func (w *twin) arrive(c twinCall) (gone int, in bool) {
	if w.free(c) {
		w.running = append(w.running, c)
		return -1, true
	}
	gone = -1
	scope := func(o twinCall) bool { return w.shared || o.lane == c.lane }
	if count(w.waiting, scope) >= w.queue {
		of := func(name string) int {
			return count(w.waiting, func(o twinCall) bool { return scope(o) && o.caller == name })
		}
		greediest := ""
		for _, o := range w.waiting {
			if n := of(o.caller); n > of(c.caller)+1 && (greediest == "" || n > of(greediest) || n == of(greediest) && w.turns[o.caller] < w.turns[greediest]) {
				greediest = o.caller
			}
		}
		if greediest == "" {
			return -1, false
		}
		for i, o := range slices.Backward(w.waiting) {
			if scope(o) && o.caller == greediest {
				gone = o.id
				w.waiting = slices.Delete(w.waiting, i, i+1)
				break
			}
		}
	}
	if w.waits(c.caller) == 0 {
		w.stamp(c.caller)
	}
	w.waiting = append(w.waiting, c)
	return gone, true
}

func (w *twin) waits(name string) int {
	return count(w.waiting, func(o twinCall) bool { return o.caller == name })
}

func (w *twin) stamp(name string) { w.now++; w.turns[name] = w.now }

// grant runs what may run after calls ended.
func (w *twin) grant() {
	for {
		best := -1
		rank := func(c twinCall) []int {
			return []int{count(w.running, func(r twinCall) bool { return r.caller == c.caller }), w.turns[c.caller]}
		}
		for i, c := range w.waiting {
			if w.free(c) && (best < 0 || slices.Compare(rank(c), rank(w.waiting[best])) < 0) {
				best = i
			}
		}
		if best < 0 {
			return
		}
		c := w.waiting[best]
		w.waiting = slices.Delete(w.waiting, best, best+1)
		w.running = append(w.running, c)
		w.stamp(c.caller)
	}
}

// TestGateIsItsTwin: after any calls that come, end and give up, the same ones run and wait as in
// the plain way.
func TestGateIsItsTwin(t *testing.T) {
	for seed := range uint64(400) {
		rnd := rand.New(rand.NewPCG(seed, 7))
		lanes, callers := 1+rnd.IntN(3), 1+rnd.IntN(5)
		w := &twin{inFlight: 1 + rnd.IntN(4), queue: rnd.IntN(8), shared: rnd.IntN(3) == 0, turns: map[string]int{}}
		w.total = w.inFlight + rnd.IntN(12)
		g := newGate("x", w.inFlight, w.total, w.queue, time.Minute)
		g.shared = w.shared
		places, waiters := map[int]*place{}, map[int]*waiter{}
		for step := range 300 {
			what := ""
			switch k := rnd.IntN(10); {
			case k < 6:
				c := twinCall{id: step, lane: fmt.Sprint("l", rnd.IntN(lanes)), caller: fmt.Sprint("c", min(rnd.IntN(callers), rnd.IntN(callers)))}
				if lanes == 1 {
					c.lane = ""
				}
				at, wait, err := g.arrive(c.lane, named(c.caller))
				if at != nil {
					places[c.id] = at
				}
				if wait != nil {
					waiters[c.id] = wait
				}
				gone, in := w.arrive(c)
				if what = fmt.Sprintf("%+v arrives", c); in != (err == nil) {
					t.Fatalf("seed %d, step %d: %s: let in %v, want %v", seed, step, what, err == nil, in)
				}
				if gone >= 0 {
					if given := waiters[gone]; given == nil || len(given.ended) != 1 || <-given.ended == nil {
						t.Fatalf("seed %d, step %d: %s: call %d did not give way", seed, step, what, gone)
					}
					delete(waiters, gone)
				}
			case k < 9 && len(w.running) > 0:
				i := rnd.IntN(len(w.running))
				id := w.running[i].id
				w.running = slices.Delete(w.running, i, i+1)
				w.grant()
				places[id].end()
				delete(places, id)
				what = fmt.Sprintf("%d ends", id)
			case len(w.waiting) > 0:
				i := rnd.IntN(len(w.waiting))
				id := w.waiting[i].id
				w.waiting = slices.Delete(w.waiting, i, i+1)
				if err := g.giveUp(waiters[id], context.Canceled); !errors.Is(err, context.Canceled) {
					t.Fatalf("seed %d, step %d: %d gives up: %v", seed, step, id, err)
				}
				delete(waiters, id)
				what = fmt.Sprintf("%d gives up", id)
			}
			for id, wait := range waiters {
				if len(wait.ended) == 0 {
					continue
				}
				if err := <-wait.ended; err != nil {
					t.Fatalf("seed %d, step %d: %s: %d ends with %v", seed, step, what, id, err)
				}
				places[id] = &place{g: g, lane: wait.lane, flow: wait.flow}
				delete(waiters, id)
			}
			for _, c := range w.running {
				if places[c.id] == nil {
					t.Fatalf("seed %d, step %d: %s: %+v does not run", seed, step, what, c)
				}
			}
			if len(places) != len(w.running) || len(waiters) != len(w.waiting) || g.running != len(places) || g.waiting != len(waiters) {
				t.Fatalf("seed %d, step %d: %s: %d run, %d wait, want %d and %d", seed, step, what, len(places), len(waiters), len(w.running), len(w.waiting))
			}
		}
		for id, wait := range waiters {
			_ = g.giveUp(wait, context.Canceled)
			delete(waiters, id)
		}
		for _, at := range places {
			at.end()
		}
		if len(g.lanes)+len(g.flows)+g.running+g.waiting+g.turns.Len() != 0 || len(g.spare) > mostSpare {
			t.Fatalf("seed %d: left: %v %v, %d running, %d waiting", seed, g.lanes, g.flows, g.running, g.waiting)
		}
	}
}

// BenchmarkGate enters a gate whose slots are free.
func BenchmarkGate(b *testing.B) {
	for _, lane := range []string{"", "prod"} {
		b.Run("lane="+lane, func(b *testing.B) {
			g, ctx, c := newGate("x", 4, 64, 32, time.Second), b.Context(), named("token:ci")
			b.ReportAllocs()
			for b.Loop() {
				at, err := g.enter(ctx, lane, c)
				if err != nil {
					b.Fatal(err)
				}
				at.end()
			}
		})
	}
}
