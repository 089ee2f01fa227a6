package decisionlog

import (
	"context"
	"net/http"
	"time"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/cluster"
	"berth/internal/engine"
	"berth/internal/engine/state"
	"berth/internal/store"
)

// Decide answers a question in full and returns when the answer's record is
// durable. With Bind, what the attempt changes becomes the cluster's next revision
// in the same write, decided on the newest one: the pod on its node with what its
// claims get, or the status of a pod that has to wait. A Revision that is not the
// newest is store.ErrConflict then.
func (l *Log) Decide(ctx context.Context, q Question) (*Answer, error) {
	q, err := q.normal(l.o.Clock)
	if err != nil {
		return nil, err
	}
	if q.Bind {
		if l.binder(q.Cluster) != nil {
			return nil, bad(http.StatusConflict, "bind", "pods of cluster %s are bound through its apiserver, by /bind; decide without bind", q.Cluster)
		}
		return l.decideAndBind(ctx, q)
	}
	v, err := l.m.View(ctx, q.Cluster, q.Revision)
	if err != nil {
		return nil, err
	}
	if q.DryRun {
		return l.dry(ctx, v, q)
	}
	began := time.Now()
	c, r, err := l.work(ctx, v, q)
	if err != nil {
		return nil, err
	}
	defer r.Release()
	d, err := l.record(c, r, began)
	if err != nil {
		return nil, err
	}
	ans, err := c.answer(ctx, r, q.Explain)
	if err != nil {
		return nil, err
	}
	spooled, err := l.write(ctx, d, c.profile)
	if err != nil {
		return nil, err
	}
	l.notePassed(c, r)
	describe(d, &ans)
	ans.note(spooled)
	return &ans, nil
}

// write records a decision that makes no revision.
func (l *Log) write(ctx context.Context, d *store.Decision, p *engine.Profile) (spooled bool, err error) {
	with := l.unstored(p)
	if spooled, err = l.m.RecordEntry(ctx, d, with); err != nil {
		return false, err
	}
	l.noteStored(with)
	return spooled, nil
}

// work makes a question ready and decides. The result is to be released.
func (l *Log) work(ctx context.Context, v *cluster.View, q Question) (*matter, *engine.Result, error) {
	c, err := l.prepare(v, q, l.overlays.get)
	if err != nil {
		return nil, nil, err
	}
	if err := c.knowNames(); err != nil {
		return nil, nil, err
	}
	r, err := c.decide(ctx)
	return c, r, err
}

// dry answers without a record.
func (l *Log) dry(ctx context.Context, v *cluster.View, q Question) (*Answer, error) {
	began := time.Now()
	c, r, err := l.work(ctx, v, q)
	if err != nil {
		return nil, err
	}
	defer r.Release()
	ans, err := c.answer(ctx, r, q.Explain)
	if err != nil {
		return nil, err
	}
	ans.CreatedAt, ans.DurationMicros = l.now(), time.Since(began).Microseconds()
	return &ans, nil
}

// decideAndBind decides under the writer's lock. The answer is written out
// after it, since the result's state does not change.
func (l *Log) decideAndBind(ctx context.Context, q Question) (*Answer, error) {
	var c *matter
	var r *engine.Result
	defer func() {
		if r != nil {
			r.Release()
		}
	}()
	_, step, err := l.m.Update(ctx, q.Cluster, q.Revision, func(v *cluster.View) (*cluster.Step, error) {
		if r != nil { // a race was lost: once more, on what won it
			r.Release()
			r = nil
		}
		began := time.Now()
		var err error
		if c, err = l.prepare(v, q, l.overlays.get); err != nil {
			return nil, err
		}
		if err = c.bindable(); err != nil {
			return nil, err
		}
		if err = c.knowNames(); err != nil {
			return nil, err
		}
		if r, err = c.decide(ctx); err != nil {
			return nil, err
		}
		if r.Outcome == engine.Scheduled && len(c.pod.Spec.SchedulingGates) > 0 { // under a profile that has no rule for them
			return nil, bad(http.StatusConflict, "pod", "pod %s/%s has scheduling gates and cannot be bound", c.pod.Namespace, c.pod.Name)
		}
		beside, err := r.Along()
		if err != nil {
			return nil, bad(http.StatusConflict, "bind", "%v", err)
		}
		if c.along, err = takeAlong(c.view, beside); err != nil {
			return nil, err
		}
		d, err := l.record(c, r, began)
		if err != nil {
			return nil, err
		}
		step := &cluster.Step{Decision: d, Profile: l.unstored(c.profile)}
		if r.Outcome == engine.Scheduled {
			step.Bind, step.Apply = &cluster.Bind{Pod: c.along.onto(c.pod), Node: d.Node}, c.along.objects
		} else {
			step.Apply, err = c.attempted(r)
		}
		return step, err
	})
	if err != nil {
		return nil, err
	}
	l.noteStored(step.Profile)
	ans, err := c.answer(ctx, r, q.Explain)
	if err != nil {
		return nil, err // the decision stands, as where the caller is gone before the record is durable
	}
	describe(step.Decision, &ans)
	ans.BoundAlong = c.along.told
	ans.note(step.Spooled)
	return &ans, nil
}

// bindable refuses a pod that no apiserver would bind, as /bind does
// (registry/core/pod/storage/storage.go setPodNodeAndMetadata).
func (c *matter) bindable() error {
	switch p := c.pod; {
	case p.DeletionTimestamp != nil:
		return bad(http.StatusConflict, "pod", "pod %s/%s is being deleted and cannot be bound", p.Namespace, p.Name)
	case p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed:
		return bad(http.StatusConflict, "pod", "pod %s/%s has ended and cannot be bound", p.Namespace, p.Name)
	}
	return c.countable()
}

// countable refuses a pod whose amounts wrap where the ledger is all the books there are.
func (c *matter) countable() error {
	errs := state.AmountErrors(c.pod)
	if len(errs) == 0 {
		return nil
	}
	return bad(http.StatusUnprocessableEntity, "pod."+errs[0].Field, "%s", errs[0].ErrorBody())
}

// Judge is the extender's way: it decides on the newest view unless told, lets
// use write the reply while the result is alive, and returns when the decision's
// record is durable. The reply must not be sent before.
func (l *Log) Judge(ctx context.Context, q Question, use func(v *cluster.View, r *engine.Result) error) (id string, err error) {
	if q.Bind || q.DryRun {
		return "", bad(400, "bind", "an extender's question neither binds nor runs dry")
	}
	if q, err = q.normal(l.o.Clock); err != nil {
		return "", err
	}
	v, err := l.m.View(ctx, q.Cluster, q.Revision)
	if err != nil {
		return "", err
	}
	began := time.Now()
	if q.Nominated != "" && q.Pod != nil {
		q.Gone = l.victimsOf(ctx, q.Cluster, q.Pod.Namespace, q.Pod.Name, string(q.Pod.UID), q.Nominated)
	}
	c, err := l.prepare(v, q, l.overlays.get)
	if err != nil {
		return "", err
	}
	r, err := c.decide(ctx)
	if err != nil {
		return "", err
	}
	defer r.Release()
	d, err := l.record(c, r, began)
	if err != nil {
		return "", err
	}
	if err := use(v, r); err != nil {
		return "", err
	}
	if _, err = l.write(ctx, d, c.profile); err != nil {
		return d.ID, err
	}
	if q.Verb == VerbPreempt && q.Mode == "" {
		l.agreed.note(podUID{q.Cluster, d.PodUID}, agreement{d.ID, d.Victims})
	}
	l.notePassed(c, r)
	return d.ID, nil
}
