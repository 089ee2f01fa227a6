package report

import (
	"context"

	"berth/internal/decision"
	"berth/internal/decision/record"
	"berth/internal/engine/state"
)

const maxAhead = 5

// place finds the pod in the queue.
func (s *telling) place(ctx context.Context) error {
	q, err := s.Log.Queue(ctx, s.view, s.Runs, s.class, record.When{At: s.at, Named: s.ask.Named})
	if err != nil {
		return err
	}
	is := func(p *state.Pod) bool { return p.Namespace == s.pod.Namespace && p.Name == s.pod.Name }
	if s.out.State == StateGated {
		p := &Place{List: "gated", Of: len(q.Gated)}
		for i := range q.Gated {
			o := &q.Gated[i]
			if is(o.Pod) {
				p.Position, s.out.Queue = i+1, p
				return nil
			}
			p.pass(o, *s.out.Pod.Priority, false, s.hides(o.Namespace))
		}
		return nil
	}
	p := &Place{List: "active", Of: len(q.Active)}
	for i := range q.Active {
		own := &q.Active[i]
		if !is(own.Pod) {
			continue
		}
		p.Position, p.Queue, p.Attempts, s.out.Queue = i+1, own.In, own.Tried.Count, p
		p.Woken = record.WokenBy(s.view, own.Tried.Woken, s.hides)
		if !own.Next.IsZero() {
			at := own.Next.UTC()
			p.NextTry = &at
		}
		for j := range q.Active[:i] {
			o := &q.Active[j]
			p.pass(&o.Queued, *s.out.Pod.Priority, o.In != own.In || !o.Next.Equal(own.Next), s.hides(o.Namespace))
		}
	}
	return nil
}

// pass counts a pod that is ahead by what puts it there.
func (p *Place) pass(o *state.Queued, priority int32, sooner, hidden bool) {
	switch {
	case o.Priority > priority:
		p.HigherPriority++
	case sooner:
		p.Sooner++
	default:
		p.Older++
	}
	if len(p.Ahead) < maxAhead && !hidden {
		p.Ahead = append(p.Ahead, decision.PodRef{Namespace: o.Namespace, Name: o.Name, UID: o.UID})
	}
}
