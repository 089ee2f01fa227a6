package report

import (
	"context"
	"time"

	schedulingv1 "k8s.io/api/scheduling/v1"

	"berth/internal/decision"
	"berth/internal/decision/record"
	"berth/internal/engine"
	"berth/internal/engine/state"
	"berth/internal/revision"
	"berth/internal/store"
)

// Alone returns a teller for a view without a decision log: its stories have no
// attempts, and what the view itself says is told as a server tells it. Profiles
// are the configuration that is decided under.
func Alone(v *revision.View, profiles []*engine.Profile, now time.Time) *Reader {
	return &Reader{
		Clusters: Only(v),
		Log: Unlogged(func(ctx context.Context, q decision.Question) (*decision.Answer, error) {
			q.Now = now
			return decision.Preview(ctx, v, profiles, q, func() time.Time { return now })
		}),
		Runs:  decision.RunsOf(profiles),
		Clock: func() time.Time { return now },
	}
}

// Only returns a view whatever cluster and revision are asked for.
func Only(v *revision.View) Clusters { return only{v} }

type only struct{ v *revision.View }

func (o only) View(context.Context, string, int64) (*revision.View, error) { return o.v, nil }

// Unlogged is a Log that decides and remembers nothing.
type Unlogged func(ctx context.Context, q decision.Question) (*decision.Answer, error)

// Decide implements Log.
func (f Unlogged) Decide(ctx context.Context, q decision.Question) (*decision.Answer, error) {
	return f(ctx, q)
}

// Queue implements Log: no pod has attempts.
func (Unlogged) Queue(_ context.Context, v *revision.View, runs state.Runs, class func(name string) *schedulingv1.PriorityClass, when record.When) (*record.Queue, error) {
	return record.Untried(v, runs, class, when.At), nil
}

// List implements Log: there are no records.
func (Unlogged) List(context.Context, store.DecisionFilter) ([]*record.Row, error) {
	return nil, nil
}

// Record implements Log: there is no record of any id.
func (Unlogged) Record(context.Context, string) (*store.Decision, error) {
	return nil, store.ErrNotFound
}
