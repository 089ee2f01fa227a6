package cluster

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/engine"
	"berth/internal/objects"
	"berth/internal/store"
)

// Walk goes through a cluster's revisions in ascending order, change by change,
// on a state of its own: what was is not kept, and digests are worked out where
// Verify is called, not at each step. It is for one goroutine.
type Walk struct {
	m       *Manager
	cluster string

	at      *View
	d       *draft            // open, over at's objects
	ahead   []*store.Revision // those after at, as far as they are read
	steps   int               // changes since the state was last verified
	careful bool
	pods    *objects.PodCache
}

// Walk starts a walk. Nothing is read yet.
func (m *Manager) Walk(cluster string) *Walk {
	return &Walk{m: m, cluster: cluster, pods: objects.NewPodCache()}
}

// Careful makes the walk verify each view that it gives from now on.
func (w *Walk) Careful() { w.careful = true }

// To gives the view at a revision that is not below the one before. The view
// holds until the next call: its state for good, but the objects that it finds
// change with the walk. After an error the walk is nowhere, and begins again
// with the next call.
func (w *Walk) To(ctx context.Context, revision int64) (*View, error) {
	if w.at != nil && w.at.Revision == revision {
		return w.at, nil
	}
	v, err := w.to(ctx, revision)
	if err == nil && w.careful {
		err = w.Verify()
	}
	if err != nil {
		w.Leave()
		return nil, err
	}
	return v, nil
}

// Leave forgets where the walk is.
func (w *Walk) Leave() { w.at, w.d, w.ahead, w.steps = nil, nil, nil, 0 }

func (w *Walk) to(ctx context.Context, revision int64) (*View, error) {
	if w.at == nil || revision < w.at.Revision || revision-w.at.Revision > int64(w.m.o.CheckpointEvery) {
		return w.jump(ctx, revision)
	}
	var e *engine.Edit
	next := View{Revision: w.at.Revision, State: w.at.State}
	for next.Revision < revision {
		r, err := w.next(ctx, next.Revision)
		if errors.Is(err, errBroken) {
			return w.jump(ctx, revision) // the state was replaced, or revisions were deleted
		}
		if err != nil {
			return nil, err
		}
		if e == nil {
			e = next.State.Edit()
		}
		if err := w.apply(e, r.Change); err != nil {
			return nil, corrupt(w.cluster, r.Number, "change", err)
		}
		w.steps++
		next.Revision, next.Digest, next.CreatedAt, next.Cause, next.token = r.Number, r.Digest, r.CreatedAt, r.Cause, r.Token
	}
	next.State = e.Done()
	w.at = &View{
		Cluster: w.cluster, Revision: next.Revision, Digest: next.Digest, CreatedAt: next.CreatedAt, Cause: next.Cause,
		State: next.State, inv: w.d.inv, token: next.token, checkpoint: w.at.checkpoint,
	}
	return w.at, nil
}

// jump loads a revision whole.
func (w *Walk) jump(ctx context.Context, revision int64) (*View, error) {
	v, err := w.m.View(ctx, w.cluster, revision)
	if err != nil {
		return nil, err
	}
	w.ahead, w.steps = nil, 0
	w.d = v.inv.draft()
	w.at = &View{
		Cluster: v.Cluster, Revision: v.Revision, Digest: v.Digest, CreatedAt: v.CreatedAt, Cause: v.Cause,
		State: v.State, inv: w.d.inv, token: v.token, checkpoint: v.checkpoint,
	}
	return w.at, nil
}

// next gives the revision after one; errBroken where that is no change to it.
func (w *Walk) next(ctx context.Context, after int64) (*store.Revision, error) {
	if len(w.ahead) == 0 {
		list, err := w.m.st.RevisionsAfter(ctx, w.cluster, after, page)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", FormatID(w.cluster, after+1), err)
		}
		w.ahead = list
	}
	if len(w.ahead) == 0 || w.ahead[0].Number != after+1 || w.ahead[0].Change == nil {
		return nil, errBroken
	}
	r := w.ahead[0]
	w.ahead = w.ahead[1:]
	return r, nil
}

// Verify holds the objects of the walk's view against the digest that was
// recorded for it, and so all changes since the last time.
func (w *Walk) Verify() error {
	if w.at == nil || w.steps == 0 {
		return nil
	}
	inv := w.d.done()
	if got := inv.digest(); got != w.at.Digest {
		w.Leave()
		return corrupt(w.cluster, w.at.Revision, fmt.Sprintf("content has the digest %s, not %s", got, w.at.Digest), nil)
	}
	w.steps = 0
	if outgrown(w.at.State) {
		st, err := advance(engine.NewState(), new(inventory), inv)
		if err != nil {
			return corrupt(w.cluster, w.at.Revision, "content", err)
		}
		w.at.State = st
	}
	w.d = inv.draft()
	w.at.inv = w.d.inv
	return nil
}

// apply carries out a stored change on the objects and on the state.
func (w *Walk) apply(e *engine.Edit, payload []byte) error {
	c, err := decodeChange(payload)
	if err != nil {
		return err
	}
	for _, k := range c.Delete {
		if w.d.remove(k) == nil {
			return fmt.Errorf("deletes %v, which is not there", k)
		}
		e.Delete(k.Kind, k.Namespace, k.Name)
	}
	for i, js := range c.Apply {
		o, err := w.decode(js)
		if err != nil {
			return fmt.Errorf("apply[%d]: %w", i, err)
		}
		if err := e.Put(o.Value); err != nil {
			return fmt.Errorf("apply[%d]: %w", i, err)
		}
		w.d.put(newEntry(o.Key, o.JSON))
	}
	if c.Bind == nil {
		return nil
	}
	k := objects.Key{Kind: "Pod", Namespace: c.Bind.Namespace, Name: c.Bind.Name}
	have := w.d.inv.get(k)
	if have == nil {
		return fmt.Errorf("binds pod %s/%s, which is not there", k.Namespace, k.Name)
	}
	o, err := w.pods.Decode(have.json)
	if err != nil {
		return err
	}
	pod := bound(o.Value.(*corev1.Pod), c.Bind.Node)
	js, err := objects.Encode(pod)
	if err != nil {
		return err
	}
	if err := e.Put(pod); err != nil {
		return err
	}
	w.d.put(newEntry(k, js))
	return nil
}

func (w *Walk) decode(js []byte) (objects.Object, error) {
	k, err := keyOf(js)
	if err != nil {
		return objects.Object{}, err
	}
	if k.Kind == "Pod" {
		return w.pods.Decode(js)
	}
	return objects.FromCanonical(k.Kind, js)
}
