package scenario

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/labels"

	"berth/internal/decision"
	"berth/internal/decision/admit"
	"berth/internal/engine"
	"berth/internal/engine/state"
	"berth/internal/kube/object"
	"berth/internal/podlife/admission"
	"berth/internal/revision"
	"berth/internal/world"
)

// Edits are what is otherwise than in the base before the first pod arrives. Nodes are removed
// first, then objects applied, patched and deleted as by an apiserver, then nodes added.
type Edits struct {
	Apply       []json.RawMessage `json:"apply,omitempty" swaggertype:"array,object"`
	Patch       []admit.Patch     `json:"patch,omitempty"`
	Delete      []admit.Deletion  `json:"delete,omitempty"`
	AddNodes    []AddNodes        `json:"addNodes,omitempty"`
	RemoveNodes *NodeSelection    `json:"removeNodes,omitempty"`
} // @name ScenarioEdits

// AddNodes adds nodes that are Ready: like one that is there, by a template, or by their resources.
type AddNodes struct {
	// Like names a node of the base. A copy has its labels but a hostname of its own, its
	// allocatable resources, CSINode, ResourceSlices and taints, and gets its daemon pods. It has
	// no images, no taints of conditions, and is not cordoned.
	Like string `json:"like,omitempty"`
	// Template is a Node, of which a cordon, taints of conditions and the conditions are left out.
	// Further ones are named after it, and all where the name is taken.
	Template json.RawMessage `json:"template,omitempty" swaggertype:"object"`
	NodeShape
	Count *int `json:"count,omitempty" default:"1"`

	name string // of nodes without a model
} // @name ScenarioAddNodes

// NodeSelection selects nodes by name or by labels.
type NodeSelection struct {
	Names    []string `json:"names,omitempty"`
	Selector string   `json:"selector,omitempty" example:"topology.kubernetes.io/zone=a"`
} // @name NodeSelection

// Editor makes edits.
type Editor struct {
	// Admission is what objects are admitted with.
	Admission admit.Options
	// Read judges and decodes an object at a place of the request; ReadPod a pod, or the pod that a
	// workload's controller would make.
	Read    func(at string, raw json.RawMessage) (object.Object, error)
	ReadPod func(at string, raw json.RawMessage) (*corev1.Pod, error)
	// MaxNodes bounds the nodes that are added; 0: no bound.
	MaxNodes int
	// Configure reads a configuration at a place of the request, for questions with several; absent
	// ones are the present one.
	Configure func(at string, c *Configuration) ([]*engine.Profile, error)
	// Warnings are those of what was read; nil: there are none.
	Warnings func() []string
	// History reads recorded decisions as arrivals, an error where they are more; nil: there are
	// none.
	History func(ctx context.Context, h *History, most int, progress func(done int)) ([]world.Arrival, error)

	warned []string // what new nodes are warned of
}

// Edited is a view with edits made, and the daemon pods of its new nodes.
type Edited struct {
	View *revision.View
	// Daemons arrive before all others: their controller made them as soon as the nodes were Ready.
	Daemons []world.Arrival
	Added   []string // the names of the new nodes
	// Removed are the nodes that are gone, Gone the pods that went with them.
	Removed []string
	Gone    []decision.PodRef
}

// Apply makes the edits on a fork of the view. field is the place of the edits in the request,
// which errors name.
func (d *Editor) Apply(ctx context.Context, v *revision.View, field string, e *Edits) (*Edited, error) {
	out := &Edited{View: v}
	if e == nil {
		return out, nil
	}
	if e.RemoveNodes != nil {
		if err := out.remove(ctx, field+".removeNodes", e.RemoveNodes); err != nil {
			return nil, err
		}
	}
	if len(e.Apply)+len(e.Patch)+len(e.Delete) > 0 {
		if err := d.change(ctx, out, field, e); err != nil {
			return nil, err
		}
	}
	added := 0
	for i := range e.AddNodes {
		a, at := &e.AddNodes[i], fmt.Sprintf("%s.addNodes[%d]", field, i)
		if a.name = fmt.Sprintf("new-%d", i+1); a.Count == nil {
			a.Count = new(1)
		}
		if added += *a.Count; *a.Count < 1 || d.MaxNodes > 0 && added > d.MaxNodes {
			return nil, decision.Errorf(decision.Invalid, at+".count", "want 1 to %d nodes in all", d.MaxNodes)
		}
		if err := d.add(ctx, out, at, a); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// WithDaemons returns the view once the daemon pods of new nodes had their turn.
func (e *Edited) WithDaemons(ctx context.Context, o world.Options) (*revision.View, error) {
	if len(e.Daemons) == 0 {
		return e.View, nil
	}
	f := world.NewFork(e.View, o)
	if _, err := f.Run(ctx, e.Daemons, world.Limits{}, nil); err != nil {
		return nil, err
	}
	return f.View(ctx)
}

// Pod reads a pod of the request and admits it as an apiserver does that creates it
// (admission.CreateStored), but for the default tolerations of lost nodes: it is judged as it
// comes, like the pod of a decision.
func (d *Editor) Pod(v *revision.View, at string, raw json.RawMessage) (*corev1.Pod, error) {
	pod, err := d.ReadPod(at, raw)
	if err != nil {
		return nil, err
	}
	class := func(name string) *schedulingv1.PriorityClass {
		switch held := v.State.PriorityClass(name); {
		case name == "" && v.State.GlobalDefaultClass() != nil:
			return v.State.GlobalDefaultClass()
		case name != "" && held != nil:
			return held
		case d.Admission.Classes == nil:
			return nil
		}
		return d.Admission.Classes.Class(v.Cluster, name)
	}
	asked := *pod
	if pod.Spec.Priority != nil && class(pod.Spec.PriorityClassName) == nil {
		asked.Spec.PriorityClassName = "" // a pod of a cluster was admitted once
	}
	verdict := admission.CreateStored(&asked, admission.Admission{Classes: class}, v.CreatedAt)
	if len(verdict.Errors) > 0 {
		return nil, &object.InvalidError{Key: object.Key{Kind: "Pod", Namespace: pod.Namespace, Name: pod.Name}, Path: at, Errors: verdict.Errors}
	}
	return verdict.Pod, nil
}

// made is Pod for the pod that the controller of a workload makes in a scenario, of which nothing
// is to be noted: the workload is there as a whole.
func (d *Editor) made(v *revision.View, at string, workload []byte) (*corev1.Pod, error) {
	w, err := object.PodOf(workload, object.Limits{})
	if err != nil {
		return nil, inField(at, err)
	}
	return d.Pod(v, at, w.Pod)
}

// change applies, patches and deletes as a ledger does.
func (d *Editor) change(ctx context.Context, out *Edited, field string, e *Edits) error {
	read := func(at string, raw json.RawMessage) (object.Object, error) { return d.Read(field+"."+at, raw) }
	f := &forkUpdater{view: out.View}
	admission := d.Admission
	admission.Clock = func() time.Time { return out.View.CreatedAt } // an answer has no clock but its question's
	_, err := admit.New(f, admission).Change(ctx, out.View.Cluster, 0, admit.Change{Apply: e.Apply, Patch: e.Patch, Delete: e.Delete, Strict: true, Read: read})
	if err != nil {
		return inField(field, err)
	}
	out.View = f.view
	return nil
}

// forkUpdater makes a ledger's step on a fork of a view instead of a cluster's chain.
type forkUpdater struct{ view *revision.View }

// Update implements admit.Updater.
func (u *forkUpdater) Update(ctx context.Context, _ string, _ int64, f func(*revision.View) (*revision.Step, error)) (*revision.View, *revision.Step, error) {
	step, err := f(u.view)
	if err != nil || step == nil {
		return u.view, nil, err
	}
	if u.view, err = u.view.Fork(ctx, step.Delete, step.Apply); err != nil {
		return nil, nil, err
	}
	return u.view, step, nil
}

// nodes returns the names of the selected nodes, in order. A name that is not there and a selector
// that matches nothing are errors with the field.
func (s *NodeSelection) nodes(v *revision.View, field string) ([]string, error) {
	switch {
	case (len(s.Names) > 0) == (s.Selector != ""):
		return nil, decision.Errorf(decision.Malformed, field, "want either names or a selector")
	case s.Selector == "":
		return named(v, field+".names", s.Names)
	}
	return selected(v, field+".selector", s.Selector)
}

// named returns names of nodes, each once.
func named(v *revision.View, field string, names []string) (out []string, err error) {
	seen := make(map[string]bool, len(names))
	for i, n := range names {
		if v.State.Nodes().Row(n) < 0 {
			return nil, decision.Errorf(decision.Invalid, fmt.Sprintf("%s[%d]", field, i), "%s has no node %.253q", v.ID(), n)
		}
		if !seen[n] {
			out, seen[n] = append(out, n), true
		}
	}
	return out, nil
}

// selected returns the names of the nodes that a label selector matches, in order.
func selected(v *revision.View, field, selector string) ([]string, error) {
	if strings.ContainsRune(selector, 0) { // which labels.Parse passes over at the end of a word
		return nil, decision.Errorf(decision.Malformed, field, "it must not hold a NUL")
	}
	sel, err := labels.Parse(selector)
	if err != nil {
		return nil, decision.Errorf(decision.Malformed, field, "no label selector such as pool=batch: %v", err)
	}
	out := nodesWith(v, func(n *state.Node) bool { return sel.Matches(labels.Set(n.Labels)) })
	if len(out) == 0 {
		return nil, decision.Errorf(decision.Invalid, field, "%q matches no node of %s", selector, v.ID())
	}
	return out, nil
}

// nodesWith returns the names of the nodes that meet a condition, in order.
func nodesWith(v *revision.View, meets func(*state.Node) bool) (out []string) {
	set := v.State.Nodes()
	for _, row := range set.Order() {
		if n := set.Node(int(row)); meets(n) {
			out = append(out, n.Name)
		}
	}
	return out
}

// remove takes nodes out as when their Node objects are deleted: PodGC removes their pods without
// grace (pkg/controller/podgc gcOrphaned), and the garbage collector their CSINodes and slices.
func (out *Edited) remove(ctx context.Context, field string, s *NodeSelection) error {
	names, err := s.nodes(out.View, field)
	if err != nil {
		return err
	}
	var del []object.Key
	st := out.View.State
	out.Removed = names
	seen := make(map[string]bool, len(names))
	for _, name := range names {
		seen[name] = true
		del = append(del, object.Key{Kind: "Node", Name: name})
		if k := (object.Key{Kind: "CSINode", Name: name}); st.CSINode(name) != nil {
			del = append(del, k)
		}
		for p := range st.PodsOn(st.Nodes().Row(name)).All() {
			del = append(del, object.Key{Kind: "Pod", Namespace: p.Namespace, Name: p.Name})
			out.Gone = append(out.Gone, decision.PodRef{Namespace: p.Namespace, Name: p.Name, UID: p.UID})
		}
	}
	for _, s := range st.ResourceSlices() {
		if s.Spec.NodeName != nil && seen[*s.Spec.NodeName] {
			del = append(del, object.Key{Kind: "ResourceSlice", Name: s.Name})
		}
	}
	out.View, err = out.View.Fork(ctx, del, nil)
	return err
}
