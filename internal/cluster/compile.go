package cluster

import (
	"fmt"

	"berth/internal/engine"
	"berth/internal/objects"
)

// advance gives the engine's state of inventory to, from the state of from.
// Only what differs is decoded.
func advance(st *engine.State, from, to *inventory) (*engine.State, error) {
	e := st.Edit()
	var failed error
	// Nodes go first: pods of nodes that are not there yet take a way round.
	for _, nodes := range []bool{true, false} {
		diff(from, to, func(before, after *entry) {
			if failed != nil {
				return
			}
			if after == nil {
				if k := before.key; nodes == (k.Kind == "Node") {
					e.Delete(k.Kind, k.Namespace, k.Name)
				}
				return
			}
			if nodes != (after.key.Kind == "Node") {
				return
			}
			failed = putEntry(e, after)
		})
	}
	if failed != nil {
		return nil, failed
	}
	return e.Done(), nil
}

func putEntry(e *engine.Edit, o *entry) error {
	obj, err := objects.FromCanonical(o.key.Kind, o.json)
	if err != nil {
		return fmt.Errorf("%s %s/%s: %w", o.key.Kind, o.key.Namespace, o.key.Name, err)
	}
	if obj.Key != o.key {
		return fmt.Errorf("%v is filed under %v", obj.Key, o.key)
	}
	return e.Put(obj.Value)
}

// recount makes a summary from scratch.
func recount(inv *inventory, st *engine.State, ignored map[string]int) Summary {
	s := Summary{Objects: map[string]int{}, Ignored: ignored}
	inv.each(func(e *entry) { s.Objects[e.key.Kind]++ })
	survey(st, &s.Hygiene)
	s.describe()
	return s
}

// outgrown says that most of the shapes that a state has interned are of pods
// that are gone.
func outgrown(st *engine.State) bool {
	size := st.Tables().Size()
	if size <= 1000 {
		return false
	}
	live := map[int32]struct{}{}
	st.EachPod(func(p *engine.Pod) { live[p.Class.Shape.ID] = struct{}{} })
	return size > 2*len(live)+1000
}
