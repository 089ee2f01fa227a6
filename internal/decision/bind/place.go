package bind

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/decision"
	"berth/internal/decision/record"
	"berth/internal/engine"
	"berth/internal/engine/explain"
	"berth/internal/kube/object"
	"berth/internal/revision"
)

// Placement is a list of pods to place one after the other, each on the state that those before
// left.
type Placement struct {
	Cluster  string // "default" if empty
	Revision int64  // 0: the newest
	// Members returns the pods on a view.
	Members func(ctx context.Context, v *revision.View) ([]Member, error)
	// InOrder decides the pods in the order of the list; else as the queue sorts them, those of one
	// priority in the order of the list.
	InOrder bool
	// Atomic binds all pods or none, and MinCount, where it is above 0, that many at least or none.
	Atomic       bool
	MinCount     int
	NoPreemption bool
	// Failures adds to each pod that is not placed which plugins rejected how many nodes.
	Failures bool
	Now      time.Time // zero: the time of the call
}

// Member is a pod of a placement: one of the request, or the name of one that the snapshot has.
type Member struct {
	Field   string // where it stands in the request, which errors name
	Pod     *corev1.Pod
	PodJSON []byte // Pod in canonical JSON, where the caller has it
	Ref     *object.Key
	// Claims are made with the pod, where the snapshot does not have them.
	Claims []object.Object
}

// name returns the pod's namespace and name.
func (m *Member) name() (namespace, name string) {
	if m.Ref != nil {
		return m.Ref.Namespace, m.Ref.Name
	}
	return m.Pod.Namespace, m.Pod.Name
}

// NotTried is the outcome of pods that a placement did not come to.
const NotTried engine.Outcome = "NotTried"

// PlacementAnswer is what became of a placement.
type PlacementAnswer struct {
	// ID names the placement; absent of a dry one.
	ID       string `json:"id,omitempty"`
	Snapshot string `json:"snapshot" example:"plat@41"`
	// BoundSnapshot is the revision that was made: it has the pods on their nodes, and why others
	// wait. Absent where nothing was written.
	BoundSnapshot string `json:"boundSnapshot,omitempty" example:"plat@42"`
	// Committed is false for a placement that did not hold, of which nothing was written but its
	// records, and for a dry one.
	Committed bool `json:"committed"`
	Placed    int  `json:"placed"`
	Failed    int  `json:"failed"`
	// Results are in the order of the request.
	Results []PlacementResult `json:"results"`
	// StoppedBy is the pod with which it was clear that the placement does not hold.
	StoppedBy *PlacementStop `json:"stoppedBy,omitempty"`
	// FirstSet is which of the removals, from 0, is the first with which the placement holds, and
	// MayReturn are the pods of that set which can stay, all of them together.
	FirstSet  *int     `json:"firstSet,omitempty"`
	MayReturn []PodKey `json:"mayReturn,omitempty"`
	Warnings  []string `json:"warnings,omitempty"`

	// Bound reports whether a pod was bound.
	Bound bool `json:"-"`
} // @name Placement

// PodKey names a pod.
type PodKey struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
} // @name PlacementPod

// PlacementResult is what became of one pod.
type PlacementResult struct {
	Namespace string         `json:"namespace"`
	Name      string         `json:"name"`
	Outcome   engine.Outcome `json:"outcome" enums:"Scheduled,Preempting,Unschedulable,Gated,NotTried" swaggertype:"string"`
	// Node is the node that the pod gets, or that it is nominated to.
	Node string `json:"node,omitempty"`
	// Decision is the id of the record; absent of a dry placement, and where the pod was not tried.
	Decision string `json:"decision,omitempty"`
	// Message is kube-scheduler's about a pod that found no node.
	Message  string                `json:"message,omitempty"`
	Failures []engine.FailureCount `json:"failures,omitempty"`
	Victims  []engine.Victim       `json:"victims,omitempty"`
} // @name PlacementResult

// PlacementStop is the pod that ended a placement, and why it got no node.
type PlacementStop struct {
	PodKey
	Message string `json:"message"`
} // @name PlacementStop

// Place decides and binds a placement, and returns when its records are durable: together with the
// one revision that it makes, on the newest one, or alone where it does not hold. A Revision that
// is not the newest is store.ErrConflict.
func (b *Binder) Place(ctx context.Context, p *Placement) (*PlacementAnswer, error) {
	if err := p.normalize(); err != nil {
		return nil, err
	}
	if b.apiserver(p.Cluster) != nil {
		return nil, decision.Errorf(decision.Conflict, "bind", "pods of cluster %s are bound through its apiserver, by /bind; place without bind", p.Cluster)
	}
	var r *placing
	_, step, err := b.m.Update(ctx, p.Cluster, p.Revision, func(v *revision.View) (*revision.Step, error) {
		var err error
		if r, err = b.placing(ctx, p, v.Trial()); err != nil {
			return nil, err
		}
		if r.records, err = b.log.NewPlacement(r.trial); err != nil {
			return nil, err
		}
		if err := r.run(ctx); err != nil {
			return nil, err
		}
		return r.step(ctx)
	})
	if err != nil {
		return nil, err
	}
	r.records.Written()
	r.out.ID, r.out.Committed = r.records.ID, r.out.StoppedBy == nil
	if r.out.Committed {
		r.out.Bound = r.out.Placed > 0
		if n := step.Placed[0].BoundRevision; n > 0 {
			r.out.BoundSnapshot = revision.FormatID(p.Cluster, n)
		}
	}
	return &r.out, nil
}

func (p *Placement) normalize() error {
	p.Cluster = cmp.Or(p.Cluster, "default")
	if err := revision.CheckName(p.Cluster); err != nil {
		return decision.Errorf(decision.Malformed, "snapshot", "%v", err)
	}
	if p.MinCount < 0 {
		return decision.Errorf(decision.Invalid, "minCount", "want a number above 0")
	}
	return nil
}

// placing is a placement under way.
type placing struct {
	b       *Binder
	p       *Placement
	trial   *revision.Trial
	records *record.Placement // nil: the placement is dry
	members []Member
	order   []int // of the members
	need    int   // pods to be placed, or none is
	out     PlacementAnswer
}

// placing reads the members of a placement on a trial, and puts them in order.
func (b *Binder) placing(ctx context.Context, p *Placement, t *revision.Trial) (*placing, error) {
	r := &placing{b: b, p: p, trial: t}
	var err error
	if r.members, err = p.Members(ctx, t.View()); err != nil {
		return nil, err
	}
	n := len(r.members)
	seen := make(map[PodKey]string, n)
	for i := range r.members {
		m := &r.members[i]
		ns, name := m.name()
		if first, twice := seen[PodKey{ns, name}]; twice {
			return nil, decision.Errorf(decision.Invalid, m.Field, "pod %s/%s is there twice, first in %s", ns, name, first)
		}
		seen[PodKey{ns, name}] = m.Field
	}
	switch {
	case p.MinCount > n:
		return nil, decision.Errorf(decision.Invalid, "minCount", "want at most %d, the number of pods", n)
	case p.MinCount > 0:
		r.need = p.MinCount
	case p.Atomic:
		r.need = n
	}
	r.order = make([]int, n)
	for i := range r.order {
		r.order[i] = i
	}
	if p.InOrder {
		return r, nil
	}
	priorities := make([]int32, n)
	for i := range r.members {
		if priorities[i], err = b.priority(t.View(), &r.members[i]); err != nil {
			return nil, inMember(r.members[i].Field, err)
		}
	}
	slices.SortStableFunc(r.order, func(i, k int) int { return cmp.Compare(priorities[k], priorities[i]) })
	return r, nil
}

func (b *Binder) priority(v *revision.View, m *Member) (int32, error) {
	if m.Pod != nil {
		return b.log.Priority(v, m.Pod)
	}
	if held := v.State.Pod(m.Ref.Namespace, m.Ref.Name); held != nil {
		return held.Priority, nil
	}
	return 0, nil // its decision says so
}

// run decides the pods, until it is clear that the placement does not hold.
func (r *placing) run(ctx context.Context) error {
	r.out = PlacementAnswer{Snapshot: r.trial.View().ID(), Results: make([]PlacementResult, len(r.members))}
	for i := range r.members {
		out := &r.out.Results[i]
		out.Namespace, out.Name = r.members[i].name()
		out.Outcome = NotTried
	}
	for done, i := range r.order {
		m, out := &r.members[i], &r.out.Results[i]
		if err := r.one(ctx, m, out); err != nil {
			return inMember(m.Field, err)
		}
		if out.Outcome == engine.Scheduled {
			r.out.Placed++
			continue
		}
		r.out.Failed++
		if r.out.Placed+len(r.order)-done-1 < r.need {
			r.out.StoppedBy = &PlacementStop{PodKey{out.Namespace, out.Name}, out.Message}
			return nil
		}
	}
	return nil
}

// one decides a pod, and has the trial show what that changes.
func (r *placing) one(ctx context.Context, m *Member, out *PlacementResult) error {
	for _, c := range m.Claims {
		if _, there := r.trial.View().Object(c.Key); there {
			continue
		}
		if err := r.trial.Put(ctx, c); err != nil {
			return err
		}
	}
	q, err := r.b.log.Normalize(decision.Question{
		Cluster: r.p.Cluster, Pod: m.Pod, PodJSON: m.PodJSON, PodRef: m.Ref, Bind: true, NoPreemption: r.p.NoPreemption, Now: r.p.Now,
	})
	if err != nil {
		return err
	}
	var o *decision.Outcome
	if r.records != nil {
		o, out.Decision, err = r.records.Decide(ctx, q)
	} else {
		o, err = r.b.log.Try(ctx, r.trial, q)
	}
	if err != nil {
		return err
	}
	put, bound, err := r.effect(o, out)
	now := o.Now
	o.Release()
	if err != nil {
		return err
	}
	if err := r.trial.Put(ctx, put...); err != nil || bound == nil {
		return err
	}
	return r.trial.Bind(ctx, bound, now)
}

// effect writes a result, and returns what it changes, as a single decision that binds does.
func (r *placing) effect(o *decision.Outcome, out *PlacementResult) (put []object.Object, bound *revision.Bind, err error) {
	res := o.Result
	out.Outcome, out.Node = res.Outcome, res.NominatedNode()
	if res.Outcome == engine.Scheduled {
		out.Node = res.Node()
		put, err = o.Bound.Written(o.View.Object, o.Now)
		return put, &revision.Bind{Pod: o.Bound.Pod(o.ToWrite(true)), Node: out.Node}, err
	}
	out.Message, out.Victims = explain.Message(res), o.Evicts()
	if r.p.Failures {
		out.Failures = slices.Clone(explain.Failures(res))
	}
	put, err = o.StatusChanges()
	return put, nil, err
}

// step returns the write of the placement.
func (r *placing) step(ctx context.Context) (*revision.Step, error) {
	if len(r.members) == 0 {
		return nil, decision.Errorf(decision.Invalid, "pods", "there is no pod to place")
	}
	holds := r.out.StoppedBy == nil
	step := &revision.Step{Meanwhile: func() { decision.ReleaseSlot(ctx) }}
	if holds {
		step.Apply = r.trial.Puts
	}
	var err error
	step.Placed, step.Profiles, err = r.records.End(holds)
	return step, err
}

// inMember puts the place of a pod in the request before the fields that an error names.
func inMember(at string, err error) error {
	var named *decision.Error
	if errors.As(err, &named) && at != "" {
		e := *named
		e.Field = at + strings.TrimPrefix(strings.TrimPrefix(e.Field, "podRef"), "pod")
		return &e
	}
	var stored *decision.StoredError
	if errors.As(err, &stored) && at != "" {
		e := *stored
		e.At = at
		return &e
	}
	return err
}

// Try is Place that binds and records nothing, on a view.
func (b *Binder) Try(ctx context.Context, p *Placement, v *revision.View) (*PlacementAnswer, error) {
	r, err := b.tried(ctx, p, v.Trial())
	if err != nil {
		return nil, err
	}
	return &r.out, nil
}

func (b *Binder) tried(ctx context.Context, p *Placement, t *revision.Trial) (*placing, error) {
	if err := p.normalize(); err != nil {
		return nil, err
	}
	r, err := b.placing(ctx, p, t)
	if err != nil {
		return nil, err
	}
	if len(r.members) == 0 {
		return nil, decision.Errorf(decision.Invalid, "pods", "there is no pod to place")
	}
	return r, r.run(ctx)
}
