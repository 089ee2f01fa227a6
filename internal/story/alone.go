package story

import (
	"context"
	"time"

	schedulingv1 "k8s.io/api/scheduling/v1"

	"berth/internal/cluster"
	"berth/internal/decision"
	"berth/internal/decisionlog"
	"berth/internal/engine"
	"berth/internal/engine/state"
	"berth/internal/store"
)

// Alone returns a teller for a view without a decision log: its stories have no
// attempts, and what the view itself says is told as a server tells it. Profiles
// are the configuration that is decided under.
func Alone(v *cluster.View, profiles []*engine.Profile, now time.Time) *Reader {
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
func Only(v *cluster.View) Clusters { return only{v} }

type only struct{ v *cluster.View }

func (o only) View(context.Context, string, int64) (*cluster.View, error) { return o.v, nil }

// Unlogged is a Log that decides and remembers nothing.
type Unlogged func(ctx context.Context, q decision.Question) (*decision.Answer, error)

// Decide implements Log.
func (f Unlogged) Decide(ctx context.Context, q decision.Question) (*decision.Answer, error) {
	return f(ctx, q)
}

// Queue implements Log: no pod has attempts.
func (Unlogged) Queue(_ context.Context, v *cluster.View, runs state.Runs, class func(name string) *schedulingv1.PriorityClass, when decisionlog.When) (*decisionlog.Queue, error) {
	return decisionlog.Untried(v, runs, class, when.At), nil
}

// List implements Log: there are no records.
func (Unlogged) List(context.Context, store.DecisionFilter) ([]*decisionlog.Row, error) {
	return nil, nil
}

// Record implements Log: there is no record of any id.
func (Unlogged) Record(context.Context, string) (*store.Decision, error) {
	return nil, store.ErrNotFound
}
