package revision

import (
	"berth/internal/engine/state"
	"berth/internal/store"
)

// Wakes follows what the revisions of a cluster did for pods that wait, row by row.
type Wakes struct{ known *woken }

// WokenPods are the pods that one event woke, by name.
type WokenPods struct {
	*state.Wake
	Pods []PodOf
}

// PodOf names a pod.
type PodOf struct{ Namespace, Name string }

// WakesFrom begins behind a view, or before the first revision where that is nil.
func WakesFrom(v *View) *Wakes {
	if v == nil || v.woken == nil {
		return &Wakes{&woken{}}
	}
	return &Wakes{v.woken}
}

// Next returns what the next revision did; nothing where that is not known.
func (w *Wakes) Next(r *store.Revision) (list []WokenPods) {
	x, err := decodeWakes(r.Woken, w.known)
	if err != nil {
		w.known = unknownAt(r.Number)
		return nil
	}
	w.known = w.known.after(x)
	for i := range x.groups {
		g := WokenPods{Wake: x.groups[i].Wake}
		for _, p := range x.groups[i].pods {
			g.Pods = append(g.Pods, PodOf{p.namespace, p.name})
		}
		list = append(list, g)
	}
	return list
}
