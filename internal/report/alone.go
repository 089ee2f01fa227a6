package report

import (
	"context"

	schedulingv1 "k8s.io/api/scheduling/v1"

	"berth/internal/decision"
	"berth/internal/decision/record"
	"berth/internal/engine/state"
	"berth/internal/revision"
	"berth/internal/store"
)

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
