package admit

import (
	"cmp"
	"container/list"
	"context"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"berth/internal/handlers/exchange"
)

// gate admits a bounded number of calls and lets a bounded number wait, before a byte of a body is
// read. Each lane, such as a cluster, has slots and places to wait of its own, and callers take
// turns: one that sends many calls at once delays its own. kube-apiserver's API priority and
// fairness has flows for that (fairqueuing/queueset); here a flow is a caller.
type gate struct {
	class    string // the first part of the settings' names
	inFlight int    // per lane
	total    int    // over all lanes
	queue    int    // places to wait, per lane; over all lanes if shared
	shared   bool
	wait     time.Duration
	// perCaller bounds the slots of one identity, beside what it leaves to others; 0: no bound.
	perCaller int

	mu sync.Mutex
	// guarded by mu: the lanes and callers that have calls in flight or waiting, and sums over
	// them.
	lanes            map[string]*lane
	flows            map[exchange.Caller]*flow
	turns            *list.List // of *flow: callers with calls that wait; those served last at the end
	running, waiting int
	// all is the lane of a gate without lanes, and spare are flows for the next callers.
	all   lane
	spare []*flow
	// released are the calls that go on without their slot.
	released int
}

// mostReleased bounds the calls of a class that go on without a slot: those above it keep theirs,
// so that the class fills up, and refuses calls, where a store hangs.
const mostReleased = 512

// mostSpare bounds the flows that a gate keeps for the next callers.
const mostSpare = 16

// lane is what a gate knows of one cluster.
type lane struct {
	name             string
	running, waiting int
}

// flow is what a gate knows of one caller.
type flow struct {
	caller  exchange.Caller
	running int
	waiters list.List     // of *waiter, oldest first
	turn    *list.Element // in gate.turns; nil without waiters
}

// place is a call's slot. It is for one goroutine.
type place struct {
	g    *gate
	lane *lane
	flow *flow
	gone bool // given back before the call's end
}

// waiter is a call that waits for its slot.
type waiter struct {
	lane  *lane
	flow  *flow
	at    *list.Element // in flow.waiters
	ended chan error    // receives nil with the slot, or why there is none
}

// Release implements slot.Slot.
func (p *place) Release() {
	p.g.mu.Lock()
	defer p.g.mu.Unlock()
	if !p.gone && p.g.released < mostReleased {
		p.gone = true
		p.g.released++
		p.g.leave(p.lane, p.flow)
	}
}

// end ends the call.
func (p *place) end() {
	p.g.mu.Lock()
	defer p.g.mu.Unlock()
	if p.gone {
		p.g.released--
		return
	}
	p.g.leave(p.lane, p.flow)
}

// newGate makes a gate. Without total the slots of one lane are all there are.
func newGate(class string, inFlight, total, queue int, wait time.Duration) *gate {
	return &gate{
		class: class, inFlight: inFlight, total: cmp.Or(total, inFlight), queue: queue, wait: wait,
		lanes: map[string]*lane{}, flows: map[exchange.Caller]*flow{}, turns: list.New(),
	}
}

// enter waits for a slot, which is to be ended. The error describes which setting was full.
func (g *gate) enter(ctx context.Context, laneName string, c exchange.Caller) (*place, error) {
	at, w, err := g.arrive(laneName, c)
	if w == nil {
		return at, err
	}
	timer := time.NewTimer(g.wait)
	defer timer.Stop()
	select {
	case err = <-w.ended:
	case <-timer.C:
		err = g.giveUp(w, nil)
	case <-ctx.Done():
		err = g.giveUp(w, ctx.Err())
	}
	if err != nil {
		return nil, err
	}
	return &place{g: g, lane: w.lane, flow: w.flow}, nil
}

// arrive returns a slot, or a waiter for one, or that there is no room to wait. Where there is
// none, a call takes the place of the newest one of the caller with the most that wait, unless it
// would then be ahead itself.
func (g *gate) arrive(laneName string, c exchange.Caller) (*place, *waiter, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	l, f := g.laneOf(laneName), g.flowOf(c)
	if g.free(l, f) { // then none waits that could have it
		g.take(l, f)
		return &place{g: g, lane: l, flow: f}, nil, nil
	}
	if g.full(l) {
		newest := g.greediest(l, f)
		if newest == nil {
			g.forget(l, f)
			return nil, nil, g.shed("queue")
		}
		g.drop(newest)
		newest.ended <- g.shed("queue")
		if newest.lane != l {
			g.forget(newest.lane, newest.flow)
		}
	}
	w := &waiter{lane: l, flow: f, ended: make(chan error, 1)}
	if f.turn == nil {
		f.turn = g.turns.PushBack(f)
	}
	w.at = f.waiters.PushBack(w)
	l.waiting++
	g.waiting++
	return nil, w, nil
}

// giveUp ends a wait, for the reason why or, if that is nil, for want of a slot in time. It returns
// nil where the slot came in that very moment.
func (g *gate) giveUp(w *waiter, why error) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	select {
	case err := <-w.ended:
		return err
	default:
	}
	if why == nil {
		which := "in-flight"
		if w.lane != &g.all && w.lane.running < g.inFlight {
			which = "total"
		}
		why = g.shed(which)
	}
	g.drop(w)
	g.forget(w.lane, w.flow)
	return why
}

// laneOf finds or adds a lane. The caller holds mu.
func (g *gate) laneOf(name string) *lane {
	if name == "" {
		return &g.all
	}
	l := g.lanes[name]
	if l == nil {
		l = &lane{name: name}
		g.lanes[name] = l
	}
	return l
}

// flowOf finds or adds a caller. The caller holds mu.
func (g *gate) flowOf(c exchange.Caller) *flow {
	f := g.flows[c]
	if f != nil {
		return f
	}
	if n := len(g.spare); n > 0 {
		f, g.spare = g.spare[n-1], g.spare[:n-1]
	} else {
		f = &flow{}
	}
	f.caller = c
	g.flows[c] = f
	return f
}

// forget drops a lane and a caller without calls, so that made-up names fill no memory. The caller
// holds mu.
func (g *gate) forget(l *lane, f *flow) {
	if l != &g.all && l.running == 0 && l.waiting == 0 {
		delete(g.lanes, l.name)
	}
	if f.running == 0 && f.turn == nil && g.flows[f.caller] == f {
		delete(g.flows, f.caller)
		if len(g.spare) < mostSpare {
			g.spare = append(g.spare, f)
		}
	}
}

// full reports whether there is no place to wait. The caller holds mu.
func (g *gate) full(l *lane) bool {
	if g.shared {
		return g.waiting >= g.queue
	}
	return l.waiting >= g.queue
}

// greediest returns the newest waiter of the caller with the most calls that wait for the same
// places as a call of f; nil where f would have as many or more. The caller holds mu.
func (g *gate) greediest(l *lane, f *flow) (newest *waiter) {
	if f.turn != nil && g.turns.Len() == 1 {
		return nil
	}
	most := g.waitingIn(l, f) + 1
	for e := g.turns.Front(); e != nil; e = e.Next() {
		other := e.Value.(*flow)
		if other.waiters.Len() <= most {
			continue
		}
		if n := g.waitingIn(l, other); n > most {
			most = n
			at := other.waiters.Back()
			for !g.shared && at.Value.(*waiter).lane != l {
				at = at.Prev()
			}
			newest = at.Value.(*waiter)
		}
	}
	return newest
}

// waitingIn counts the calls of a caller that take places to wait from a lane.
func (g *gate) waitingIn(l *lane, f *flow) (n int) {
	if g.shared || l == &g.all {
		return f.waiters.Len()
	}
	for e := f.waiters.Front(); e != nil; e = e.Next() {
		if e.Value.(*waiter).lane == l {
			n++
		}
	}
	return n
}

// most is how many slots one caller may have: it leaves an eighth to others, and one at least if it
// has an identity. Clients without one are often one person's.
func (g *gate) most(c exchange.Caller) int {
	most := g.total - g.total/8
	if c.Identity != "" {
		most = max(1, min(most, g.total-1, cmp.Or(g.perCaller, most)))
	}
	return most
}

func (g *gate) free(l *lane, f *flow) bool {
	return g.running < g.total && l.running < g.inFlight && f.running < g.most(f.caller)
}

func (g *gate) take(l *lane, f *flow) {
	l.running++
	f.running++
	g.running++
}

// drop takes a waiter out. The caller holds mu.
func (g *gate) drop(w *waiter) {
	w.flow.waiters.Remove(w.at)
	w.lane.waiting--
	g.waiting--
	if w.flow.waiters.Len() == 0 {
		g.turns.Remove(w.flow.turn)
		w.flow.turn = nil
	}
}

// leave passes a slot on. The caller holds mu.
func (g *gate) leave(l *lane, f *flow) {
	l.running--
	f.running--
	g.running--
	for w := g.next(); w != nil; w = g.next() {
		if g.drop(w); w.flow.turn != nil {
			g.turns.MoveToBack(w.flow.turn)
		}
		g.take(w.lane, w.flow)
		w.ended <- nil
	}
	g.forget(l, f)
}

// next finds the call that gets a free slot: of the callers with the fewest slots, the one whose
// turn is longest ago, and of its calls the oldest that may run. The caller holds mu.
func (g *gate) next() (best *waiter) {
	if g.running >= g.total {
		return nil
	}
	for e := g.turns.Front(); e != nil; e = e.Next() {
		f := e.Value.(*flow)
		if f.running >= g.most(f.caller) || best != nil && f.running >= best.flow.running {
			continue
		}
		for at := f.waiters.Front(); at != nil; at = at.Next() {
			if w := at.Value.(*waiter); g.free(w.lane, f) {
				best = w
				break
			}
		}
	}
	return best
}

// shed words a refusal; which is the last part of the name of the limit that was reached.
func (g *gate) shed(which string) *exchange.Error {
	// The jitter keeps callers that were refused together from coming back together.
	return &exchange.Error{
		Status: http.StatusTooManyRequests, Kind: "overload", Limit: g.class + "-" + which, RetryAfter: 1 + rand.IntN(3), Gate: true,
		Detail: "too many calls of this kind at once; try again later",
	}
}
