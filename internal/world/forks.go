package world

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth/internal/kube/object"
	"berth/internal/memory"
	"berth/internal/revision"
	"berth/internal/steps"
)

// Forks makes forks of one view that share what worlds read of it, so that not each of many
// questions reads all nodes, budgets and pods that wait. The forks are for one goroutine.
type Forks struct {
	base    *revision.View
	o       Options
	nodes   map[string]*corev1.Node // of the base
	budgets *budgets                // as the base has them
	pending []Arrival
	byOwner map[ownerKey][]PodName // see World.byOwner
	daemons []*daemonSpec          // nil: not read yet
}

// ForksOf reads what the forks of a view share.
func ForksOf(ctx context.Context, v *revision.View, o Options) (*Forks, error) {
	f := &Forks{base: v, o: o, nodes: map[string]*corev1.Node{}}
	counter, set := steps.Of(ctx), v.State.Nodes()
	for _, row := range set.Order() {
		name := set.Node(int(row)).Name
		raw, ok := v.Object(object.Key{Kind: "Node", Name: name})
		if !ok {
			continue // Fork.Node says so
		}
		if err := counter.Take(readSteps); err != nil {
			return nil, err
		}
		if err := memory.Take(ctx, object.Weight(raw)); err != nil {
			return nil, fmt.Errorf("node %s: %w", name, err)
		}
		node, err := decodeNode(name, raw)
		if err != nil {
			return nil, err
		}
		f.nodes[name] = node
	}
	var err error
	if f.pending, err = NewFork(v, o).Pending(ctx); err != nil {
		return nil, err
	}
	f.budgets, err = readBudgets(ctx, v)
	return f, err
}

// New returns a fork of the view as it is.
func (f *Forks) New() *Fork {
	one := NewFork(f.base, f.o)
	one.of = f
	return one
}

// copied returns budgets whose allowances change apart from these.
func (b *budgets) copied() *budgets {
	out := &budgets{byNS: make(map[string][]*budget, len(b.byNS)), Unseen: b.Unseen}
	for ns, list := range b.byNS {
		own := make([]*budget, len(list))
		for i, one := range list {
			pdb := *one.pdb
			own[i] = &budget{&pdb, one.selector, one.follows}
		}
		out.byNS[ns] = own
	}
	return out
}

// Watch follows a run and keeps what is finished of it. It may be nil, and so may its functions.
type Watch struct {
	// Progress is called as a part goes on, with what is done of how much; total is 0 where that is
	// not known.
	Progress func(part string, done, total int)
	// Load reads a part that an earlier run of the same scenario finished into v, and reports
	// whether there is one.
	Load func(part string, v any) (bool, error)
	// Save keeps a part for a later run.
	Save func(part string, v any) error
}

type watching struct{}

// With returns a context whose scenarios are watched.
func (w *Watch) With(ctx context.Context) context.Context {
	return context.WithValue(ctx, watching{}, w)
}

// Watching returns what watches the scenarios of a context; nil: nothing.
func Watching(ctx context.Context) *Watch {
	w, _ := ctx.Value(watching{}).(*Watch)
	return w
}

// Progressed tells who watches that a part went on.
func (w *Watch) Progressed(part string, done, total int) {
	if w != nil && w.Progress != nil {
		w.Progress(part, done, total)
	}
}

// Pending returns the waiting pods of the fork's base that are for its profiles, in the order of
// kube-scheduler's queue: by priority, then by creation. A queue in which pods have failed before
// has another order, which no snapshot holds.
func (f *Fork) Pending(ctx context.Context) ([]Arrival, error) {
	if f.of != nil && f.changes == 0 {
		return slices.Clone(f.of.pending), nil
	}
	q := f.Queue()
	out := make([]Arrival, 0, len(q.Active)+len(q.Gated))
	if err := memory.Take(ctx, PodBytes*int64(cap(out))); err != nil {
		return nil, err
	}
	for _, p := range append(q.Active, q.Gated...) {
		pod, err := f.Pod(p.Namespace, p.Name)
		if err != nil {
			return nil, err
		}
		out = append(out, Arrival{Pod: pod})
	}
	return out, nil
}

// ShapeOf returns what of a pod decisions read. Name, UID and age are no part of it, with one
// exception: the claims of ephemeral volumes bear the pod's name
// (component-helpers/storage/ephemeral VolumeClaimName).
func ShapeOf(pod *corev1.Pod) string {
	p := *pod
	p.UID, p.ResourceVersion, p.CreationTimestamp, p.ManagedFields = "", "", metav1.Time{}, nil
	p.Status.Conditions, p.Status.StartTime = nil, nil
	named := false
	for i := range p.Spec.Volumes {
		named = named || p.Spec.Volumes[i].Ephemeral != nil
	}
	if !named {
		p.Name, p.GenerateName = "", ""
	}
	b, err := p.Marshal()
	if err != nil {
		return "pod " + pod.Namespace + "/" + pod.Name // like no other
	}
	return string(b)
}
