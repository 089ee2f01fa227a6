package bind

import (
	"context"
	"fmt"
	"time"

	"berth/internal/decision"
	"berth/internal/decision/record"
	"berth/internal/engine"
	"berth/internal/kube/object"
	"berth/internal/revision"
)

// writeResult is for how long the result of a bind may wait to be recorded.
const writeResult = 5 * time.Second

// end records the result of a bind. A pod that was refused is pending again, one
// that is bound is on its node though its outcome was unknown meanwhile, unless
// something newer is known of it.
func (b *Binder) end(ctx context.Context, a *attempt, res *record.BindResult, began time.Time) error {
	_, _, err := b.m.Update(ctx, a.cluster, 0, func(v *revision.View) (*revision.Step, error) {
		d, err := b.log.NewBindResult(v, a.pod, a.began, a.priority, res, began)
		if err != nil {
			return nil, err
		}
		step := &revision.Step{Decision: d}
		p := v.State.Pod(a.pod.Namespace, a.pod.Name)
		if p == nil || p.UID != a.pod.UID {
			return step, nil
		}
		held, err := v.Pod(a.pod.Namespace, a.pod.Name)
		if err != nil {
			return nil, err
		}
		pod := decision.WithKind(held)
		switch {
		case res.Outcome == engine.UnschedulableOK && p.NodeName == a.node:
			pod = a.unbound(pod)
		case res.Outcome == engine.Scheduled && p.NodeName == "":
			pod = v.Assumed(pod, a.node)
		default:
			return step, nil
		}
		o, err := object.Of(pod)
		if err != nil {
			return nil, fmt.Errorf("the bind of %s: %w", a.pod, err)
		}
		step.Apply = []object.Object{o}
		return step, nil
	})
	if err == nil {
		return nil
	}
	// Without the database no revision can be made, and a record can all the same:
	// the cluster's follower finds out where the pod is.
	v, verr := b.m.View(ctx, a.cluster, 0)
	if verr != nil {
		return err
	}
	d, rerr := b.log.NewBindResult(v, a.pod, a.began, a.priority, res, began)
	if rerr != nil {
		return err
	}
	return b.m.Record(ctx, d, nil)
}
