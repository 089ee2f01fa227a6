package world

import (
	"errors"
	"maps"
	"slices"
	"time"

	"berth/internal/kube/object"
	"berth/internal/store"
)

// Mark begins to remember changes, so that Undo can take them back.
func (f *Fork) Mark() {
	f.marked, f.undo = true, f.undo[:0]
	f.before, f.log = f.eventCounts, nil
	f.before.upTo = maps.Clone(f.upTo)
}

// Keep ends what Mark began, and keeps the changes.
func (f *Fork) Keep() { f.marked, f.undo = false, nil }

// Undo takes back what was changed since Mark.
func (f *Fork) Undo() error {
	f.marked = false
	for len(f.undo) > 0 {
		last := len(f.undo) - 1
		if err := f.undo[last](); err != nil {
			return err
		}
		f.undo = f.undo[:last]
	}
	f.changes++ // no earlier question is still an equal one
	f.eventCounts, f.log = f.before, nil
	return nil
}

// OnUndo has something done when changes are taken back.
func (f *Fork) OnUndo(do func()) {
	if f.marked {
		f.undo = append(f.undo, func() error { do(); return nil })
	}
}

// setIn sets an entry of a map, or takes it out where it is zero. Undo takes that back.
func setIn[K, V comparable](f *Fork, m map[K]V, k K, v V) {
	was := m[k]
	var zero V
	set := func(v V) {
		if m[k] = v; v == zero {
			delete(m, k)
		}
	}
	set(v)
	f.OnUndo(func() { set(was) })
}

// remember has a pod put back as it is now when changes are taken back.
func (f *Fork) remember(namespace, name string) error {
	if !f.marked {
		return nil
	}
	n := PodName{namespace, name}
	held, changed := f.put[n]
	pod, err := f.Pod(namespace, name)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	f.undo = append(f.undo, func() error {
		if f.put[n] = held; !changed {
			delete(f.put, n)
		}
		if pod == nil {
			f.walk.Changes().Delete("Pod", namespace, name)
			return nil
		}
		return f.walk.Changes().Put(pod)
	})
	return nil
}

// putEffect stores an object that a bind writes beside its pod.
func (f *Fork) putEffect(o object.Object) error {
	f.rememberEffect(o.Key)
	f.hear(o.Key, f.effect(o.Key), o.Value)
	return f.walk.Changes().Put(o.Value)
}

// deleteObject removes an object of the kinds that binds write.
func (f *Fork) deleteObject(k object.Key) {
	f.rememberEffect(k)
	f.hear(k, f.effect(k), nil)
	f.walk.Changes().Delete(k.Kind, k.Namespace, k.Name)
	f.changes++
}

// rememberEffect is remember for the kinds that binds write.
func (f *Fork) rememberEffect(k object.Key) {
	f.touch(k)
	if !f.marked {
		return
	}
	before := f.effect(k)
	f.undo = append(f.undo, func() error {
		if before == nil {
			f.walk.Changes().Delete(k.Kind, k.Namespace, k.Name)
			return nil
		}
		return f.walk.Changes().Put(before)
	})
}

// byBinds are the kinds that binds write.
var byBinds = map[string]bool{"ResourceClaim": true, "PersistentVolume": true, "PersistentVolumeClaim": true}

// effect returns an object of the kinds that are touched, as it is now; nil where there is none.
func (f *Fork) effect(k object.Key) any {
	if v, is := f.applied[k]; is && !byBinds[k.Kind] {
		return v
	}
	st := f.walk.State()
	switch k.Kind {
	case "ResourceClaim":
		if c := st.ResourceClaim(k.Namespace, k.Name); c != nil {
			return c
		}
	case "PersistentVolume":
		if v := st.PersistentVolume(k.Name); v != nil {
			return v
		}
	case "PersistentVolumeClaim":
		if c := st.PersistentVolumeClaim(k.Namespace, k.Name); c != nil {
			return c
		}
	case "CSINode":
		if n := st.CSINode(k.Name); n != nil {
			return n
		}
	case "ResourceSlice":
		for _, s := range st.ResourceSlices() {
			if s.Name == k.Name {
				return s
			}
		}
	}
	return nil
}

// Mark is a world as it was when its changes began to be remembered.
type Mark struct {
	now                  time.Duration
	log, others, assumed int
	waiting              []entry
	due                  eventHeap
}

// Mark begins to remember changes. All that was to happen has happened.
func (w *World) Mark() Mark {
	m := Mark{now: w.now, log: len(w.log), others: len(w.others), assumed: w.assumed, due: slices.Clone(w.due.list)}
	for _, e := range w.queue.waiting {
		w.queue.locate(e)
		m.waiting = append(m.waiting, *e)
	}
	w.Fork.Mark()
	return m
}

// Since returns the pods that have left since a mark.
func (w *World) Since(m Mark) []*Left { return w.log[m.log:] }

// Undo takes back what happened since a mark.
func (w *World) Undo(m Mark) error {
	w.now, w.log, w.others, w.assumed = m.now, w.log[:m.log], w.others[:m.others], m.assumed
	w.due.list = m.due
	err := w.Fork.Undo()
	w.daemons.forget()
	w.queue.waiting, w.queue.kinds, w.queue.arrived = nil, map[string]*kind{}, true
	for i := range m.waiting {
		e := &m.waiting[i]
		if e.kind = nil; e.by != nil {
			e.by = w.queue.rejectedBy(e, e.by.names)
		}
		w.queue.waiting = append(w.queue.waiting, e)
	}
	w.queue.plan(w.now)
	return err
}

// kept has what is written down put back when changes are taken back.
func kept[T any](w *World, rec *T) *T {
	if w.marked {
		was := *rec
		w.OnUndo(func() { *rec = was })
	}
	return rec
}
