package podlife

import (
	"fmt"
	"time"
)

// LifeTimeline is what follows from events.
type LifeTimeline struct {
	Entries []LifeMoment `json:"entries"`
	// EndsAt is up to when the timeline goes, and EndRule why not further.
	EndsAt  time.Time `json:"endsAt"`
	EndRule Rule      `json:"endRule"`
	// Assumes is what holds where no event says otherwise.
	Assumes []string `json:"assumes"`
} // @name PodLifeTimeline

// LifeMoment is one entry of a timeline.
type LifeMoment struct {
	At time.Time `json:"at"`
	// WithinSeconds is how far upstream's chance may move it, counted from the entry
	// that it follows: a worker's beat before or after, a back-off after.
	WithinSeconds int64 `json:"withinSeconds,omitempty"`
	// Actor is application, kubelet, container-runtime, or a controller.
	Actor     string `json:"actor"`
	Event     string `json:"event"`
	Container string `json:"container,omitempty"`
	Rule      Rule   `json:"rule"`
	// ExitCode is that of a container that ended; timelines have it in the rule.
	ExitCode *int32 `json:"-"`
} // @name PodLifeMoment

const (
	actorApplication = "application"
	// Bounds of a timeline.
	timelineAfter, timelineEntries, timelineSteps = time.Hour, 200, 20000
)

// timeline plays the events.
func (q *LifeQuestion) timeline(longest time.Duration) *LifeTimeline {
	s := q.run(longest, false)
	until := s.now
	for _, t := range s.changes {
		until = later(until, t)
	}
	until = until.Add(timelineAfter)
	if q.Until != nil {
		until = *q.Until
	}
	for step := 0; s.over.ID == ""; step++ {
		at := s.next()
		switch {
		case at.IsZero():
			s.end("timeline/nothing-more", "Nothing more follows from the events.")
		case at.After(until):
			s.now = until
			s.end("timeline/until", "The timeline was asked for, or is made, up to here.")
		case step >= timelineSteps || len(s.entries) >= timelineEntries:
			s.end("timeline/entries", fmt.Sprintf("A timeline ends after %d entries.", timelineEntries))
		default:
			s.now = at
			s.step()
		}
	}
	return &LifeTimeline{Entries: s.entries, EndsAt: s.now.UTC(), EndRule: s.over, Assumes: []string{
		"Probes succeed and containers run on, unless an event says otherwise.",
		"A worker's beat counts from the pod's startTime; a readiness probe's from the start of its container.",
		"Images are there, starts take no time, and a container that is stopped uses all of its grace period, unless exitSeconds says otherwise.",
	}}
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
