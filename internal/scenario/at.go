package scenario

import (
	"context"
	"errors"
	"time"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/decision"
	"berth/internal/revision"
	"berth/internal/world"
)

// begin makes the world of a scenario with a clock, with all that the scenario has happen. It
// returns the view that the world began as, too.
func (q *Request) begin(ctx context.Context, s *Stage, c configured) (*clocked, *revision.View, error) {
	o := s.Options
	o.Profiles = c.profiles
	v, err := s.WithDaemons(ctx, o)
	if err != nil {
		return nil, nil, err
	}
	r := &clocked{}
	if r.d, err = disruptionOf(ctx, world.NewFork(v, o), q.StartSeconds, q.Rates.clients(), UpstreamRates); err != nil {
		return nil, nil, err
	}
	rates, err := q.Rates.resolve()
	if err != nil {
		return nil, nil, err
	}
	r.d.SetNodeRates(rates)
	r.d.Admits(func(workload []byte) (*corev1.Pod, error) { return s.Editor.made(v, "template", workload) })
	r.d.Tell()
	if err := errors.Join(r.d.NodesBefore(), r.d.PodsBefore(), r.d.JobsBefore(), r.d.CronJobsBefore()); err != nil {
		return nil, nil, err
	}
	return r, v, r.schedule(ctx, s, q, v)
}

// until is the second at which a scenario with a clock ends; -1: when nothing is to happen.
func (q *Request) until() int64 {
	if q.Until.Duration == nil {
		return -1
	}
	return int64(q.Until.Duration.Duration / time.Second)
}

// At returns the cluster as it is at a second of a scenario with a clock, once all that happens
// then has happened, under a name: the scenario is run again until then.
func (q *Request) At(ctx context.Context, s *Stage, second int64, name string) (*revision.View, error) {
	if !q.Clock {
		return nil, decision.Errorf(decision.Invalid, "id", "its question had no clock (clock: true), and so no times")
	}
	list, err := q.configurations(s)
	if err != nil {
		return nil, err
	}
	if until := q.until(); until >= 0 && second > until {
		return nil, decision.Errorf(decision.Invalid, "time", "the scenario ends after %d s", until)
	}
	r, _, err := q.begin(ctx, s, list[0])
	if err != nil {
		return nil, err
	}
	_, err = r.run(second)
	var hot *world.HotLoopError
	if errors.As(err, &hot) {
		return nil, decision.Errorf(decision.Invalid, "time", "the scenario ends before, in a %s", hot.Error())
	}
	if err != nil {
		return nil, err
	}
	if err := r.d.Advance(second); err != nil { // where it was idle before
		return nil, err
	}
	return r.d.ViewAt(name)
}
