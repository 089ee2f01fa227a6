package bind

import (
	"context"

	"berth/internal/decision"
	"berth/internal/decision/record"
	"berth/internal/engine"
	"berth/internal/revision"
	"berth/internal/store"
)

// Decide answers a question that binds, and returns when its record is durable. What the attempt
// changes becomes the cluster's next revision in the same write, decided on the newest one: the pod
// on its node with what its claims get, or the status of a pod that has to wait. A Revision that is
// not the newest is store.ErrConflict.
func (b *Binder) Decide(ctx context.Context, q decision.Question) (*decision.Answer, error) {
	q.Bind = true
	q, err := b.log.Normalize(q)
	if err != nil {
		return nil, err
	}
	if b.apiserver(q.Cluster) != nil {
		return nil, decision.Errorf(decision.Conflict, "bind", "pods of cluster %s are bound through its apiserver, by /bind; decide without bind", q.Cluster)
	}
	var e *record.Entry
	release := func() {
		if e != nil {
			e.Release()
			e = nil
		}
	}
	defer release()
	var ans *decision.Answer
	var failed error
	_, step, err := b.m.Update(ctx, q.Cluster, q.Revision, func(v *revision.View) (*revision.Step, error) {
		release() // after a conflict: once more, on the newest revision
		var err error
		if e, err = b.log.NewEntry(ctx, v, q); err != nil {
			return nil, err
		}
		step, err := stepOf(e)
		if err != nil {
			return nil, err
		}
		ans, failed = nil, nil
		if store.KeyedOf(ctx).Renders() {
			step.Before = func(*revision.View) (err error) {
				if ans, err = e.Answer(ctx, q.Explain); err == nil {
					err = record.Prepare(ctx, ans, step.Decision)
				}
				return err
			}
		}
		// After the writer's lock, since the result's state does not change.
		step.Meanwhile = func() {
			if ans == nil {
				ans, failed = e.Answer(ctx, q.Explain)
			}
			release() // others use the memory while this waits, and decide
			decision.ReleaseSlot(ctx)
		}
		return step, nil
	})
	if err != nil {
		return nil, err
	}
	b.log.Written(step.Decision, step.Profile)
	if failed != nil {
		return nil, failed // the decision stands, as where the caller is gone before the record is durable
	}
	record.Stamp(ans, step.Decision, step.Spooled)
	return ans, nil
}

// stepOf returns the write of an entry that binds: the bind, or the status of a pod that has to
// wait.
func stepOf(e *record.Entry) (step *revision.Step, err error) {
	step = &revision.Step{Decision: e.Record, Profile: e.Profile}
	if e.Result.Outcome == engine.Scheduled {
		step.Bind = &revision.Bind{Pod: e.Bound.Pod(e.ToWrite(true)), Node: e.Record.Node}
		step.Apply, err = e.Bound.Written(e.View.Object, e.Now)
		return step, err
	}
	step.Apply, err = e.StatusChanges()
	return step, err
}
