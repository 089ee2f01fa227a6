package revision

import (
	"context"
	"fmt"
	"time"

	"berth/internal/engine/state"
	"berth/internal/kube/object"
	"berth/internal/steps"
)

// Fork returns the view with some objects deleted and others put, in memory alone: it is no
// revision of the cluster, keeps the number of this one, and is written nowhere.
func (v *View) Fork(ctx context.Context, del []object.Key, apply []object.Object) (*View, error) {
	if len(del)+len(apply) == 0 {
		return v, nil
	}
	return v.fork(ctx, del, apply)
}

// Apart is Fork for a state that has a name and a time of its own, such as one that a scenario
// comes to.
func (v *View) Apart(ctx context.Context, name string, at time.Time, del []object.Key, apply []object.Object) (*View, error) {
	out, err := v.fork(ctx, del, apply)
	if err != nil {
		return nil, err
	}
	out.name, out.CreatedAt = name, at.UTC()
	for _, o := range apply {
		out.changed += len(o.JSON)
	}
	return out, nil
}

// Changed is how many bytes of JSON a view has beside those of what it was grown from.
func (v *View) Changed() int { return v.changed }

func (v *View) fork(ctx context.Context, del []object.Key, apply []object.Object) (*View, error) {
	g := v.growth(ctx)
	if err := g.difference(del, apply); err != nil {
		return nil, err
	}
	out, err := g.done()
	if err != nil {
		return nil, err
	}
	out.Revision, out.CreatedAt, out.Cause, out.woken, out.decider, out.name = v.Revision, v.CreatedAt, v.Cause, v.woken, nil, v.name
	return out, nil
}

// growth is a view that is made of another one, object by object.
type growth struct {
	head    *View
	d       *draft
	e       *state.Edit
	steps   *steps.Counter
	touched map[podName]struct{}
	others  bool // nodes or classes changed
	kinds   map[string]int
}

// compileSteps is what compiling one object of a change takes, in steps of a Counter.
const compileSteps = 100

func (v *View) growth(ctx context.Context) *growth {
	return &growth{
		head: v, d: v.inv.draft(), e: v.State.Edit().Within(ctx), steps: steps.Of(ctx),
		touched: map[podName]struct{}{}, kinds: map[string]int{},
	}
}

// difference deletes objects, then puts others.
func (g *growth) difference(del []object.Key, apply []object.Object) error {
	for i, k := range del {
		if err := g.steps.Take(compileSteps); err != nil {
			return err
		}
		if g.d.remove(k) == nil {
			return &InvalidError{Field: fmt.Sprintf("delete[%d]", i), Detail: fmt.Sprintf("%s is not in %s", nameOf(k), g.head.ID()), Absent: true}
		}
		g.e.Delete(k.Kind, k.Namespace, k.Name)
		g.note(k, -1)
	}
	for i, o := range apply {
		if err := g.steps.Take(compileSteps); err != nil {
			return err
		}
		if err := g.put(o); err != nil {
			return &InvalidError{Field: fmt.Sprintf("apply[%d]", i), Detail: err.Error()}
		}
	}
	return nil
}

func (g *growth) put(o object.Object) error {
	if err := g.e.Put(o.Value); err != nil {
		return err
	}
	if g.d.put(newEntry(o.Key, o.JSON)) == nil {
		g.note(o.Key, 1)
	} else {
		g.note(o.Key, 0)
	}
	return nil
}

// note counts an object that came (1), went (-1) or was replaced (0).
func (g *growth) note(k object.Key, n int) {
	g.kinds[k.Kind] += n
	switch k.Kind {
	case "Pod":
		g.touched[podName{k.Namespace, k.Name}] = struct{}{}
	case "Node", "PriorityClass":
		g.others = true
	}
}

// done ends the growth.
func (g *growth) done() (*View, error) {
	st, err := g.e.Finish()
	if err != nil {
		return nil, err
	}
	inv, err := g.d.done(g.steps)
	if err != nil {
		return nil, err
	}
	v := &View{Cluster: g.head.Cluster, State: st, inv: inv, Digest: inv.digest(), decider: g.head.decider}
	before := g.head.Summary
	v.before = &before
	v.Summary, err = before.next(g.steps, g.head.State, v.State, g.touched, g.others, g.kinds)
	return v, err
}
