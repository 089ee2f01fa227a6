package world

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"berth/internal/decision"
	"berth/internal/kube/object"
	"berth/internal/revision"
)

// View returns a view with what the fork has otherwise than its base.
func (f *Fork) View(ctx context.Context) (*revision.View, error) {
	del, apply, err := f.difference(nil)
	if err != nil {
		return nil, err
	}
	return f.base.Fork(ctx, del, apply)
}

// difference returns what the fork has otherwise than its base, and further objects that it has not
// stored, in order.
func (f *Fork) difference(further []any) (del []object.Key, apply []object.Object, err error) {
	put := func(k object.Key, v any) {
		if v == nil {
			if _, held := f.base.Object(k); held {
				del = append(del, k)
			}
			return
		}
		o, e := object.Of(v)
		if e != nil {
			err = fmt.Errorf("%s %s/%s: %w", k.Kind, k.Namespace, k.Name, e)
			return
		}
		if held, ok := f.base.Object(o.Key); !ok || !bytes.Equal(held, o.JSON) {
			apply = append(apply, o)
		}
	}
	for n, p := range f.put {
		k := object.Key{Kind: "Pod", Namespace: n.Namespace, Name: n.Name}
		if p == nil {
			put(k, nil)
			continue
		}
		put(k, decision.WithKind(p))
	}
	for name, n := range f.nodes {
		k := object.Key{Kind: "Node", Name: name}
		if n == nil {
			put(k, nil)
			continue
		}
		put(k, n)
	}
	for k := range f.others {
		put(k, f.effect(k))
	}
	for _, v := range further {
		put(object.Key{}, v)
	}
	slices.SortFunc(del, object.Key.Compare)
	slices.SortFunc(apply, func(a, b object.Object) int { return a.Key.Compare(b.Key) })
	return del, apply, err
}

// touch notes that an object of another kind than pods and nodes is changed.
func (f *Fork) touch(k object.Key) {
	if f.others == nil {
		f.others = map[object.Key]bool{}
	}
	f.others[k] = true
}

// ViewAt returns the cluster as it is now, under a name: with the pods that wait in the world
// alone, and the budgets as the disruption controller has counted.
func (w *World) ViewAt(name string) (*revision.View, error) {
	var further []any
	for _, e := range w.queue.waiting {
		if e.place == waits && w.State().Pod(e.Pod.Namespace, e.Pod.Name) == nil {
			further = append(further, decision.WithKind(e.Pod))
		}
	}
	for _, list := range w.budgets.byNS {
		for _, one := range list {
			further = append(further, one.pdb.DeepCopy())
		}
	}
	for _, s := range w.quotas.byNS {
		for _, r := range s.list {
			further = append(further, r.DeepCopy())
		}
	}
	del, apply, err := w.difference(further)
	if err != nil {
		return nil, err
	}
	return w.base.Apart(w.ctx, name, w.Instant(), del, apply)
}
