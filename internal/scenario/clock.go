package scenario

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/decision"
	"berth/internal/world"
)

// Clock is what happened in a scenario with a clock.
type Clock struct {
	// Seconds is when the run ended, Ended why: idle, where nothing was to happen any more;
	// duration; or hotLoop, where one instant brought about more and more.
	Seconds int64  `json:"seconds"`
	Ended   string `json:"ended" enums:"idle,duration,hotLoop"`
	// HotLoop is one of the objects that turn in a hot loop.
	HotLoop string `json:"hotLoop,omitempty"`
	// Timeline is what happened, in this order: the first 100,000 moments.
	Timeline        []world.Moment `json:"timeline"`
	TimelineOmitted int            `json:"timelineOmitted,omitempty"`
	// Pods left their nodes, in this order. Others came: they waited before, the scenario created
	// them, or controllers made them beside the replacements.
	Pods   []*world.Left        `json:"pods"`
	Others []*world.Replacement `json:"others,omitempty"`
	// Drains are those of the scenario, by node. Lost are nodes that died, LostZones their zones as
	// they were with most nodes lost.
	Drains    []*DrainedNode    `json:"drains,omitempty"`
	Lost      []*world.LostNode `json:"lost,omitempty"`
	LostZones []*world.LostZone `json:"lostZones,omitempty"`
	// Rollouts are the updates of workloads, in the order in which they began.
	Rollouts []RolledOut `json:"rollouts,omitempty"`
	// Waiting counts the pods without a node at the end, without those that wait for their gates.
	Waiting int         `json:"waiting"`
	Totals  ClockTotals `json:"totals"`
} // @name SimulationClock

// ClockTotals count the pods that left their nodes, and what became of their places.
type ClockTotals struct {
	Left      int `json:"left"`
	Preempted int `json:"preempted"`
	world.Replaced
} // @name SimulationClockTotals

// Why a run with a clock ended.
const (
	EndedIdle     = "idle"
	EndedDuration = "duration"
	EndedHotLoop  = "hotLoop"
)

// clocked is a run of a scenario with a clock.
type clocked struct {
	d        *disruption
	arrivals []world.PodName
	updates  []*update
}

// withClock answers a scenario with a clock.
func (q *Request) withClock(ctx context.Context, s *Stage, c configured) (*Simulation, error) {
	r, v, err := q.begin(ctx, s, c)
	if err != nil {
		return nil, err
	}
	f := r.d.Fork
	sim := &simulation{ctx: ctx, q: q, o: *f.Options(), view: v, daemon: daemonsOf(v), daemons: map[world.PodName]bool{}}
	pool := labelOf(v.State.Nodes(), "pool")
	out := &Simulation{Base: s.View.ID(), Nodes: v.State.Nodes().Count(), Removed: s.Removed, Gone: s.Gone, Notes: notesOfClock(q.Arrivals.History, r.d.throttled)}
	if out.Start, err = measure(ctx, v.State, sim.isDaemon, pool, true); err != nil {
		return nil, err
	}
	out.Start.Snapshot = s.View.ID()
	ended, err := r.run(q.until())
	var hot *world.HotLoopError
	if errors.As(err, &hot) {
		ended, err = EndedHotLoop, nil
	}
	if err != nil {
		return nil, err
	}
	run := &ProfileRun{Name: c.name, Series: []Sample{}}
	if out.Clock, err = r.report(sim, run, ended); err != nil {
		return nil, err
	}
	if hot != nil {
		out.Clock.HotLoop = hot.Object
	}
	if run.End, err = measure(ctx, f.State(), sim.isDaemon, pool, true); err != nil {
		return nil, err
	}
	run.End.Snapshot = s.View.ID()
	out.Arrivals = len(r.arrivals)
	if run.Digest, err = digestOf(ctx, "berth-clock-1", out.Clock); err != nil {
		return nil, err
	}
	out.Profiles, out.Digest = []ProfileRun{*run}, run.Digest
	out.Warnings = r.d.Warnings()
	return out, nil
}

// notesOfClock returns what readers have to know of what is not played.
func notesOfClock(h *History, throttled bool) []string {
	act := "and controllers act at once"
	if throttled {
		act = "and controllers act at once, as far as the rates of their clients let them"
	}
	out := []string{
		"time is virtual: an attempt to place a pod takes none of it, " + act,
		"kubelets, ReplicaSets, StatefulSets, DaemonSets, Jobs, CronJobs and the node lifecycle act, and updates of Deployments, StatefulSets and DaemonSets that events bring; autoscalers and rollouts that run already do not",
	}
	if h != nil && h.left > 0 {
		out = append(out, fmt.Sprintf("pods of the history do not arrive that the base has: %d", h.left))
	}
	return out
}

// run has all happen until a second, or until nothing is to happen where that is -1, and returns
// why it ended.
func (r *clocked) run(until int64) (ended string, err error) {
	if err := r.d.Schedule(); err != nil {
		return "", err
	}
	next := r.d.upcoming
	if until < 0 {
		next = r.d.Next
	}
	for told, changed := 0, int64(0); ; {
		at, ok := next()
		loops, _ := r.d.Looping()
		if until < 0 { // CronJobs alone do not keep a run going that has no end
			loops += r.d.CronStarts()
		}
		switch {
		case !ok || r.d.Due() == loops && !r.d.TriesAgain() && at > changed+retrySeconds: // drains have gone on since
			deadline, ahead := r.d.NextDeadline()
			if !ahead {
				return EndedIdle, nil
			}
			at = deadline
		}
		if until >= 0 && at > until {
			return EndedDuration, r.d.Advance(until)
		}
		if err := r.d.Advance(at); err != nil {
			return "", err
		}
		list, omitted := r.d.Timeline()
		_, looping := r.d.Looping()
		if moments := len(list) + omitted - looping; moments > told {
			told, changed = moments, at
		}
		r.d.Options().Watch.Progressed("seconds", int(at), max(0, int(until)))
	}
}

// report sums a run up.
func (r *clocked) report(sim *simulation, run *ProfileRun, ended string) (*Clock, error) {
	d := r.d
	out := &Clock{
		Seconds: d.Seconds(), Ended: ended, Pods: d.Log(), Others: d.Others(), Lost: d.Lost(),
	}
	t := d.told()
	out.Timeline, out.TimelineOmitted = t.Timeline, t.TimelineOmitted
	if len(out.Lost) > 0 {
		out.LostZones = d.LostZones()
	}
	if out.Timeline == nil {
		out.Timeline = []world.Moment{}
	}
	for _, x := range d.drains {
		x.end()
		out.Drains = append(out.Drains, x.nodes...)
	}
	for _, u := range r.updates {
		out.Rollouts = append(out.Rollouts, u.rolledOut())
	}
	out.Totals.Left, out.Totals.Preempted, out.Totals.Replaced = d.Totals()
	waiting, gated := d.Waiting()
	out.Waiting = len(waiting)
	without := map[world.PodName]bool{}
	for _, w := range waiting {
		without[world.NameOf(w.Pod)] = true
	}
	for _, w := range gated {
		without[world.NameOf(w.Pod)] = true
	}
	for _, n := range r.arrivals {
		if !without[n] {
			run.Placed++
		}
	}
	run.Pending, run.Gated, run.Victims = len(waiting), len(gated), out.Totals.Preempted
	run.Attempts, run.Waves = d.Attempts()
	var err error
	run.Groups, err = sim.groups(d.Fork, waiting)
	return out, err
}

// checkClock refuses what no scenario with a clock can be, and what needs one.
func (q *Request) checkClock(b Bounds) error {
	a := &q.Arrivals
	if !q.Clock {
		for _, x := range []struct {
			field string
			given bool
		}{{"events", len(q.Events) > 0}, {"startSeconds", q.StartSeconds != nil}, {"rates", q.Rates != nil}} {
			if x.given {
				return decision.Errorf(decision.Malformed, x.field, "without a clock time is ordinal: want clock: true beside it")
			}
		}
		return nil
	}
	for _, x := range []struct {
		field string
		given bool
	}{{"arrivals.placed", a.Placed}, {"until.decisions", q.Until.Decisions != nil}, {"tries", q.Tries != 0}, {"keep", q.Keep != KeepSummary}} {
		if x.given {
			return decision.Errorf(decision.Malformed, x.field, "a scenario with a clock does not have it: leave it out")
		}
	}
	if a.History != nil {
		a.History.clock = true
	}
	switch until := q.Until.Duration; {
	case len(q.Profiles) > 1:
		return decision.Errorf(decision.Malformed, "profiles", "a scenario with a clock is run under one configuration")
	case len(q.Events) > b.Attempts || len(q.Events) > mostEvents:
		return decision.Errorf(decision.Invalid, "events", "want at most %d", min(b.Attempts, mostEvents))
	case until != nil && q.Until.Idle:
		return decision.Errorf(decision.Malformed, "until", "want idle or a duration, not both")
	case until != nil && (until.Duration < time.Second || until.Duration > mostSeconds*time.Second):
		return decision.Errorf(decision.Invalid, "until.duration", "want a duration from 1s to %dh, such as 10m", mostSeconds/3600)
	}
	return nil
}

// mostEvents bounds the events of a scenario.
const mostEvents = 1000

// PodNamed names a pod.
type PodNamed struct {
	Namespace string `json:"namespace,omitempty" default:"default" example:"shop"`
	Name      string `json:"name" example:"web-1"`
} // @name SimulationPodName

// podOf reads the name of a pod that an event is about.
func podOf(field string, p *PodNamed) (world.PodName, error) {
	if p.Name == "" {
		return world.PodName{}, decision.Errorf(decision.Malformed, field+".name", "want the name of a pod")
	}
	n := world.PodName{Namespace: p.Namespace, Name: p.Name}
	if n.Namespace == "" {
		n.Namespace = corev1.NamespaceDefault
	}
	return n, nil
}

// refusedAs notes that the API server refused what a scenario did.
func (r *clocked) refusedAs(m world.Moment, why string) {
	if why != "" {
		m.What, m.Why = world.Refused, fmt.Sprintf("%s: %s", m.What, why)
		r.d.Note(m)
	}
}
