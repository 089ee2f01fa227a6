package engine

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/engine/state"
	"berth/internal/kube/object"
)

// Wakes calls woke for each pod of after that waits for a node and each plugin of its profile that
// has a hint for one of the changes: had that plugin rejected the pod, kube-scheduler's queue would
// try the pod again. The event is the first one that does. Changes are told in their order.
//
// What is told follows from the two states, the objects and the profiles alone. The reader of a
// queue intersects the plugins with those that rejected the pod's last attempt: each that was first
// to fail on some node, the one that rejected it in PreFilter, and those that narrowed the nodes
// there. A pod that no plugin rejected, because there was an error or no node at all, waits for no
// event and is tried by time alone (pkg/scheduler/backend/queue isPodWorthRequeuing).
//
// profileOf returns the profile of a scheduler's name; nil for a scheduler that is not ours. Pods
// that are gated or being deleted do not wait. Pods of states that were made for one question have
// no hints: all that registers for an event wakes them.
func Wakes(ctx context.Context, profileOf func(scheduler string) *Profile, before, after *state.State, changes []object.Key,
	objects Objects, woke func(pod *state.Pod, plugin string, e *Event),
) error {
	w := waking{profileOf: profileOf, before: before, after: after, objects: objects, woke: woke, profiles: map[string]*Profile{}}
	w.group()
	if len(w.groups) == 0 {
		return nil
	}
	w.counting = w.groups[0].profile.Counting
	for _, k := range changes {
		if err := ctx.Err(); err != nil {
			return err //nolint:wrapcheck // it is the caller's own
		}
		if !w.interests(k.Kind) {
			continue
		}
		list, err := w.events(k)
		if err != nil {
			return err
		}
		for i := range list {
			w.hear(&list[i])
		}
	}
	return nil
}

// waking is the work of Wakes.
type waking struct {
	profileOf     func(scheduler string) *Profile
	before, after *state.State
	objects       Objects
	woke          func(pod *state.Pod, plugin string, e *Event)
	profiles      map[string]*Profile
	counting      state.Counting // of the profiles' release, which is one
	groups        []*waiters
}

// waiters are the pods that wait and that no hint can tell apart, but for events of their own.
type waiters struct {
	profile *Profile
	pod     *corev1.Pod // nil: not known
	pods    []*state.Pod
	woken   []bool // by rule of the profile, once all of them are
}

func (w *waking) profile(scheduler string) *Profile {
	p, known := w.profiles[scheduler]
	if !known {
		p = w.profileOf(scheduler)
		w.profiles[scheduler] = p
	}
	return p
}

// group finds the pods that wait.
func (w *waking) group() {
	type key struct {
		profile *Profile
		like    *state.Incoming
	}
	groups := map[key]*waiters{}
	var last *waiters
	var lastKey key
	var scheduler string
	var profile *Profile
	w.after.EachPending(func(p *state.Pod) {
		if profile == nil || scheduler != p.Scheduler {
			scheduler, profile = p.Scheduler, w.profile(p.Scheduler)
		}
		if profile == nil || p.Terminating || profile.gates(p) {
			return
		}
		k := key{profile, p.Incoming}
		if last == nil || k != lastKey {
			if last, lastKey = groups[k], k; last == nil {
				last = &waiters{profile: profile, woken: make([]bool, len(profile.Rules))}
				if p.Incoming != nil {
					last.pod = p.Incoming.Pod
				}
				groups[k] = last
				w.groups = append(w.groups, last)
			}
		}
		last.pods = append(last.pods, p)
	})
}

// interests reports whether a hint is for events of a kind.
func (w *waking) interests(kind string) bool {
	for _, p := range w.profiles {
		if p == nil {
			continue
		}
		for _, r := range p.Rules {
			for i := range r.Hints {
				if r.Hints[i].Kind == kind {
					return true
				}
			}
		}
	}
	return false
}

// hear has the pods hear of an event.
func (w *waking) hear(e *Event) {
	for _, g := range w.groups {
		for i, r := range g.profile.Rules {
			if !e.own && !g.woken[i] && r.registers(e) {
				w.tell(e, g, i)
			}
		}
	}
	if e.self != nil {
		w.tellItself(e)
	}
}

// registers reports whether one of the rule's hints is for the event.
func (p *Plugin) registers(e *Event) bool {
	for i := range p.Hints {
		if p.Hints[i].Registers(e.Key.Kind, e.Action) {
			return true
		}
	}
	return false
}

// Queues reports whether the answer of one of the rule's hints is Queue.
func (p *Plugin) Queues(w *Waiter, e *Event) bool {
	for i := range p.Hints {
		if h := &p.Hints[i]; h.Registers(e.Key.Kind, e.Action) && (w.Pod == nil || h.Queue == nil || h.Queue(w, e)) {
			return true
		}
	}
	return false
}

// tell calls the hint once for all pods of a group that the event is not about.
func (w *waking) tell(e *Event, g *waiters, rule int) {
	r := g.profile.Rules[rule]
	if !r.Queues(&Waiter{State: w.after, Pod: g.pod}, e) {
		return
	}
	all := true
	for _, p := range g.pods {
		if e.UpTo != nil && w.after.PriorityOf(p) > *e.UpTo || e.about(p) {
			all = false
			continue
		}
		w.woke(p, r.Name, e)
	}
	g.woken[rule] = all
}

// tellItself calls the hints for the pod that the event is about.
func (w *waking) tellItself(e *Event) {
	p := w.after.Pod(e.Key.Namespace, e.Key.Name)
	profile := w.profile(p.Scheduler)
	if profile == nil || p.Terminating || profile.gates(p) {
		return
	}
	for _, r := range profile.Rules {
		if r.registers(e) && r.Queues(&Waiter{State: w.after, Pod: e.self, Self: true}, e) {
			w.woke(p, r.Name, e)
		}
	}
}

// about reports whether the event is one of a pod.
func (e *Event) about(p *state.Pod) bool {
	return e.Key.Kind == "Pod" && e.Key.Namespace == p.Namespace && e.Key.Name == p.Name
}
