package world

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/decision"
	"berth/internal/engine"
	"berth/internal/engine/recall"
	"berth/internal/engine/state"
	"berth/internal/kube/object"
	"berth/internal/memory"
	"berth/internal/revision"
	"berth/internal/store"
)

// Options are what attempts on a fork are made under.
type Options struct {
	// Profiles are one configuration; at least one.
	Profiles []*engine.Profile
	// Class looks up a priority class that the base lacks; nil: there are none.
	Class decision.ClassSource
	// Now is the time that every decision is made at.
	Now time.Time
	// NoPreemption tries no preemption.
	NoPreemption bool
	// Candidates limits the nodes to those of these names; nil means all.
	Candidates []string
	// MaxSteps bounds the work of one decision; 0: no bound.
	MaxSteps int64
	// Watch follows the run; may be nil.
	Watch *Watch
	// Strangers, where not nil, notes what is to be warned of in pods that were judged.
	Strangers *Strangers
	// Digests works out the digest of each decision.
	Digests bool
	// Chance makes and counts the choices that Kubernetes leaves to chance; nil counts none.
	Chance *Draws
}

// Profile returns the profile that judges a pod.
func (o *Options) Profile(pod *corev1.Pod) (*engine.Profile, error) {
	p, err := decision.ChooseProfile(o.Profiles, "", pod.Spec.SchedulerName)
	if err == nil && p.Name != pod.Spec.SchedulerName && o.Strangers != nil {
		o.Strangers.note(&o.Strangers.names, pod.Spec.SchedulerName, p.Name)
	}
	if class := decision.UnappliedClass(pod); class != "" && o.Strangers != nil {
		o.Strangers.note(&o.Strangers.classes, class, "")
	}
	return p, err
}

// Strangers are the schedulerNames of pods that no profile has, each with the profile that judged
// in its place, and the RuntimeClasses that admission did not apply. They are safe for concurrent
// use.
type Strangers struct {
	mu             sync.Mutex
	names, classes map[string]string
}

func (s *Strangers) note(in *map[string]string, name, of string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if *in == nil {
		*in = map[string]string{}
	}
	(*in)[name] = of
}

// Noted is what Strangers hold, in a form that can be kept.
type Noted struct{ Names, Classes map[string]string }

// Noted returns what was noted so far.
func (s *Strangers) Noted() (n Noted) {
	if s == nil {
		return n
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return Noted{maps.Clone(s.names), maps.Clone(s.classes)}
}

// Add notes what was kept of an earlier run.
func (s *Strangers) Add(n Noted) {
	if s == nil {
		return
	}
	for name, of := range n.Names {
		s.note(&s.names, name, of)
	}
	for class, of := range n.Classes {
		s.note(&s.classes, class, of)
	}
}

// maxStrangers is how many names are warned of.
const maxStrangers = 10

// Warnings has a text for each name, in order.
func (s *Strangers) Warnings(v *revision.View) (list []string) {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, name := range slices.Sorted(maps.Keys(s.classes)) {
		if note := decision.RuntimeNote(v, name); note != "" && i < maxStrangers {
			list = append(list, note)
		}
	}
	for i, name := range slices.Sorted(maps.Keys(s.names)) {
		if i == maxStrangers {
			return append(list, fmt.Sprintf("and so for %d more names of schedulers", len(s.names)-i))
		}
		list = append(list, decision.FallbackText(name, s.names[name]))
	}
	return list
}

// Fork is a cluster's state that attempts change. It begins as a view, which stays as it is, and
// lives in memory alone. It is for one goroutine.
type Fork struct {
	o       Options
	base    *revision.View
	of      *Forks // with which it shares what is read of the base; nil: with none
	runs    state.Runs
	walk    *recall.Walk
	put     map[PodName]*corev1.Pod // what the fork has otherwise than the base; nil: no such pod
	nodes   map[string]*corev1.Node // likewise
	others  map[object.Key]bool     // of other kinds: those that were changed
	applied map[object.Key]any      // what a scenario stored, of kinds that nothing else changes
	// onPod is called before a pod is stored, or deleted where it is nil; may be nil.
	onPod   func(n PodName, after *corev1.Pod) error
	onNode  func(before, after *corev1.Node) // likewise, once a node is stored
	now     time.Duration                    // since Options.Now: decisions are made then
	changes uint64                           // counts every write
	eventCounts
	// log is the events that hints have yet to judge; logs has them kept.
	log  []noted
	logs bool
	// visited are the pods of the base on the node that was visited last, decoded.
	visited map[PodName]*corev1.Pod
	before  eventCounts // when the changes began to be remembered
	marked  bool
	undo    []func() error // takes back what was changed since the mark, the last one first
}

// eventCounts are the events that kube-scheduler's queue hears of, numbered from 1.
type eventCounts struct {
	events   uint64           // the last one
	everyone uint64           // the last one that is not for pods up to a priority alone
	upTo     map[int32]uint64 // by priority: the last one that pods up to it hear of
}

// NewFork starts a fork at a view. Edits of nodes and other objects belong into the view before
// (Edits, revision.View.Fork); the fork's own methods change pods.
func NewFork(v *revision.View, o Options) *Fork {
	return ForkOf(v, recall.NewDecider(deciderBytes(v.State.Nodes().Count())).FromSecond().Walk(v.State), o)
}

// ForkOf is NewFork over a state that others go on with, once the fork's changes are taken back.
func ForkOf(v *revision.View, walk *recall.Walk, o Options) *Fork {
	return &Fork{
		o: o, base: v, runs: decision.RunsOf(o.Profiles), put: map[PodName]*corev1.Pod{}, nodes: map[string]*corev1.Node{},
		walk: walk,
	}
}

// deciderBytes bounds what is remembered between attempts. A kind of pod takes some 35 bytes a
// node, and one that is dropped costs a decision about all nodes when it comes again: there is room
// for 700 kinds, which is little beside a cluster that has as many.
func deciderBytes(nodes int) int { return max(64<<20, nodes*24<<10) }

// Choice counts a choice that Kubernetes leaves to chance, which Undo takes back: of which some of
// several equal ones, of a kind in the plural, are taken for what needs them.
func (f *Fork) Choice(what, of, kind string, chosen, among int) {
	if back := f.o.Chance.Note(seconds(f.now), what, of, kind, chosen, among); back != nil {
		f.OnUndo(back)
	}
}

// State returns the state as it is now, valid until the next change.
func (f *Fork) State() *state.State { return f.walk.State() }

// Changes returns how often the fork has changed: while it is equal, an equal question has an
// equal answer.
func (f *Fork) Changes() uint64 { return f.changes }

// Changed returns a pod that the fork has otherwise than its base; nil where it has not, or none.
func (f *Fork) Changed(n PodName) *corev1.Pod { return f.put[n] }

// Base returns the view that the fork began as.
func (f *Fork) Base() *revision.View { return f.base }

// Options returns what attempts on the fork are made under.
func (f *Fork) Options() *Options { return &f.o }

// Pod returns a pod as it is now, not to be written; an error that wraps store.ErrNotFound where
// there is none of that name.
func (f *Fork) Pod(namespace, name string) (*corev1.Pod, error) {
	n := PodName{namespace, name}
	p, changed := f.put[n]
	switch {
	case !changed && f.visited[n] != nil:
		return f.visited[n], nil
	case !changed:
		return f.base.Pod(namespace, name)
	case p == nil:
		return nil, fmt.Errorf("pod %s/%s: %w", namespace, name, store.ErrNotFound)
	}
	return p, nil
}

// PodBytes is about what a changed pod takes in a fork.
const PodBytes = 4 << 10

// Put adds or replaces a pod, with or without a node.
func (f *Fork) Put(ctx context.Context, pod *corev1.Pod) error {
	if err := f.hearPod(NameOf(pod), pod); err != nil {
		return err
	}
	return f.putQuietly(ctx, pod)
}

// putQuietly puts a pod of which only what no queue waits for changes: its conditions, or that it
// is being deleted (pkg/scheduler/framework/events.go PodSchedulingPropertiesChange).
func (f *Fork) putQuietly(ctx context.Context, pod *corev1.Pod) error {
	if err := memory.Take(ctx, PodBytes); err != nil {
		return fmt.Errorf("pod %s: %w", NameOf(pod), err)
	}
	if err := f.remember(pod.Namespace, pod.Name); err != nil {
		return err
	}
	if f.onPod != nil {
		if err := f.onPod(NameOf(pod), pod); err != nil {
			return err
		}
	}
	if err := f.walk.Changes().Put(pod); err != nil {
		return decision.Errorf(decision.Invalid, "pod", "%v", err)
	}
	f.put[NameOf(pod)] = pod
	f.changes++
	return nil
}

// Delete removes a pod at once; a missing one is no error.
func (f *Fork) Delete(namespace, name string) error {
	if err := f.hearPod(PodName{namespace, name}, nil); err != nil {
		return err
	}
	if err := f.remember(namespace, name); err != nil {
		return err
	}
	if f.onPod != nil {
		if err := f.onPod(PodName{namespace, name}, nil); err != nil {
			return err
		}
	}
	f.walk.Changes().Delete("Pod", namespace, name)
	f.put[PodName{namespace, name}] = nil
	f.changes++
	return nil
}

// Queue returns the waiting pods of the fork's state that are for the profiles, in the order of
// kube-scheduler's queue.
func (f *Fork) Queue() state.Queue { return f.walk.State().Queue(f.runs, f.class) }
