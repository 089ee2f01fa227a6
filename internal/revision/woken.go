package revision

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"

	"berth/internal/engine"
	"berth/internal/engine/state"
	"berth/internal/kube/object"
	"berth/internal/steps"
	"berth/internal/store"
)

// woken is what the revisions up to a view did for pods that wait: of each pod and plugin the
// newest wake, which is an event that the plugin's hint takes for one that may help. It follows
// from the stored rows alone, so that it is equal on every replica, and is never written: a
// revision makes the next one. Nil: nothing is known.
type woken struct {
	// since is the newest revision of which it is not known what it did; 0: all are known.
	since   int64
	plugins []string // of all wakes, sorted
	all     map[wakeKey]*state.Wake
	// later lies over all, so that a small revision copies little; nil: the pod waits no longer.
	later map[wakeKey]*state.Wake
}

type wakeKey struct {
	podName
	plugin string
}

// fewLater is how many wakes lie over the others at least before they are put together.
const fewLater = 64

// unknownAt is what is known after a revision of which it is not known what it did.
func unknownAt(revision int64) *woken { return &woken{since: revision} }

// Woken returns what woke a pod after a revision: the newest wake by one of the plugins that
// rejected it, nil without one. known is false where a revision since then may have woken it, and
// no record of that is left.
func (v *View) Woken(
	namespace, name string, after int64, rejectedBy []string,
) (w *state.Wake, known bool) {
	if v.woken == nil || after < v.woken.since {
		return nil, false
	}
	for _, plugin := range rejectedBy {
		o := v.woken.get(wakeKey{podName{namespace, name}, plugin})
		if o != nil && o.Revision > after && (w == nil || o.Revision > w.Revision) {
			w = o
		}
	}
	return w, true
}

func (w *woken) get(k wakeKey) *state.Wake {
	if o, ok := w.later[k]; ok {
		return o
	}
	return w.all[k]
}

// each visits all wakes, in no order.
func (w *woken) each(f func(k wakeKey, o *state.Wake)) {
	for k, o := range w.later {
		if o != nil {
			f(k, o)
		}
	}
	for k, o := range w.all {
		if _, ok := w.later[k]; !ok {
			f(k, o)
		}
	}
}

// wakes is what one revision did: the pods that an event woke, and those that wait no longer.
type wakes struct {
	groups []wakeGroup
	gone   []podName
}

// wakeGroup is a wake with its pods, sorted.
type wakeGroup struct {
	*state.Wake
	pods []podName
}

func (w *wakes) empty() bool { return len(w.groups)+len(w.gone) == 0 }

// after returns what is known once a revision did what x has.
func (w *woken) after(x *wakes) *woken {
	if x.empty() {
		return w
	}
	next := &woken{since: w.since, plugins: w.plugins, all: w.all}
	n := len(w.later) + len(x.gone)*len(w.plugins)
	for i := range x.groups {
		g := &x.groups[i]
		if at, ok := slices.BinarySearch(next.plugins, g.Plugin); !ok {
			next.plugins = slices.Insert(slices.Clone(next.plugins), at, g.Plugin)
		}
		n += len(g.pods)
	}
	if n <= max(fewLater, len(w.all)/8) {
		next.later = make(map[wakeKey]*state.Wake, n)
		maps.Copy(next.later, w.later)
		x.each(w.plugins, func(k wakeKey, o *state.Wake) { next.later[k] = o })
		return next
	}
	next.all = make(map[wakeKey]*state.Wake, len(w.all))
	w.each(func(k wakeKey, o *state.Wake) { next.all[k] = o })
	x.each(w.plugins, func(k wakeKey, o *state.Wake) {
		if o == nil {
			delete(next.all, k)
			return
		}
		next.all[k] = o
	})
	return next
}

// each visits what the revision sets; nil where a pod waits no longer.
func (x *wakes) each(plugins []string, set func(k wakeKey, o *state.Wake)) {
	for _, p := range x.gone {
		for _, plugin := range plugins {
			set(wakeKey{p, plugin}, nil)
		}
	}
	for i := range x.groups {
		g := &x.groups[i]
		for _, p := range g.pods {
			set(wakeKey{p, g.Plugin}, g.Wake)
		}
	}
}

// newest returns the pods whose wake by a plugin is its newest, sorted: those that its last event
// woke, as long as they wait.
func (w *woken) newest(plugin string) (pods []podName) {
	last := int64(math.MinInt64)
	w.each(func(k wakeKey, o *state.Wake) {
		if k.plugin != plugin || o.Revision < last {
			return
		}
		if o.Revision > last {
			pods, last = pods[:0], o.Revision
		}
		pods = append(pods, k.podName)
	})
	slices.SortFunc(pods, podName.compare)
	return pods
}

func (p podName) compare(o podName) int {
	return cmp.Or(cmp.Compare(p.namespace, o.namespace), cmp.Compare(p.name, o.name))
}

// groups returns all wakes with their pods, in the order of revisions.
func (w *woken) groups() []wakeGroup {
	at := map[*state.Wake]int{}
	var out []wakeGroup
	w.each(func(k wakeKey, o *state.Wake) {
		i, ok := at[o]
		if !ok {
			i = len(out)
			at[o], out = i, append(out, wakeGroup{Wake: o})
		}
		out[i].pods = append(out[i].pods, k.podName)
	})
	for i := range out {
		slices.SortFunc(out[i].pods, podName.compare)
	}
	slices.SortFunc(out, func(a, b wakeGroup) int {
		return cmp.Or(cmp.Compare(a.Revision, b.Revision), cmp.Compare(a.Plugin, b.Plugin),
			a.Object.Compare(b.Object), cmp.Compare(a.Event, b.Event),
			slices.CompareFunc(a.pods, b.pods, podName.compare))
	})
	return out
}

// follow returns what is known after a stored revision.
func (w *woken) follow(r *store.Revision) *woken {
	x, err := decodeWakes(r.Woken, w)
	if err != nil {
		return unknownAt(r.Number) // of an older release, or damaged
	}
	return w.after(x)
}

// wake works out what the next revision of a view does for pods that wait, and returns it as it is
// stored.
func (m *Manager) wake(ctx context.Context, head, v *View, changed []object.Key) ([]byte, error) {
	if m.o.ProfileOf == nil || head.woken == nil {
		v.woken = unknownAt(v.Revision)
		return nil, nil
	}
	x := &wakes{gone: head.woken.left(changed, v.State)}
	at, done := map[state.Wake]int{}, map[wakeKey]struct{}{}
	var of *engine.Event
	var label string
	objects := engine.Objects{Before: head.value, After: v.value}
	woke := func(pod *state.Pod, plugin string, e *engine.Event) {
		k := wakeKey{podName{pod.Namespace, pod.Name}, plugin}
		if _, ok := done[k]; ok {
			return // the first event that does is enough
		}
		done[k] = struct{}{}
		if e != of {
			of, label = e, e.Label()
		}
		w := state.Wake{Revision: v.Revision, Plugin: plugin, Event: label, Object: e.Key}
		i, ok := at[w]
		if !ok {
			i = len(x.groups)
			at[w], x.groups = i, append(x.groups, wakeGroup{Wake: &w})
		}
		x.groups[i].pods = append(x.groups[i].pods, k.podName)
	}
	profileOf := func(scheduler string) *engine.Profile { return m.o.ProfileOf(v.Cluster, scheduler) }
	err := engine.Wakes(ctx, profileOf, head.State, v.State, changed, objects, woke)
	if err != nil {
		return nil, fmt.Errorf("what woke pods: %w", err)
	}
	for i := range x.groups {
		slices.SortFunc(x.groups[i].pods, podName.compare)
	}
	v.woken = head.woken.after(x)
	return x.encode(head.woken), nil
}

// value returns an object, decoded for the caller alone; nil where there is none.
func (v *View) value(k object.Key) (any, error) {
	js, ok := v.Object(k)
	if !ok {
		return nil, nil
	}
	o, err := object.FromCanonical(k.Kind, js)
	if err != nil {
		return nil, corrupt(v.Cluster, v.Revision, nameOf(k), err)
	}
	return o.Value, nil
}

// wakeUpload is wake for a state that replaces the one of head, which is nil before the first. Its
// checkpoint has what is known.
func (m *Manager) wakeUpload(ctx context.Context, head, v *View) error {
	if head == nil {
		v.woken = &woken{}
		return nil
	}
	var changed []object.Key
	err := diff(steps.Of(ctx), head.inv, v.inv, func(before, after *entry) {
		if after == nil {
			after = before
		}
		changed = append(changed, after.key)
	})
	if err != nil {
		return err
	}
	slices.SortFunc(changed, object.Key.Compare)
	_, err = m.wake(ctx, head, v, changed)
	return err
}

// left returns the pods among changed objects that were woken before, and wait no longer, sorted.
func (w *woken) left(changed []object.Key, after *state.State) (gone []podName) {
	for _, k := range changed {
		p := podName{k.Namespace, k.Name}
		known := func(plugin string) bool { return w.get(wakeKey{p, plugin}) != nil }
		if k.Kind != "Pod" || !slices.ContainsFunc(w.plugins, known) {
			continue
		}
		if pod := after.Pod(p.namespace, p.name); pod == nil || pod.NodeName != "" || pod.Terminal {
			gone = append(gone, p)
		}
	}
	slices.SortFunc(gone, podName.compare)
	return slices.Compact(gone)
}

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
