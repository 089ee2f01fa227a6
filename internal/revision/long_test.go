package revision

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"berth/internal/engine/state"
	"berth/internal/kube/object"
	"berth/internal/steps"
	"berth/test/stepstest"
)

// many is a view of pods on a node that it does not have.
func many(t *testing.T) *View {
	list := make([]object.Object, 8000)
	for i := range list {
		list[i] = pod(t, fmt.Sprintf("p%05d", i), "n")
	}
	v, err := Standalone("prod", reader(list...), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// inventory ends a draft that has no context.
func (d *draft) inventory() *inventory {
	inv, err := d.done(nil)
	if err != nil {
		panic(err)
	}
	return inv
}

// TestLongWorkEndsWithItsContext: what takes long on a view of many objects ends once its caller
// has gone.
func TestLongWorkEndsWithItsContext(t *testing.T) {
	v := many(t)
	late := node(t, "n", 4)
	nodes := state.NewState().Edit()
	for i := range 8000 {
		if err := nodes.Put(node(t, fmt.Sprintf("n%05d", i), 4).Value); err != nil {
			t.Fatal(err)
		}
	}
	wide := nodes.Done()
	payload, err := encodeCheckpoint(t.Context(), v.inv)
	if err != nil {
		t.Fatal(err)
	}
	for name, work := range map[string]func(ctx context.Context) error{
		"a page of objects": func(ctx context.Context) error {
			v.mu.Lock()
			v.byKind = nil
			v.mu.Unlock()
			_, _, err := v.List(ctx, "Pod", object.Key{}, 10)
			return err
		},
		"a node that comes after its pods": func(ctx context.Context) error {
			e := v.State.Edit().Within(ctx)
			if err := e.Put(late.Value); err != nil {
				return err
			}
			_, err := e.Finish()
			return err
		},
		"a node beside many": func(ctx context.Context) error {
			e := wide.Edit().Within(ctx)
			if err := e.Put(late.Value); err != nil {
				return err
			}
			_, err := e.Finish()
			return err
		},
		"the state of a revision": func(ctx context.Context) error {
			_, err := advance(ctx, state.NewState(), new(inventory), v.inv)
			return err
		},
		"the digests of what changed": func(ctx context.Context) error {
			d := new(inventory).draft()
			for e := range v.inv.all() {
				d.put(e)
			}
			_, err := d.done(steps.Of(ctx))
			return err
		},
		"a summary": func(ctx context.Context) error {
			_, err := recount(steps.Of(ctx), v.inv, v.State, Summary{})
			return err
		},
		"what differs between two revisions": func(ctx context.Context) error {
			return diff(steps.Of(ctx), new(inventory), v.inv, func(_, _ *entry) {})
		},
		"the objects in order": func(ctx context.Context) error {
			_, err := v.inv.sorted(steps.Of(ctx))
			return err
		},
		"a checkpoint": func(ctx context.Context) error {
			_, err := encodeCheckpoint(ctx, v.inv)
			return err
		},
		"a checkpoint read": func(ctx context.Context) error {
			_, err := decodeCheckpoint(payload, nil, takeFrom(ctx))
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			all := stepstest.After(t.Context(), 0)
			if err := work(all); err != nil || all.Looks() < 5 {
				t.Fatalf("%d looks, %v", all.Looks(), err)
			}
			for _, at := range []int{1, 3, all.Looks() / 2} {
				ctx := stepstest.After(t.Context(), at)
				if err := work(ctx); !errors.Is(err, context.Canceled) || ctx.Looks() > at+5 {
					t.Errorf("ended at look %d of %d: %d looks, %v", at, all.Looks(), ctx.Looks(), err)
				}
			}
		})
	}
}

// TestPagesOfObjectsAreSortedOnce: further pages of a view take no comparison of all its objects.
func TestPagesOfObjectsAreSortedOnce(t *testing.T) {
	v, ctx, seen, first := many(t), stepstest.After(t.Context(), 0), 0, 0
	for after, more := (object.Key{}), true; more; {
		var items [][]byte
		var err error
		if items, more, err = v.List(ctx, "Pod", after, 10); err != nil || len(items) == 0 {
			t.Fatal(len(items), err)
		}
		if seen == 0 {
			first = ctx.Looks()
		}
		o, err := object.FromCanonical("Pod", items[len(items)-1])
		if err != nil {
			t.Fatal(err)
		}
		after, seen = o.Key, seen+len(items)
	}
	if seen != v.Summary.Objects["Pod"] || first == 0 || ctx.Looks() != first {
		t.Errorf("%d objects, %d looks for the first page, %d for all", seen, first, ctx.Looks())
	}
}
