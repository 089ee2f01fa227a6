package revision

import (
	"context"
	"fmt"
	"slices"

	"berth/internal/engine/recall"
	"berth/internal/engine/state"
	"berth/internal/kube/object"
	"berth/internal/steps"
	"berth/internal/store"
)

// Changed is an object that a step of a walk changed.
type Changed struct {
	Key           object.Key
	before, after *entry // nil: it was, or is, not there
}

// Before returns the object's canonical JSON before the step, not to be written; nil where there
// was none.
func (c *Changed) Before() []byte { return textOfEntry(c.before) }

// After is Before as the step left it.
func (c *Changed) After() []byte { return textOfEntry(c.after) }

func textOfEntry(e *entry) []byte {
	if e == nil {
		return nil
	}
	return e.json()
}

// apart is what a walk does for one pod that its states lack.
type apart struct {
	pod     object.Key
	changed []Changed // by the last step, the pod left out
}

// WalkApart starts a walk whose states lack a pod, as those that decisions about it are made on,
// and that remembers what each step changes. The objects that views find are all there.
func (m *Manager) WalkApart(_ context.Context, cluster, namespace, name string) (*Walk, error) {
	if err := CheckName(cluster); err != nil {
		return nil, err
	}
	return m.Walk(cluster).without(namespace, name), nil
}

func (w *Walk) without(namespace, name string) *Walk {
	w.apart = &apart{pod: object.Key{Kind: "Pod", Namespace: namespace, Name: name}}
	return w
}

// Changed lists what the step to the view changed beside the pod that is left out, by key. Where
// revisions between are not kept, it is what all of them changed; it is empty at the walk's first
// view.
func (w *Walk) Changed() []Changed {
	list := w.apart.changed
	slices.SortStableFunc(list, func(a, b Changed) int { return a.Key.Compare(b.Key) })
	out := list[:0]
	for _, c := range list { // a step may delete an object and put it again
		if last := len(out) - 1; last >= 0 && out[last].Key == c.Key {
			out[last].after = c.after
		} else {
			out = append(out, c)
		}
	}
	w.apart.changed = slices.DeleteFunc(out, func(c Changed) bool {
		return c.before == c.after || c.before != nil && c.after != nil && c.before.sum == c.after.sum
	})
	return w.apart.changed
}

// note remembers an object that a step changes.
func (a *apart) note(before, after *entry) {
	if k := eitherOf(before, after).key; k != a.pod {
		a.changed = append(a.changed, Changed{k, before, after})
	}
}

func eitherOf(a, b *entry) *entry {
	if a != nil {
		return a
	}
	return b
}

// begin makes the state that the walk goes on with.
func (w *Walk) begin(st *state.State) {
	w.state = w.decider.Walk(st)
	if w.apart != nil {
		w.state.Changes().Delete(w.apart.pod.Kind, w.apart.pod.Namespace, w.apart.pod.Name)
	}
}

// jumped remembers what a jump changed of the objects before it.
func (a *apart) jumped(ctx context.Context, from, to *inventory) error {
	a.changed = a.changed[:0]
	if from == nil {
		return nil
	}
	return diff(steps.Of(ctx), from, to, a.note)
}

// Show puts an object that the last step changed into the walk's state alone, as it was before the
// step or as the step left it: what would be without the change of this object. It is to be shown
// as it is again before the next step.
func (w *Walk) Show(c *Changed, before bool) error {
	e := c.after
	if before {
		e = c.before
	}
	if e == nil {
		w.state.Changes().Delete(c.Key.Kind, c.Key.Namespace, c.Key.Name)
	} else {
		o, err := object.FromCanonical(c.Key.Kind, e.json())
		if err == nil {
			err = w.state.Changes().Put(o.Value)
		}
		if err != nil {
			return corrupt(w.cluster, w.at.Revision, fmt.Sprintf("%v", c.Key), err)
		}
	}
	w.at.State = w.state.State()
	return nil
}

// Fork returns the walk's state, for changes that are taken back before the next step.
func (w *Walk) Fork() *recall.Walk { return w.state }

// WalkViews is WalkApart through views in memory, which are the revisions from 1 on.
func WalkViews(views []*View, namespace, name string) *Walk {
	w := &Walk{decider: recall.NewDecider(0), pods: object.NewPodCache(), views: func(_ context.Context, revision int64) (*View, error) {
		if revision < 1 || int(revision) > len(views) {
			return nil, fmt.Errorf("revision %d: %w", revision, store.ErrNotFound)
		}
		return views[revision-1], nil
	}}
	return w.without(namespace, name)
}
