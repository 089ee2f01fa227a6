package scenario

import (
	"context"
	"slices"
	"strings"
	"time"

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
}

// Next returns the second at which something happens next, in the world or in a drain; false where
// nothing does.
func (d *disruption) Next() (second int64, ok bool) {
	next, happens := d.World.Next()
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
		at, ok := d.Next()
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
func newDisruption(ctx context.Context, f *world.Fork, given *int64) (*disruption, error) {
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
	if err := w.Waits(); err != nil {
		return nil, err
	}
	return &disruption{World: w, steps: steps.Of(ctx)}, w.Endings()
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
