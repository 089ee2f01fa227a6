package revision

import (
	"context"
	"fmt"

	"berth/internal/engine/state"
	"berth/internal/kube/object"
	"berth/internal/steps"
)

// advance returns the engine's state of inventory to, from the state of from.
// Only what differs is decoded.
func advance(ctx context.Context, st *state.State, from, to *inventory) (*state.State, error) {
	e, count := st.Edit().Within(ctx), steps.Of(ctx)
	var nodes, others []*entry
	err := diff(count, from, to, func(before, after *entry) {
		switch {
		case after == nil && before.key.Kind == "Node":
			e.Delete(before.key.Kind, before.key.Namespace, before.key.Name)
		case after == nil:
			others = append(others, before)
		case after.key.Kind == "Node":
			nodes = append(nodes, after)
		default:
			others = append(others, after)
		}
	})
	if err != nil {
		return nil, err
	}
	// Nodes go first: pods of nodes that are not there yet take a way round. Those
	// that come in order of their names get rows in that order, which answers are
	// written out in.
	if err := sortEntries(count, nodes); err != nil {
		return nil, err
	}
	for _, o := range append(nodes, others...) {
		if err := count.Take(compileSteps); err != nil {
			return nil, err
		}
		if to.get(o.key) == nil {
			e.Delete(o.key.Kind, o.key.Namespace, o.key.Name)
			continue
		}
		if err := putEntry(e, o); err != nil {
			return nil, err
		}
	}
	return e.Finish() //nolint:wrapcheck // the caller's context's own
}

func putEntry(e *state.Edit, o *entry) error {
	if object.ReadLater(o.key.Kind) && o.key.Kind != object.PodGroupKind {
		return nil // no state has it
	}
	obj, err := object.FromCanonical(o.key.Kind, o.json())
	if err != nil {
		return fmt.Errorf("%s %s/%s: %w", o.key.Kind, o.key.Namespace, o.key.Name, err)
	}
	if obj.Key != o.key {
		return fmt.Errorf("%v is filed under %v", obj.Key, o.key)
	}
	return e.Put(obj.Value)
}

// recount makes a summary from scratch.
func recount(count *steps.Counter, inv *inventory, st *state.State, stored Summary) (Summary, error) {
	s := Summary{Objects: map[string]int{}, Ignored: stored.Ignored, Holds: stored.Holds}
	for e := range inv.all() {
		if err := count.Take(1); err != nil {
			return Summary{}, err
		}
		s.Objects[e.key.Kind]++
	}
	if err := survey(count, st, &s.Hygiene); err != nil {
		return Summary{}, err
	}
	surveyKinds(st, &s.Hygiene, nil)
	s.describe()
	return s, nil
}

// outgrown reports whether most of what a state has interned is of deleted pods.
func outgrown(st *state.State) bool {
	entries := st.Tables().Entries()
	return entries > 1000 && entries > 2*st.Interned()+1000
}
