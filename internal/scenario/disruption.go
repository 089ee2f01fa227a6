package scenario

import (
	"context"
	"time"

	"berth/internal/steps"
	"berth/internal/world"
)

// disruption is a world in which nodes are drained or die, or a Deployment is rolled out.
type disruption struct {
	*world.World
	steps *steps.Counter
	ended map[string]int // pods that had ended before, by node; nil: not counted yet
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
