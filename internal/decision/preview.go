package decision

import (
	"context"
	"time"

	"berth/internal/engine"
	"berth/internal/revision"
)

// DryRun answers a normalized question without a record and its times.
func (s *Scheduler) DryRun(ctx context.Context, v *revision.View, q Question) (*Answer, error) {
	p, err := s.Prepare(ctx, v, q)
	if err != nil {
		return nil, err
	}
	o, err := p.Decide(ctx, p.Engine())
	if err != nil {
		return nil, err
	}
	defer o.Release()
	return o.Answer(ctx, q.Explain)
}

// Preview answers a question on a view of no server: the same answer as a server's dry run under
// these profiles, without stored priority classes.
func Preview(ctx context.Context, v *revision.View, profiles []*engine.Profile, q Question, clock func() time.Time) (*Answer, error) {
	q.Cluster, q.Revision = v.Cluster, v.Revision
	if q.Bind {
		return nil, Errorf(Malformed, "bind", "a preview binds nothing")
	}
	q.DryRun = true
	q, err := q.Normalize(clock)
	if err != nil {
		return nil, err
	}
	began := clock()
	ans, err := (&Scheduler{Configuration: &Configuration{Profiles: profiles}}).DryRun(ctx, v, q)
	if err != nil {
		return nil, err
	}
	now := clock()
	ans.CreatedAt, ans.DurationMicros = now.UTC().Truncate(time.Microsecond), now.Sub(began).Microseconds()
	return ans, nil
}
