package scenario

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"berth/internal/engine/state"
	"berth/internal/steps"
	"berth/internal/world"
)

// disruption is a world in which nodes are drained or die, or a Deployment is rolled out.
type disruption struct {
	*world.World
	steps *steps.Counter
	ended map[string]int // pods that had ended before, by node; nil: not counted yet
	// drains are under way, or are to begin.
	drains []*draining
	// throttled reports that clients make their calls at upstream's rates.
	throttled bool
}

// Warnings names what the world had to assume, and that clients waited for their rates.
func (d *disruption) Warnings() []string {
	return append(d.World.Warnings(), d.waited()...)
}

// waited counts the calls that had to wait for the rates of clients; nothing where none had.
func (d *disruption) waited() []string {
	n := d.Throttled()
	if n == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%d calls waited for the rates of their clients (rates.clients: upstream): those of the controllers of ReplicaSets and of taint eviction make 20 a second, the scheduler 50 and kubectl 5, after 30, 100 and 10 at once", n)}
}

// Next returns the second at which something happens next, in the world or in a drain; false where
// nothing does.
func (d *disruption) Next() (second int64, ok bool) {
	second, ok = d.nextDue()
	return sooner(second, ok, d.World.Next)
}

// upcoming is Next where pods are tried again by time alone also if that changes nothing.
func (d *disruption) upcoming() (second int64, ok bool) {
	second, ok = d.nextDue()
	return sooner(second, ok, d.Upcoming)
}

// sooner returns the sooner of a second and another one, each if there is one.
func sooner(second int64, ok bool, other func() (int64, bool)) (int64, bool) {
	if at, is := other(); is && (!ok || at < second) {
		return at, true
	}
	return second, ok
}

// nextDue is Next without the pods that are tried again by time alone, which no drain waits for.
func (d *disruption) nextDue() (second int64, ok bool) {
	next, happens := d.NextDue()
	second, ok = next, happens
	for _, x := range d.drains {
		if happens {
			x.plan(next)
		}
		if x.planned && (!ok || x.at < second) {
			second, ok = x.at, true
		}
	}
	return second, ok
}

// Advance goes on to a second: all that is due until then happens, and at each instant the world
// comes to rest before a drain goes on.
func (d *disruption) Advance(to int64) error {
	for {
		at, ok := d.upcoming()
		if !ok || at > to {
			return d.World.Advance(to)
		}
		if err := d.World.Advance(at); err != nil {
			return err
		}
		went, err := d.drainsGoOn()
		if err == nil && went {
			err = d.World.Advance(at)
		}
		if err != nil {
			return err
		}
	}
}

// Telling is part of questions that can have what happens written down.
type Telling struct {
	// Timeline wants it.
	Timeline bool `json:"timeline,omitempty"`
}

// Told is part of their answers, and no part of the digests.
type Told struct {
	// Timeline is what happens, in this order, where it is wanted: the first 100,000 moments.
	Timeline        []world.Moment `json:"timeline,omitempty"`
	TimelineOmitted int            `json:"timelineOmitted,omitempty"`
}

// told returns what was written down.
func (d *disruption) told() Told {
	list, omitted := d.Timeline()
	return Told{list, omitted}
}

// newDisruption starts at second 0. given is how long pods take to start, instead of the default.
// The pods that wait in the snapshot take part from then on, and
// those that are being deleted end.
func newDisruption(ctx context.Context, f *world.Fork, given *int64, rates *ClientRates) (*disruption, error) {
	return disruptionOf(ctx, f, given, rates, NoRates)
}

// disruptionOf is newDisruption with the rates of clients where none are given.
func disruptionOf(ctx context.Context, f *world.Fork, given *int64, rates *ClientRates, ifAbsent string) (*disruption, error) {
	if err := checkNumber("startSeconds", given, mostSeconds); err != nil {
		return nil, err
	}
	start := int64(DefaultStart)
	if given != nil {
		start = *given
	}
	w, err := world.New(ctx, f, time.Duration(start)*time.Second)
	if err != nil {
		return nil, err
	}
	throttled, err := rates.throttle(w, ifAbsent)
	if err != nil {
		return nil, err
	}
	if err := w.Waits(); err != nil {
		return nil, err
	}
	return &disruption{World: w, steps: steps.Of(ctx), throttled: throttled}, w.Endings()
}

// drainsGoOn has drains do what is due, in the order of their nodes' names, and reports whether any
// did something.
func (d *disruption) drainsGoOn() (went bool, err error) {
	var due []*draining
	for _, x := range d.drains {
		if x.planned && x.at <= d.Seconds() {
			due = append(due, x)
		}
	}
	slices.SortStableFunc(due, func(a, b *draining) int { return strings.Compare(a.node().Name, b.node().Name) })
	for _, x := range due {
		if err := x.act(); err != nil {
			return true, err
		}
	}
	return len(due) > 0, nil
}

// endedOn counts the pods of a node that have succeeded or failed. They hold nothing, so that
// states have them on no node.
func (d *disruption) endedOn(node string) (int, error) {
	if d.ended == nil && d.Base().Summary.Hygiene.TerminalPods > 0 {
		d.ended = map[string]int{}
		pods := 0
		d.Base().State.EachPod(func(p *state.Pod) {
			if pods++; p.Terminal && p.NodeName != "" {
				d.ended[p.NodeName]++
			}
		})
		if err := d.steps.Take(pods); err != nil {
			return 0, err
		}
	}
	return d.ended[node], nil
}
