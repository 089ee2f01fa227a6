package revision

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/engine"
	"berth/internal/engine/recall"
	"berth/internal/engine/state"
	"berth/internal/kube/object"
	"berth/internal/steps"
	"berth/internal/store"
)

// View is one immutable revision, ready for decisions. It is safe for
// concurrent use.
type View struct {
	Cluster   string
	Revision  int64
	Digest    string // sha256:… over the content alone
	CreatedAt time.Time
	Cause     string // upload, change, bind, epoch, commit, release, expired
	State     *state.State
	Summary   Summary

	name       string   // of a state that is no revision; empty: it is one, or a fork of one
	before     *Summary // of the revision that this one was grown from; nil for others
	inv        *inventory
	token      string
	woken      *woken   // what is known of events that woke pods
	changed    int      // bytes of JSON by which it differs from the revision that it was grown from
	checkpoint int64    // the newest one that is known to be at or before this revision
	write      *pending // of this revision, until it is durable; nil for one that was read

	// decider is that of all views whose states descend from one another, and lives as long as they
	// do; nil: there is none.
	decider *recall.Pool

	mu     sync.Mutex
	byKind map[string][]*entry // lists made at first use
	memo   map[string]any      // guarded by mu; what others keep of the view
}

// Caused is the summary with what this change newly caused: of the missing kinds and
// notes those that were not there before, or have grown. It is the whole summary of
// a view that was not made by a change in this process.
func (v *View) Caused() Summary {
	if v.before == nil {
		return v.Summary
	}
	return v.Summary.since(v.before)
}

// ID is the snapshot's id, such as "prod@1042", or the name of a state that is apart.
func (v *View) ID() string {
	if v.name != "" {
		return v.name
	}
	return FormatID(v.Cluster, v.Revision)
}

// Decide is engine.Decide for the view's state, or for one that was made from it for a question. It
// caches what pods of one kind were answered, for this revision and those after it.
func (v *View) Decide(s *state.State, pod *corev1.Pod, p *engine.Profile, o engine.Options) (*engine.Result, error) {
	if v.decider == nil || s.Nodes() != v.State.Nodes() { // other nodes would empty the cache
		return engine.Decide(s, pod, p, o)
	}
	return v.decider.Decide(s, pod, p, o)
}

// Object returns an object's canonical JSON, not to be written.
func (v *View) Object(k object.Key) ([]byte, bool) {
	if e := v.inv.get(k); e != nil {
		return e.json(), true
	}
	return nil, false
}

// All visits all objects with their canonical JSON, in no order that means anything. The JSON is
// not to be written, and is good until the next object.
func (v *View) All() iter.Seq2[object.Key, []byte] {
	return func(yield func(object.Key, []byte) bool) {
		var buf []byte
		for e := range v.inv.all() {
			js := e.read(buf)
			if e.base != nil {
				buf = js
			}
			if !yield(e.key, js) {
				return
			}
		}
	}
}

// In visits the objects of kinds in a namespace, in all for an empty one, as All does.
func (v *View) In(namespace string, kinds ...string) iter.Seq2[object.Key, []byte] {
	return func(yield func(object.Key, []byte) bool) {
		if !slices.ContainsFunc(kinds, func(kind string) bool { return v.Summary.Objects[kind] > 0 }) {
			return
		}
		var buf []byte
		for e := range v.inv.all() {
			if namespace != "" && e.key.Namespace != namespace || !slices.Contains(kinds, e.key.Kind) {
				continue
			}
			js := e.read(buf)
			if e.base != nil {
				buf = js
			}
			if !yield(e.key, js) {
				return
			}
		}
	}
}

// Memo returns what make returned for a key before, or returns now. make reports whether its result
// is to be kept as long as the view.
func (v *View) Memo(key string, make func() (result any, keep bool)) any {
	v.mu.Lock()
	result, known := v.memo[key]
	v.mu.Unlock()
	if known {
		return result
	}
	result, keep := make()
	if !keep {
		return result
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.memo == nil {
		v.memo = map[string]any{}
	}
	v.memo[key] = result
	return result
}

// Pod returns a pod, decoded for the caller alone; an error that wraps
// store.ErrNotFound where the state has none of that name.
func (v *View) Pod(namespace, name string) (*corev1.Pod, error) {
	e := v.inv.get(object.Key{Kind: "Pod", Namespace: namespace, Name: name})
	if e == nil {
		return nil, fmt.Errorf("pod %s/%s in %s: %w", namespace, name, v.ID(), store.ErrNotFound)
	}
	pod, err := decodePod(e)
	if err != nil {
		return nil, corrupt(v.Cluster, v.Revision, "pod "+namespace+"/"+name, err)
	}
	return pod, nil
}

// NodeOf returns the node that a pod is bound to, decoded for the caller alone; nil and given, it
// has no object any more. A snapshot need not hold nodes at all: none is given then.
func (v *View) NodeOf(pod *corev1.Pod) (node *corev1.Node, given bool) {
	name := pod.Spec.NodeName
	if name == "" || v.State.Nodes().Count() == 0 {
		return nil, false
	}
	js, ok := v.Object(object.Key{Kind: "Node", Name: name})
	if !ok {
		return nil, true
	}
	o, err := object.FromCanonical("Node", js)
	if err != nil {
		return nil, false
	}
	node, given = o.Value.(*corev1.Node)
	return node, given
}

func decodePod(e *entry) (*corev1.Pod, error) {
	o, err := object.FromCanonical("Pod", e.json())
	if err != nil {
		return nil, err
	}
	pod, ok := o.Value.(*corev1.Pod)
	if !ok {
		return nil, fmt.Errorf("%T is no pod", o.Value)
	}
	return pod, nil
}

// List returns up to limit objects of a kind, by namespace and name, from the one
// behind after on; the zero key starts at the beginning. More reports whether others
// follow. Items are canonical JSON, not to be written.
func (v *View) List(ctx context.Context, kind string, after object.Key, limit int) (items [][]byte, more bool, err error) {
	return v.ListSeen(ctx, kind, after, limit, nil)
}

// ListSeen is List of the objects in namespaces that a caller sees. Objects without one are in the
// empty namespace.
func (v *View) ListSeen(ctx context.Context, kind string, after object.Key, limit int, sees func(namespace string) bool) (items [][]byte, more bool, err error) {
	return v.ListWhere(ctx, kind, after, limit, sees, nil)
}

// ListWhere is ListSeen of the objects that where is true of, by their canonical JSON; nil: of all.
func (v *View) ListWhere(ctx context.Context, kind string, after object.Key, limit int, sees func(namespace string) bool, where func(js []byte) bool) (items [][]byte, more bool, err error) {
	list, err := v.kind(ctx, kind)
	if err != nil {
		return nil, false, err
	}
	at := 0
	if after.Namespace != "" || after.Name != "" {
		i, ok := find(list, object.Key{Kind: kind, Namespace: after.Namespace, Name: after.Name})
		if at = i; ok {
			at++
		}
	}
	count := steps.Of(ctx)
	for _, e := range list[at:] {
		if sees != nil && !sees(e.key.Namespace) {
			if err := count.Take(1); err != nil {
				return nil, false, err
			}
			continue
		}
		if where == nil && limit > 0 && len(items) == limit {
			return items, true, nil
		}
		js := e.json()
		if where != nil {
			if err := count.Take(len(js)); err != nil {
				return nil, false, err
			}
			switch {
			case !where(js):
				continue
			case limit > 0 && len(items) == limit:
				return items, true, nil
			}
		}
		items = append(items, js)
	}
	return items, false, nil
}

// kind lists the objects of a kind, sorted once a view.
func (v *View) kind(ctx context.Context, kind string) ([]*entry, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if list, ok := v.byKind[kind]; ok {
		return list, nil
	}
	if v.Summary.Objects[kind] == 0 {
		return nil, nil // not kept: kinds that are asked for may be any words
	}
	list := make([]*entry, 0, v.Summary.Objects[kind])
	count := steps.Of(ctx)
	for e := range v.inv.all() {
		if err := count.Take(1); err != nil {
			return nil, err
		}
		if e.key.Kind == kind {
			list = append(list, e)
		}
	}
	if err := sortEntries(count, list); err != nil {
		return nil, err
	}
	if v.byKind == nil {
		v.byKind = map[string][]*entry{}
	}
	v.byKind[kind] = list
	return list, nil
}

// Differences visits the objects that differ between two views, by kind,
// namespace and name: before is nil for one that only to has, after for one that
// only v has. Both are canonical JSON, not to be written.
func (v *View) Differences(ctx context.Context, to *View, f func(k object.Key, before, after []byte)) error {
	type pair struct {
		key           object.Key
		before, after []byte
	}
	var list []pair
	count := steps.Of(ctx)
	err := diff(count, v.inv, to.inv, func(before, after *entry) {
		var p pair
		if before != nil {
			p.key, p.before = before.key, before.json()
		}
		if after != nil {
			p.key, p.after = after.key, after.json()
		}
		list = append(list, p)
	})
	if err != nil {
		return err
	}
	if err := steps.Sort(count, list, func(a, b pair) int { return a.key.Compare(b.key) }); err != nil {
		return err
	}
	for _, p := range list {
		if err := count.Take(len(p.before) + len(p.after)); err != nil {
			return err
		}
		f(p.key, p.before, p.after)
	}
	return nil
}
