package revision

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/engine"
	"berth/internal/engine/recall"
	"berth/internal/engine/state"
	"berth/internal/kube/object"
	"berth/internal/store"
)

// Walk goes through a cluster's revisions in ascending order, change by change,
// on a state of its own that is changed in place: what was is not kept, and
// digests are worked out where Verify is called, not at each step. It is for one
// goroutine.
type Walk struct {
	m       *Manager
	cluster string
	views   func(ctx context.Context, revision int64) (*View, error) // whole ones
	decider *recall.Decider
	apart   *apart // nil: no pod is left out

	state   *recall.Walk
	at      *View
	d       *draft        // open, over at's objects
	ahead   []walkStep    // those after at, as far as they are read
	coming  chan walkPage // the page after those; nil: none was asked for
	limit   int           // of that page
	steps   int           // changes since the state was last verified
	careful bool
	pods    *object.PodCache // for what is decoded ahead
}

// walkStep is a revision that changes its parent, decoded.
type walkStep struct {
	number int64
	digest string
	c      *change // nil: it replaces the state
	apply  []walkPut
	err    error // why it cannot be decoded
}

// walkPut is an object of a change: a value, or a pod as its template and its own values.
type walkPut struct {
	entry    *entry
	value    any
	template *corev1.Pod
	own      object.Own
}

type walkPage struct {
	steps []walkStep
	pods  *object.PodCache // comes back for the next page
	err   error
}

// walkAhead is how many revisions are read and decoded at a time at most, while those before are
// walked, and walkFirst at first: the first step waits for them.
const walkAhead, walkFirst = 1024, 64

// Walk starts a walk. Nothing is read yet.
func (m *Manager) Walk(cluster string) *Walk {
	views := func(ctx context.Context, revision int64) (*View, error) { return m.View(ctx, cluster, revision) }
	return &Walk{m: m, cluster: cluster, views: views, decider: recall.NewDecider(0), pods: object.NewPodCache()}
}

// Careful makes the walk verify each view that it gives from now on.
func (w *Walk) Careful() { w.careful = true }

// To returns the view at a revision that is not below the one before. The view
// holds until the next call: its state and the objects that it finds change with
// the walk. After an error the walk is nowhere, and begins again with the next
// call.
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
func (w *Walk) Leave() {
	w.at, w.state, w.d, w.ahead, w.coming, w.steps = nil, nil, nil, nil, nil, 0
}

// Decide is engine.Decide for the state of the walk's view, or for one that was
// made from it. The walk remembers what pods of one kind were told. A result is
// good until the next question or step, and is to be released before it.
func (w *Walk) Decide(s *state.State, pod *corev1.Pod, p *engine.Profile, o engine.Options) (*engine.Result, error) {
	if w.at == nil || s != w.at.State {
		return engine.Decide(s, pod, p, o)
	}
	return w.state.Decide(pod, p, o)
}

func (w *Walk) to(ctx context.Context, revision int64) (*View, error) {
	if w.at == nil || w.m == nil || revision < w.at.Revision || revision-w.at.Revision > int64(w.m.o.CheckpointEvery) {
		return w.jump(ctx, revision)
	}
	at := w.at
	if w.apart != nil {
		w.apart.changed = w.apart.changed[:0]
	}
	for at.Revision < revision {
		r, err := w.next(ctx, at.Revision)
		if errors.Is(err, errBroken) {
			return w.jump(ctx, revision) // the state was replaced, or revisions were deleted
		}
		if err != nil {
			return nil, err
		}
		if err := w.apply(w.state.Changes(), r); err != nil {
			return nil, corrupt(w.cluster, r.number, "change", err)
		}
		w.steps++
		at.Revision, at.Digest = r.number, r.digest
	}
	at.State, at.byKind = w.state.State(), nil
	return at, nil
}

// jump loads a revision whole.
func (w *Walk) jump(ctx context.Context, revision int64) (*View, error) {
	v, err := w.views(ctx, revision)
	if err != nil {
		return nil, err
	}
	if w.apart != nil {
		if err := w.apart.jumped(ctx, w.objects(), v.inv); err != nil {
			return nil, err
		}
	}
	w.ahead, w.coming, w.steps = nil, nil, 0
	w.stand(v)
	return w.at, nil
}

// stand begins the walk's own state at a view.
func (w *Walk) stand(v *View) {
	w.d = v.inv.draft()
	w.d.whole = true
	w.begin(v.State)
	w.at = &View{Cluster: v.Cluster, Revision: v.Revision, Digest: v.Digest, State: w.state.State(), inv: w.d.inv}
}

// next returns the revision after one; errBroken where that is no change to it.
func (w *Walk) next(ctx context.Context, after int64) (*walkStep, error) {
	if len(w.ahead) == 0 {
		if w.coming == nil {
			w.limit = walkFirst
			w.fetch(after)
		}
		select {
		case p := <-w.coming:
			w.coming, w.pods = nil, p.pods
			if p.err != nil {
				return nil, fmt.Errorf("%s: %w", FormatID(w.cluster, after+1), p.err)
			}
			if w.ahead = p.steps; len(p.steps) == w.limit {
				w.limit = min(2*w.limit, walkAhead)
				w.fetch(p.steps[len(p.steps)-1].number)
			}
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if len(w.ahead) == 0 || w.ahead[0].number != after+1 || w.ahead[0].c == nil && w.ahead[0].err == nil {
		return nil, errBroken
	}
	r := &w.ahead[0]
	w.ahead = w.ahead[1:]
	if r.err != nil {
		return nil, corrupt(w.cluster, r.number, "change", r.err)
	}
	return r, nil
}

// fetch reads and decodes the revisions after one beside the walk. A walk that
// went elsewhere since does not use the page.
func (w *Walk) fetch(after int64) {
	into := make(chan walkPage, 1)
	w.coming = into
	pods, limit := w.pods, w.limit
	w.pods = object.NewPodCache() // should this page be left behind unread
	w.m.work.Go(func() {
		p := walkPage{pods: pods}
		list, err := w.m.st.ReplayChanges(w.m.ctx, w.cluster, after, limit)
		p.err = err
		p.steps = make([]walkStep, len(list))
		puts := make([]walkPut, len(list)) // most changes are one
		for i, r := range list {
			p.steps[i] = decodeStep(r, pods, puts[i:i:i+1])
		}
		into <- p
	})
}

// applied is a change that only applies objects.
var applied change

// decodeStep decodes a revision. What it applies goes into the room given while that is enough.
func decodeStep(r *store.ReplayChange, pods *object.PodCache, room []walkPut) walkStep {
	s := walkStep{number: r.Number, digest: r.Digest, apply: room}
	if r.Change == nil {
		return s
	}
	if pod, ok := appliedAlone(r.Change); ok { // most put a pod like one before
		if t, own := pods.Known(pod); t != nil {
			s.c, s.apply = &applied, append(room, walkPut{entry: newEntry(own.Key(t), pod), template: t, own: own})
			return s
		}
	}
	if s.c, s.err = decodeChange(r.Change); s.err != nil {
		return s
	}
	for i, js := range s.c.Apply {
		o, err := decodeApplied(js, pods)
		if err != nil {
			s.err = fmt.Errorf("apply[%d]: %w", i, err)
			return s
		}
		s.apply = append(s.apply, o)
	}
	return s
}

// appliedAlone returns the object of a change that applies it and does nothing else; of other
// changes it may return what is no JSON.
func appliedAlone(js []byte) (object []byte, ok bool) {
	if object, ok = bytes.CutPrefix(js, []byte(applyHead)); ok {
		object, ok = bytes.CutSuffix(object, []byte(applyTail))
	}
	return slices.Clip(object), ok
}

// Verify holds the objects of the walk's view against the digest that was
// recorded for it, and so all changes since the last time.
func (w *Walk) Verify() error {
	if w.at == nil || w.steps == 0 {
		return nil
	}
	at := w.at
	inv, err := w.d.done(nil)
	if err != nil {
		return err
	}
	if got := inv.digest(); got != at.Digest {
		w.Leave()
		return corrupt(w.cluster, at.Revision, fmt.Sprintf("content has the digest %s, not %s", got, at.Digest), nil)
	}
	w.steps = 0
	if outgrown(at.State) {
		st, err := advance(context.Background(), state.NewState(), new(inventory), inv)
		if err != nil {
			return corrupt(w.cluster, at.Revision, "content", err)
		}
		w.begin(st)
		at.State = w.state.State()
	}
	w.d = inv.draft()
	w.d.whole = true
	at.inv = w.d.inv
	return nil
}

// apply carries out a stored change on the objects and on the state.
func (w *Walk) apply(e *state.Edit, r *walkStep) error {
	c := r.c
	for _, k := range c.Delete {
		before := w.d.remove(k)
		if before == nil {
			return fmt.Errorf("deletes %v, which is not there", k)
		}
		if w.shows(before, nil) {
			e.Delete(k.Kind, k.Namespace, k.Name)
		}
	}
	for i := range r.apply {
		o := &r.apply[i]
		var err error
		switch {
		case !w.shows(w.d.put(o.entry), o.entry):
		case o.template != nil:
			err = e.PutPod(o.template, o.own.Name, o.own.UID, o.own.Node)
		default:
			err = e.Put(o.value)
		}
		if err != nil {
			return fmt.Errorf("apply[%d]: %w", i, err)
		}
	}
	if c.Bind == nil {
		return nil
	}
	k := object.Key{Kind: "Pod", Namespace: c.Bind.Namespace, Name: c.Bind.Name}
	have := w.d.inv.get(k)
	if have == nil {
		return fmt.Errorf("binds pod %s/%s, which is not there", k.Namespace, k.Name)
	}
	free, err := decodePod(have)
	if err != nil {
		return err
	}
	pod := Bound(free, c.Bind.Node)
	js, err := object.Encode(pod)
	if err != nil {
		return err
	}
	after := newEntry(k, js)
	if w.shows(w.d.put(after), after) {
		return e.Put(pod)
	}
	return nil
}

// shows reports whether a change is one of the state, and remembers it where that is wanted.
func (w *Walk) shows(before, after *entry) bool {
	if w.apart == nil {
		return true
	}
	w.apart.note(before, after)
	return eitherOf(before, after).key != w.apart.pod
}

// objects returns the objects of the walk's view; nil before the first.
func (w *Walk) objects() *inventory {
	if w.d == nil {
		return nil
	}
	return w.d.inv
}

// podHead begins a pod in canonical form.
const podHead = `{"kind":"Pod","apiVersion":"v1",`

func decodeApplied(js []byte, pods *object.PodCache) (walkPut, error) {
	if bytes.HasPrefix(js, []byte(podHead)) {
		t, own, err := pods.Split(js)
		if err != nil {
			return walkPut{}, err
		}
		return walkPut{entry: newEntry(own.Key(t), js), template: t, own: own}, nil
	}
	k, err := keyOf(js)
	if err != nil {
		return walkPut{}, err
	}
	o, err := object.FromCanonical(k.Kind, js)
	if err != nil {
		return walkPut{}, err
	}
	return walkPut{entry: newEntry(o.Key, o.JSON), value: o.Value}, nil
}
