package bind

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"berth/internal/decision"
	"berth/internal/decision/record"
	"berth/internal/engine"
	"berth/internal/engine/explain"
	"berth/internal/kube/object"
	"berth/internal/revision"
	"berth/internal/store"
)

// Place decides and binds a placement, and returns when its records are durable: together with the
// one revision that it makes, on the newest one, or alone where it does not hold. A Revision that
// is not the newest is store.ErrConflict.
func (b *Binder) Place(ctx context.Context, p *decision.Placement) (*decision.PlacementAnswer, error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	if b.apiserver(p.Cluster) != nil {
		if p.Hold > 0 {
			return nil, decision.Errorf(decision.Conflict, "hold", "pods of cluster %s are bound through its apiserver, by /bind, which holds none; place without hold", p.Cluster)
		}
		return nil, decision.Errorf(decision.Conflict, "bind", "pods of cluster %s are bound through its apiserver, by /bind; place without bind", p.Cluster)
	}
	var r *placing
	_, step, err := b.m.Update(ctx, p.Cluster, p.Revision, func(v *revision.View) (*revision.Step, error) {
		var err error
		if r, err = b.placing(ctx, p, v.Trial()); err != nil {
			return nil, err
		}
		if r.records, err = b.log.NewPlacement(r.trial); err != nil {
			return nil, err
		}
		if err := r.run(ctx); err != nil {
			return nil, err
		}
		return r.step(ctx)
	})
	if err != nil {
		return nil, err
	}
	r.records.Written()
	r.end(step)
	return &r.out, nil
}

// end has the answer name what the placement made.
func (r *placing) end(step *revision.Step) {
	r.out.ID, r.out.Committed = r.records.ID, r.out.StoppedBy == nil
	if r.out.Committed {
		r.out.Bound = r.out.Placed > 0
		if n := step.Placed[0].BoundRevision; n > 0 {
			r.out.BoundSnapshot = revision.FormatID(r.p.Cluster, n)
		}
		if h := step.Hold; h != nil && r.out.Bound {
			r.out.Hold = &decision.PlacementHold{ID: h.ID, Expires: h.Expires}
		}
	}
}

// placing is a placement under way.
type placing struct {
	b       *Binder
	p       *decision.Placement
	trial   *revision.Trial
	records *record.Placement // nil: the placement is dry
	members []decision.Member
	order   []int // of the members
	need    int   // pods to be placed, or none is
	now     time.Time
	out     decision.PlacementAnswer
}

// placing reads the members of a placement on a trial, and puts them in order.
func (b *Binder) placing(ctx context.Context, p *decision.Placement, t *revision.Trial) (*placing, error) {
	r := &placing{b: b, p: p, trial: t}
	var least int
	var err error
	if r.members, least, err = p.Members(ctx, t.View()); err != nil {
		return nil, err
	}
	n := len(r.members)
	if n == 0 {
		return nil, decision.Errorf(decision.Invalid, "pods", "there is no pod to place")
	}
	seen := make(map[decision.PodKey]string, n)
	for i := range r.members {
		m := &r.members[i]
		ns, name := m.Named()
		k := decision.PodKey{Namespace: ns, Name: name}
		if first, twice := seen[k]; twice {
			return nil, decision.Errorf(decision.Invalid, m.Field, "pod %s/%s is there twice, first in %s", ns, name, first)
		}
		seen[k] = m.Field
	}
	switch {
	case p.MinCount > n:
		return nil, decision.Errorf(decision.Invalid, "minCount", "want at most %d, the number of pods", n)
	case p.MinCount > 0:
		r.need = p.MinCount
	case p.Atomic:
		r.need = n
	default:
		r.need = least
	}
	r.order = make([]int, n)
	for i := range r.order {
		r.order[i] = i
	}
	if p.InOrder {
		return r, nil
	}
	priorities := make([]int32, n)
	for i := range r.members {
		m := &r.members[i]
		ns, name := m.Named()
		if priorities[i], err = b.log.Priority(t.View(), ns, name, m.Pod); err != nil {
			return nil, inMember(m.Field, err)
		}
	}
	slices.SortStableFunc(r.order, func(i, k int) int { return cmp.Compare(priorities[k], priorities[i]) })
	return r, nil
}

// run decides the pods, until it is clear that the placement does not hold.
func (r *placing) run(ctx context.Context) error {
	r.out = decision.PlacementAnswer{Snapshot: r.trial.View().ID(), Results: make([]decision.PlacementResult, len(r.members))}
	for i := range r.members {
		out := &r.out.Results[i]
		out.Namespace, out.Name = r.members[i].Named()
		out.Outcome = decision.NotTried
	}
	for done, i := range r.order {
		m, out := &r.members[i], &r.out.Results[i]
		if err := r.one(ctx, m, done, out); err != nil {
			return inMember(m.Field, err)
		}
		if out.Outcome == engine.Scheduled {
			r.out.Placed++
			continue
		}
		r.out.Failed++
		if r.out.Placed+len(r.order)-done-1 < r.need {
			r.out.StoppedBy = &decision.PlacementStop{PodKey: decision.PodKey{Namespace: out.Namespace, Name: out.Name}, Message: out.Message}
			return nil
		}
	}
	return nil
}

// one decides the pod of a place in the order, and has the trial show what that changes.
func (r *placing) one(ctx context.Context, m *decision.Member, place int, out *decision.PlacementResult) error {
	for _, c := range m.Claims {
		if _, there := r.trial.View().Object(c.Key); there {
			continue
		}
		if err := r.trial.Put(ctx, c); err != nil {
			return err
		}
	}
	q, err := r.b.log.Normalize(decision.Question{
		Cluster: r.p.Cluster, Pod: m.Pod, PodJSON: m.PodJSON, PodRef: m.Ref, Bind: true, NoPreemption: r.p.NoPreemption, Now: r.p.Now, Place: place,
	})
	if err != nil {
		return err
	}
	if r.now.IsZero() {
		r.now = q.Now
	}
	q.Now = r.now // one time for all
	var o *decision.Outcome
	if r.records != nil {
		o, out.Decision, err = r.records.Decide(ctx, q)
	} else {
		o, err = r.b.log.Try(ctx, r.trial, q)
	}
	if err != nil {
		return err
	}
	put, bound, err := r.effect(o, out)
	now := o.Now
	o.Release()
	if err != nil {
		return err
	}
	if err := r.trial.Put(ctx, put...); err != nil || bound == nil {
		return err
	}
	return r.trial.Bind(ctx, bound, now)
}

// effect writes a result, and returns what it changes, as a single decision that binds does.
func (r *placing) effect(o *decision.Outcome, out *decision.PlacementResult) (put []object.Object, bound *revision.Bind, err error) {
	res := o.Result
	out.Outcome, out.Node, out.Profile = res.Outcome, res.NominatedNode(), o.Profile.Name
	out.Counts, out.Failures = engine.Counts{Nodes: res.Considered(), Feasible: res.Feasible.Count()}, slices.Clone(explain.Failures(res))
	if res.Outcome == engine.Scheduled {
		out.Node = res.Node()
		put, err = o.Bound.Written(o.View.Object, o.Now)
		return put, &revision.Bind{Pod: o.Bound.Pod(o.ToWrite(true)), Node: out.Node}, err
	}
	out.Message, out.Victims = explain.Message(res), o.Evicts()
	put, err = o.StatusChanges()
	return put, nil, err
}

// step returns the write of the placement.
func (r *placing) step(ctx context.Context) (*revision.Step, error) {
	holds := r.out.StoppedBy == nil
	step := &revision.Step{Meanwhile: func() { decision.ReleaseSlot(ctx) }}
	if k := store.KeyedOf(ctx); k.Renders() {
		step.Before = func(*revision.View) error {
			r.end(step)
			return k.Prepare(&r.out)
		}
	}
	if holds {
		step.Apply = r.trial.Puts
		if r.p.Hold > 0 {
			step.Hold = &revision.Hold{ID: r.records.ID, For: r.p.Hold}
		}
	}
	var err error
	step.Placed, step.Profiles, err = r.records.End(holds)
	return step, err
}

// inMember puts the place of a pod in the request before the fields that an error names.
func inMember(at string, err error) error {
	var named *decision.Error
	if errors.As(err, &named) && at != "" {
		e := *named
		e.Field = at + strings.TrimPrefix(strings.TrimPrefix(e.Field, "podRef"), "pod")
		return &e
	}
	var stored *decision.StoredError
	if errors.As(err, &stored) && at != "" {
		e := *stored
		e.At = at
		return &e
	}
	return err
}

// Try is Place that binds and records nothing, on a view. With removals the answer is that without
// the first set of pods with which the placement holds, else that without the last one.
func (b *Binder) Try(ctx context.Context, p *decision.Placement, v *revision.View) (*decision.PlacementAnswer, error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	if len(p.Removals) == 0 {
		r, err := b.try(ctx, p, v, nil)
		if err != nil {
			return nil, err
		}
		return &r.out, nil
	}
	for i, set := range p.Removals {
		for k, pod := range set {
			if _, there := v.Object(pod); !there {
				return nil, decision.Errorf(decision.NotFound, fmt.Sprintf("removals[%d][%d]", i, k), "%s has no pod %s/%s", v.ID(), pod.Namespace, pod.Name)
			}
		}
	}
	all := *p // all have to be placed, or as many as the request wants
	all.Atomic = true
	var r *placing
	for i, set := range p.Removals {
		var err error
		if r, err = b.try(ctx, &all, v, set); err != nil {
			return nil, err
		}
		if r.out.StoppedBy == nil {
			r.out.FirstSet = &i
			r.out.MayReturn, err = b.mayReturn(ctx, &all, v, set)
			return &r.out, err
		}
	}
	return &r.out, nil
}

// mayReturn returns the pods of a set that can stay where they are: one after the other is put
// back, and stays if the placement still holds.
func (b *Binder) mayReturn(ctx context.Context, p *decision.Placement, v *revision.View, set []object.Key) (stay []decision.PodKey, err error) {
	gone := slices.Clone(set)
	for _, pod := range set {
		i := slices.Index(gone, pod)
		if i < 0 {
			continue // it is in the set twice
		}
		without := slices.Delete(slices.Clone(gone), i, i+1)
		r, err := b.try(ctx, p, v, without)
		if err != nil {
			return nil, err
		}
		if r.out.StoppedBy == nil {
			gone, stay = without, append(stay, decision.PodKey{Namespace: pod.Namespace, Name: pod.Name})
		}
	}
	return stay, nil
}

// try runs a placement on a view without some pods.
func (b *Binder) try(ctx context.Context, p *decision.Placement, v *revision.View, without []object.Key) (*placing, error) {
	t := v.Trial()
	for _, pod := range without {
		t.Delete(pod)
	}
	r, err := b.placing(ctx, p, t)
	if err != nil {
		return nil, err
	}
	return r, r.run(ctx)
}
