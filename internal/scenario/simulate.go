package scenario

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/decision"
	"berth/internal/engine"
	"berth/internal/engine/state"
	"berth/internal/memory"
	"berth/internal/revision"
	"berth/internal/world"
)

// Simulation is what a scenario did under each configuration.
type Simulation struct {
	Base string `json:"base" example:"prod@1042"`
	// Arrivals is how many pods arrived, with the daemon pods of new nodes: placed, pending, gated
	// and evicted add up to it. Nodes is how many nodes there were for them.
	Arrivals int `json:"arrivals"`
	Nodes    int `json:"nodes"`
	// Removed are the nodes that the edits took out, Gone the pods that went with them.
	Removed []string          `json:"removed,omitempty"`
	Gone    []decision.PodRef `json:"gone,omitempty"`
	// Start is the capacity before the first attempt, StartSpread the spread violations then.
	Start       *Capacity    `json:"start"`
	StartSpread *Unevenness  `json:"startSpread,omitempty"`
	Profiles    []ProfileRun `json:"profiles"`
	// Differences compare each further configuration with the first.
	Differences []RunDifference `json:"differences,omitempty"`
	// Notes are what a closed loop does not know, and in which order pods were taken.
	Notes    []string `json:"notes"`
	Warnings []string `json:"warnings,omitempty"`
	// Clock is what happened, where the scenario has a clock.
	Clock *Clock `json:"clock,omitempty"`
	// Digest is over all attempts of all configurations.
	Digest string `json:"digest"`
	Chanced
} // @name Simulation

// ProfileRun is what a scenario did under one configuration.
type ProfileRun struct {
	Name string `json:"name"`
	// Placed arrivals are on a node at the end, or left it when their time was over; Pending have
	// none, Gated wait for their gates, Evicted lost theirs to a preemption.
	Placed  int `json:"placed"`
	Pending int `json:"pending"`
	Gated   int `json:"gated"`
	Evicted int `json:"evicted"`
	// Preemptions counts attempts that evicted pods, Victims all pods that were evicted.
	Preemptions int `json:"preemptions"`
	Victims     int `json:"victims"`
	// Attempts counts decisions, Waves the passes over the queue.
	Attempts int `json:"attempts"`
	Waves    int `json:"waves"`
	// Wait is of the attempts that were made from a pod's arrival until it was placed: time is
	// ordinal, and the scheduler takes one pod after the other.
	Wait Distribution `json:"wait"`
	// Moved counts the pods of arrivals.placed that end on another node than the snapshot's.
	Moved int `json:"moved,omitempty"`
	// Stopped reports that the run ended by until.decisions before it was idle.
	Stopped bool `json:"stopped,omitempty"`
	// Groups are the pending pods by why they wait at the end.
	Groups []PendingGroup `json:"groups,omitempty"`
	// Series is how the run went: a sample after every twentieth of the arrivals, about.
	Series []Sample `json:"series"`
	// End is the capacity at the end, Spread the spread violations. Absent where no configuration
	// has PodTopologySpread.
	End    *Capacity   `json:"end"`
	Spread *Unevenness `json:"spread,omitempty"`
	// Moves are the attempts, in order, as keep says.
	Moves  []Move `json:"moves,omitempty"`
	Digest string `json:"digest"`
} // @name SimulationRun

// PendingGroup is pods that wait for the same reason.
type PendingGroup struct {
	Pods int `json:"pods"`
	// Example is the first of them in the queue; the limit is a decision about it at the end.
	Example string `json:"example" example:"shop/web-7"`
	Limit
} // @name SimulationPending

// Move is one attempt.
type Move struct {
	Pod     string         `json:"pod" example:"shop/web-7"`
	Outcome engine.Outcome `json:"outcome" enums:"Scheduled,Unschedulable,Gated,Preempting,Error" swaggertype:"string"`
	Node    string         `json:"node,omitempty"`
	Victims []string       `json:"victims,omitempty"`
	// Digest is that of the decision, as POST /v1/decisions has it.
	Digest string `json:"digest,omitempty"`
} // @name SimulationMove

// Today is the name of the configuration of a scenario that names none.
const Today = "today"

// moveBytes is about what a kept attempt takes, with its JSON.
const moveBytes = 512

// Answer implements Question.
func (q *Request) Answer(ctx context.Context, s *Stage) (any, error) {
	if err := q.Check(s.Bounds); err != nil {
		return nil, err
	}
	list, err := q.configurations(s)
	if err != nil {
		return nil, err
	}
	draws := q.draws()
	s = draws.counting(s)
	run := func(ctx context.Context, s *Stage) (*Simulation, error) { return simulate(ctx, s, q, list) }
	if q.Clock {
		run = func(ctx context.Context, s *Stage) (*Simulation, error) { return q.withClock(ctx, s, list[0]) }
	}
	out, err := run(ctx, s)
	if err != nil {
		return nil, err
	}
	out.Warnings = append(out.Warnings, s.warnings()...)
	out.Chanced, err = draws.chances(ctx, s, out.headline(), func(ctx context.Context, s *Stage) (headline, error) {
		again, err := run(ctx, s)
		if err != nil {
			return nil, err
		}
		return again.headline(), nil
	})
	return out, err
}

// simulate runs a scenario, which was checked, under each configuration.
func simulate(ctx context.Context, on *Stage, q *Request, list []configured) (*Simulation, error) {
	e, o := on.Edited, on.Options
	o.Profiles, o.Digests = list[0].profiles, q.Keep == KeepDecisions
	v, arrivals, err := q.Arrivals.resolve(ctx, on.Editor, e.View, o, on.Bounds.Pods)
	if err != nil {
		return nil, err
	}
	s := &simulation{ctx: ctx, q: q, o: o, view: v, arrivals: append(slices.Clone(e.Daemons), arrivals...), daemon: daemonsOf(v), daemons: map[world.PodName]bool{}}
	for _, a := range e.Daemons {
		s.daemons[world.NameOf(a.Pod)] = true
	}
	pool := labelOf(v.State.Nodes(), "pool")
	out := &Simulation{
		Base: v.ID(), Arrivals: len(s.arrivals), Nodes: v.State.Nodes().Count(), Removed: e.Removed, Gone: e.Gone,
		Notes: notesOf(q),
	}
	if out.Start, err = measure(ctx, v.State, s.isDaemon, pool, true); err != nil {
		return nil, err
	}
	out.Start.Snapshot = v.ID()
	if s.spreads, err = spreadsOf(ctx, v, s.arrivals, list); err != nil {
		return nil, err
	}
	if out.StartSpread, err = s.spreads.uneven(ctx, v.State, o); err != nil {
		return nil, err
	}
	if q.Arrivals.Placed {
		s.before = e.View.State
	}
	total := newSum("berth-simulation-1")
	var first *traced
	for _, c := range list {
		t, diff, err := loadRun(o.Watch, c)
		if err == nil && t == nil {
			t, diff, err = s.compared(c, pool, first)
			if err == nil && len(list) > 1 {
				err = saveRun(o.Watch, t, diff)
			}
		}
		if err != nil {
			return nil, fmt.Errorf("profile %s: %w", c.name, err)
		}
		total.add(c.name, t.Run.Digest)
		out.Profiles = append(out.Profiles, *t.Run)
		if diff != nil {
			out.Differences = append(out.Differences, *diff)
		}
		if first == nil {
			first = t
		}
	}
	out.Digest = total.text()
	return out, nil
}

// notesOf returns what readers have to know of the order and of what does not act.
func notesOf(q *Request) []string {
	out := []string{"time is ordinal: attempts take none of it, and victims of a preemption are gone at once and do not come back"}
	if q.Arrivals.Pending || q.Arrivals.Placed {
		out = append(out, "pods of the snapshot arrive by priority, then by creation; a queue in which pods failed before has another order")
	}
	if h := q.Arrivals.History; h != nil && h.left > 0 {
		out = append(out, fmt.Sprintf("pods of the history do not arrive that the base has on a node: %d", h.left))
	}
	return append(out, "controllers, autoscalers and people do nothing in the meantime")
}

type simulation struct {
	ctx      context.Context
	q        *Request
	o        world.Options
	view     *revision.View
	arrivals []world.Arrival
	daemon   func(*state.Pod) bool
	daemons  map[world.PodName]bool // of new nodes
	spreads  *spreads
	before   *state.State // where placed pods arrive again: where they were
}

func (s *simulation) isDaemon(p *state.Pod) bool {
	return s.daemon(p) || len(s.daemons) > 0 && s.daemons[world.PodName{Namespace: p.Namespace, Name: p.Name}]
}

// traced is a run and where each attempt led.
type traced struct {
	config configured
	Run    *ProfileRun
	Steps  []step                   `json:",omitempty"`
	At     map[world.PodName]string `json:",omitempty"` // the last node of each pod
}

// step is an attempt as runs are compared by it.
type step struct {
	Pod     world.PodName
	Outcome engine.Outcome
	Node    string
}

// stepBytes is about what a step takes.
const stepBytes = 128

// compared runs the scenario under one configuration, and compares it with the first run where
// there is one.
func (s *simulation) compared(c configured, pool string, first *traced) (*traced, *RunDifference, error) {
	t, err := s.run(c, pool)
	if err != nil || first == nil {
		return t, nil, err
	}
	diff, err := s.differ(first, t)
	return t, diff, err
}

// run runs the scenario under one configuration.
func (s *simulation) run(c configured, pool string) (*traced, error) {
	o := s.o
	o.Profiles = c.profiles
	f := world.NewFork(s.view, o)
	t := &traced{config: c, Run: &ProfileRun{Name: c.name, Series: []Sample{}}, At: map[world.PodName]string{}}
	var waited []float64
	digest, every, evicted := newSum("berth-run-1"), max(len(s.arrivals)/samples, 1), 0
	got, err := f.Run(s.ctx, s.arrivals, world.Limits{Attempts: *s.q.Until.Decisions, Tries: s.q.Tries}, func(at *world.Attempt) error {
		if err := memory.Take(s.ctx, stepBytes); err != nil {
			return err
		}
		n := world.NameOf(at.Pod)
		t.Steps = append(t.Steps, step{n, at.Outcome, at.Node})
		o.Watch.Progressed(c.name, min(len(t.Steps), len(s.arrivals)), len(s.arrivals))
		if at.Outcome == engine.Scheduled {
			t.At[n] = at.Node
			waited = append(waited, float64(at.Waited))
		}
		digest.add(n.Namespace, n.Name, string(at.Outcome), at.Node, at.Digest)
		var victims []string
		for _, v := range at.Victims {
			victims = append(victims, v.Namespace+"/"+v.Name)
			name := world.PodName{Namespace: v.Namespace, Name: v.Name}
			if t.At[name] != "" {
				evicted++
			}
			delete(t.At, name)
		}
		digest.add(victims...)
		if s.q.Keep != KeepSummary {
			if err := memory.Take(s.ctx, moveBytes); err != nil {
				return err
			}
			t.Run.Moves = append(t.Run.Moves, Move{n.String(), at.Outcome, at.Node, victims, at.Digest})
		}
		if len(t.Steps)%every != 0 {
			return nil
		}
		one, err := s.sample(f, len(t.Steps), len(t.At), evicted)
		if t.Run.Series = append(t.Run.Series, one); len(t.Run.Series) == 2*samples {
			every *= 2 // more attempts than were expected: every other sample is enough
			t.Run.Series = slices.DeleteFunc(t.Run.Series, func(s Sample) bool { return s.Attempts%every != 0 })
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	r := t.Run
	r.Placed, r.Pending, r.Gated, r.Evicted = got.Placed, len(got.Waiting), len(got.Gated), got.Evicted
	r.Preemptions, r.Victims, r.Attempts, r.Waves, r.Stopped = got.Preemptions, got.Victims, got.Attempts, got.Waves, got.Stopped
	r.Wait = distributionOf(waited, 1)
	if err := s.lastSample(f, t, evicted); err != nil {
		return nil, err
	}
	for n, node := range t.At {
		if s.before == nil {
			break
		}
		if was := s.before.Pod(n.Namespace, n.Name); was != nil && was.NodeName != "" && was.NodeName != node {
			r.Moved++
		}
	}
	if r.End, err = measure(s.ctx, f.State(), s.isDaemon, pool, true); err != nil {
		return nil, err
	}
	r.End.Snapshot = s.view.ID()
	if r.Spread, err = s.spreads.uneven(s.ctx, f.State(), o); err != nil {
		return nil, err
	}
	r.Groups, err = s.groups(f, got.Waiting)
	for _, g := range r.Groups {
		digest.add(g.Example, strconv.Itoa(g.Pods), g.Message)
	}
	r.Digest = digest.text()
	return t, err
}

// maxPendingGroups is how many groups of pending pods are answered, the largest first.
const maxPendingGroups = 20

// groups puts the waiting pods together that wait for the same reason, by a decision about one of
// each shape on the state at the end.
func (s *simulation) groups(f *world.Fork, waiting []world.Waiting) ([]PendingGroup, error) {
	type reason struct {
		outcome engine.Outcome
		message string
	}
	shapes, err := byShape(s.ctx, len(waiting), func(i int) *corev1.Pod { return waiting[i].Pod })
	if err != nil {
		return nil, err
	}
	byReason := map[reason]*PendingGroup{}
	var out []*PendingGroup
	for _, e := range shapes {
		l, err := why(s.ctx, f, e.pod, func(l *Limit) bool {
			return byReason[reason{l.Outcome, l.Message}] == nil && len(out) < maxPendingGroups
		})
		if err != nil {
			return nil, err
		}
		k := reason{l.Outcome, l.Message}
		g := byReason[k]
		if g == nil {
			g = &PendingGroup{Example: world.NameOf(e.pod).String(), Limit: *l}
			byReason[k], out = g, append(out, g)
		}
		g.Pods += e.pods
	}
	slices.SortStableFunc(out, func(a, b *PendingGroup) int { return cmp.Compare(b.Pods, a.Pods) })
	list := make([]PendingGroup, 0, min(len(out), maxPendingGroups))
	for _, g := range out[:min(len(out), maxPendingGroups)] {
		list = append(list, *g)
	}
	return list, nil
}
