package admit

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	schedulingv1 "k8s.io/api/scheduling/v1"

	"berth/internal/kube/object"
	"berth/internal/revision"
	"berth/internal/steps"
	"berth/internal/store"
)

// Classes returns the priority classes that are stored beside the snapshots.
type Classes interface {
	// Class returns a class of a cluster by its name, the default one for the name
	// ""; nil without one. It is not to be written.
	Class(cluster, name string) *schedulingv1.PriorityClass
}

// Options tune a Ledger.
type Options struct {
	Classes Classes
	Clock   func() time.Time
	// TolerationSeconds turns the admission plugin DefaultTolerationSeconds on.
	TolerationSeconds bool
	Limits            object.Limits
	// Preempted returns those of some pods of a cluster that are to go for others, by what was
	// decided; nil: none are.
	Preempted func(ctx context.Context, cluster string, pods []object.Key) ([]Preemption, error)
}

// Preemption is a pod that is to go for another one.
type Preemption struct {
	Victim, For       object.Key
	VictimUID, ForUID string
}

// Updater writes revisions; *revision.Manager is one.
type Updater interface {
	Update(ctx context.Context, cluster string, parent int64, f func(v *revision.View) (*revision.Step, error)) (*revision.View, *revision.Step, error)
}

// Ledger changes clusters. It is safe for concurrent use.
type Ledger struct {
	m Updater
	o Options
}

// New makes a ledger.
func New(m Updater, o Options) *Ledger {
	if o.Clock == nil {
		o.Clock = time.Now
	}
	return &Ledger{m, o}
}

// Change is a difference to the newest revision. It is made whole or not at all. An
// object is named once in it, or patched and then deleted. Objects of other kinds come
// before pods, so that a pod finds the classes and nodes that come with it, and deletions
// before all.
type Change struct {
	// Apply holds manifests: an object that is there is updated, and keeps what the
	// manifest leaves out; another one is created.
	Apply []json.RawMessage
	// Replace holds objects that are stored as they stand.
	Replace []json.RawMessage
	Patch   []Patch
	Delete  []Deletion
	// Strict makes the deletion of what is not there an error.
	Strict bool
	// Read judges and decodes an object; at is its place in the request, which errors
	// name.
	Read func(at string, raw json.RawMessage) (object.Object, error)
}

// Patch changes fields of one object that is there.
type Patch struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	// Type describes what the patch is: a JSON merge patch (RFC 7386), a JSON patch (RFC
	// 6902) or Kubernetes' strategic merge patch.
	Type  string          `json:"type" enums:"merge,json,strategic"`
	Patch json.RawMessage `json:"patch" swaggertype:"object"`
}

// Deletion names an object that goes.
type Deletion struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	// GracePeriodSeconds lets a pod that runs end gracefully: its deletionTimestamp is
	// written, and another deletion without it removes the pod. Absent, the pod goes at
	// once.
	GracePeriodSeconds *int64 `json:"gracePeriodSeconds,omitempty"`
}

// Result is what a change made.
type Result struct {
	// View is the revision that was made, or the newest one.
	View *revision.View
	// Changed is false where everything was as wanted already.
	Changed bool
	// Deleted went, Ending are pods that end gracefully, and Absent are those of the deletions that
	// were not there. They have the order of the request.
	Deleted, Ending, Absent []object.Key
	// Warnings are those of an API server about the first objects that were created, behind their
	// places in the request. They name pods on nodes that are not there or have no room for them.
	Warnings []string
}

// Change makes the next revision. Parent 0 stands for the newest; another parent that is not the
// newest is store.ErrConflict. Errors about what is requested are those of Read,
// *object.InvalidError, *revision.InvalidError and *revision.ConflictError.
func (l *Ledger) Change(ctx context.Context, name string, parent int64, c Change) (*Result, error) {
	list, err := c.steps()
	if err != nil {
		return nil, err
	}
	preempted, err := l.preempted(ctx, name, list) // before the writer's lock, since it reads records
	if err != nil {
		return nil, err
	}
	var w *work // of the last try
	v, step, err := l.m.Update(ctx, name, parent, func(v *revision.View) (*revision.Step, error) {
		w = &work{steps: steps.Of(ctx), l: l, c: &c, v: v, preempted: preempted, now: l.o.Clock().UTC().Truncate(time.Second), made: map[object.Key]object.Object{}, gone: map[object.Key]bool{}}
		step, err := w.run(list)
		if k := store.KeyedOf(ctx); step != nil && k.Renders() {
			step.Before = func(v *revision.View) error { return k.Prepare(w.answer(list, v, step)) }
		}
		return step, err
	})
	if err != nil {
		return nil, err
	}
	return w.answer(list, v, step), nil
}

// answer returns what a step made, of which the view is v; nil where nothing had to change.
func (w *work) answer(list []step, v *revision.View, made *revision.Step) *Result {
	r := w.result(list)
	r.View, r.Changed = v, made != nil
	if made != nil {
		r.Warnings = append(slices.Clone(w.warnings), overfull(w.v.State, v, made.Apply)...)
	}
	return r
}

// preempted returns the victims of preemptions among the pods that begin to end.
func (l *Ledger) preempted(ctx context.Context, name string, list []step) ([]Preemption, error) {
	var ending []object.Key
	for _, s := range list {
		if s.deletes && s.grace != nil && s.key.Kind == "Pod" {
			ending = append(ending, s.key)
		}
	}
	if l.o.Preempted == nil || len(ending) == 0 {
		return nil, nil
	}
	return l.o.Preempted(ctx, name, ending)
}

// step is one operation of a change.
type step struct {
	field string
	key   object.Key
	do    func(w *work, s *step) error

	raw    json.RawMessage // of what is applied
	object object.Object   // of what is applied or replaced, as it was sent
	patch  *Patch

	deletes bool
	grace   *int64
}

// steps reads the change and puts it into the order in which it is made.
func (c *Change) steps() ([]step, error) {
	var deletes, bounds, others, pods []step
	seen, patched := map[object.Key]string{}, map[object.Key]bool{}
	add := func(s step) error {
		if first, ok := seen[s.key]; ok && !(s.deletes && patched[s.key]) {
			return &revision.InvalidError{Field: s.field, Detail: nameOf(s.key) + " is named twice, first in " + first}
		}
		seen[s.key], patched[s.key] = s.field, s.patch != nil
		switch s.key.Kind {
		case "Pod":
			pods = append(pods, s)
		case "ResourceQuota", "LimitRange":
			bounds = append(bounds, s)
		default:
			others = append(others, s)
		}
		return nil
	}
	read := func(list []json.RawMessage, name string, do func(w *work, s *step) error) error {
		for i, raw := range list {
			field := fmt.Sprintf("%s[%d]", name, i)
			o, err := c.Read(field, raw)
			if err != nil {
				return err
			}
			if err := add(step{field: field, key: o.Key, raw: raw, object: o, do: do}); err != nil {
				return err
			}
		}
		return nil
	}
	if err := read(c.Apply, "apply", (*work).apply); err != nil {
		return nil, err
	}
	if err := read(c.Replace, "replace", (*work).replace); err != nil {
		return nil, err
	}
	for i := range c.Patch {
		p, field := &c.Patch[i], fmt.Sprintf("patch[%d]", i)
		k, err := keyOf(field, object.Key{Kind: p.Kind, Namespace: p.Namespace, Name: p.Name})
		if err == nil {
			err = add(step{field: field, key: k, patch: p, do: (*work).patch})
		}
		if err != nil {
			return nil, err
		}
	}
	list := slices.Concat(bounds, others, pods)
	bounds, others, pods = nil, nil, nil
	for i, d := range c.Delete {
		field := fmt.Sprintf("delete[%d]", i)
		k, err := keyOf(field, object.Key{Kind: d.Kind, Namespace: d.Namespace, Name: d.Name})
		if err == nil {
			err = add(step{field: field, key: k, deletes: true, grace: d.GracePeriodSeconds, do: (*work).remove})
		}
		if err != nil {
			return nil, err
		}
	}
	deletes = slices.Concat(bounds, others, pods)
	early, late := sortPatches(list, deletes)
	if list = slices.Concat(early, deletes, late); len(list) == 0 {
		return nil, &revision.InvalidError{Field: "apply", Detail: "there is nothing to apply, replace, patch or delete"}
	}
	return list, nil
}

// sortPatches takes the patches of objects that are deleted as well out of a list: they come first.
func sortPatches(list, deletes []step) (early, late []step) {
	gone := map[object.Key]bool{}
	for i := range deletes {
		gone[deletes[i].key] = true
	}
	for _, s := range list {
		if gone[s.key] {
			early = append(early, s)
		} else {
			late = append(late, s)
		}
	}
	return early, late
}

// keyOf checks what a patch or a deletion names, and sets the namespace of a namespaced object:
// namespace that kubectl would.
func keyOf(field string, k object.Key) (object.Key, error) {
	namespaced, known := object.Namespaced(k.Kind)
	switch {
	case !known:
		return k, &revision.InvalidError{Field: field + ".kind", Detail: fmt.Sprintf("%.60q is no kind that snapshots hold", k.Kind)}
	case k.Name == "":
		return k, &revision.InvalidError{Field: field + ".name", Detail: "a name is needed"}
	case !namespaced && k.Namespace != "":
		return k, &revision.InvalidError{Field: field + ".namespace", Detail: k.Kind + " has no namespace"}
	case namespaced && k.Namespace == "":
		k.Namespace = "default"
	}
	return k, nil
}

func nameOf(k object.Key) string {
	if k.Namespace == "" {
		return k.Kind + " " + k.Name
	}
	return k.Kind + " " + k.Namespace + "/" + k.Name
}
