package decisionlog

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	corev1 "k8s.io/api/core/v1"

	"berth/internal/cluster"
	"berth/internal/engine"
	"berth/internal/objects"
	"berth/internal/store"
)

// Binder makes binds come true. Refusal says in words that the pod is not bound
// so and will not be; err, that what became of it is not known. A pod that is on
// the node already is bound.
type Binder interface {
	Bind(ctx context.Context, namespace, name, uid, node string) (refusal string, err error)
}

// OutcomeUnknown is of a bind whose answer never came.
const OutcomeUnknown engine.Outcome = "Unknown"

// bindResult is what became of a bind.
type bindResult struct {
	// Attempt is the record of the bind; empty where the pod was on the node
	// before, and no bind was recorded.
	Attempt string         `json:"attempt,omitempty"`
	Node    string         `json:"node"`
	Outcome engine.Outcome `json:"outcome"`
	Message string         `json:"message,omitempty"`
}

// asksNothing says that a record is of something that was done, and the engine
// was not asked.
func (in *input) asksNothing() bool { return in.Bind != "" || in.Result != nil }

// unasked gives the answer of such a record.
func (in *input) unasked(v *cluster.View, d *store.Decision) engine.Decision {
	if in.Result != nil {
		return in.Result.answer(d.Priority)
	}
	return bindAnswer(v, d.Namespace, d.Pod, d.PodUID, in.Bind)
}

func (b *bindResult) answer(priority int32) engine.Decision {
	a := engine.Decision{Outcome: b.Outcome, Message: b.Message, Priority: priority}
	if b.Outcome == engine.Scheduled {
		a.Node = b.Node
	}
	a.Digest = digestOf(fmt.Appendf(nil, "berth-bind-result-1 %q %q %q %q", b.Attempt, b.Node, b.Outcome, b.Message))
	return a
}

// attempt is a bind on its way.
type attempt struct {
	cluster string
	pod     PodRef
	node    string

	id       string // of its record
	revision int64  // that holds the pod on its node
	refusal  string
	unasked  string // why no decision allows it; "" where one does
	firm     bool   // no newer state lifts the refusal
	already  bool
	priority int32
	free     *corev1.Pod // before it was put on its node
}

// undone takes a pod off its node, and with it the labels and the condition that
// the bind had brought along. What else was heard of the pod meanwhile stays.
func (t *attempt) undone(held *corev1.Pod) *corev1.Pod {
	pod := *held
	pod.Spec.NodeName = ""
	if t.free == nil { // it was on the node before the attempt
		return &pod
	}
	pod.Labels = objects.TopologyOf(held.Labels, t.free.Labels)
	pod.Status.Conditions = slices.Clone(held.Status.Conditions)
	for i, c := range pod.Status.Conditions {
		was := slices.IndexFunc(t.free.Status.Conditions, func(f corev1.PodCondition) bool { return f.Type == c.Type })
		if c.Type == corev1.PodScheduled && was >= 0 {
			pod.Status.Conditions[i] = t.free.Status.Conditions[was]
		}
	}
	return &pod
}

// bindThrough binds in three steps, each on record before the next: the pod is
// put on its node in the newest revision, so that whoever asks from now on finds
// it there, the apiserver is asked, and what it said is written; a pod that it
// refused is pending again.
func (l *Log) bindThrough(ctx context.Context, b Binder, name string, pod PodRef, node string) (BindOutcome, error) {
	t := &attempt{cluster: name, pod: pod, node: node}
	if err := l.permit(ctx, t); err != nil {
		return BindOutcome{}, err
	}
	if err := l.beginHeld(ctx, t); err != nil {
		return BindOutcome{}, err
	}
	began := time.Now()
	res := &bindResult{Attempt: t.id, Node: node, Outcome: engine.Scheduled}
	refusal, err := b.Bind(ctx, pod.Namespace, pod.Name, t.pod.UID, node)
	switch {
	case err != nil:
		res.Outcome, res.Message = OutcomeUnknown, err.Error()
	case refusal != "":
		res.Outcome, res.Message = engine.UnschedulableOK, refusal
	}
	// What was done is written even if the caller has gone meanwhile.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeResult)
	defer cancel()
	if err := l.end(ctx, t, res, began); err != nil {
		return BindOutcome{}, err
	}
	if res.Outcome != engine.Scheduled {
		return BindOutcome{}, &BindError{res.Message}
	}
	return BindOutcome{AlreadyBound: t.already, Snapshot: formatID(name, t.revision)}, nil
}

// permit looks for the decision that a bind follows. It does so before the
// writer's lock is taken, since it may read records.
func (l *Log) permit(ctx context.Context, t *attempt) (err error) {
	if !l.guarded(t.cluster) {
		return nil
	}
	pod := t.pod
	if pod.UID == "" { // as an apiserver takes a Binding
		if v, err := l.m.View(ctx, t.cluster, 0); err == nil { // else begin says so
			if p := v.State.Pod(pod.Namespace, pod.Name); p != nil {
				pod.UID = p.UID
			}
		}
	}
	t.unasked, err = l.unasked(ctx, t.cluster, pod, t.node)
	return err
}

// writeResult is for how long the result of a bind may wait to be recorded.
const writeResult = 5 * time.Second

// holdBind is for how long a refusal to bind may be held: the rest of the
// extender's deadline is for the bind itself. A refusal is an error that is tried
// again, so that it strands nobody.
const holdBind = time.Second

// beginHeld begins a bind. What refuses it may be over already, so that it is
// judged again while the state may be behind.
func (l *Log) beginHeld(ctx context.Context, t *attempt) error {
	var refused *BindError
	try := func(final bool) (bool, error) {
		refused = nil
		err := l.begin(ctx, t, final)
		if err == nil && t.refusal != "" {
			err = &BindError{t.refusal}
		}
		return errors.As(err, &refused) && !t.firm, err
	}
	if l.o.Hold == nil {
		_, err := try(true)
		return err
	}
	limited, cancel := context.WithTimeout(ctx, holdBind)
	defer cancel()
	err := l.o.Hold(limited, t.cluster, func() *corev1.Pod { return nil }, func(final bool) (bool, error) {
		refuses, err := try(final)
		if refuses && !final {
			err = nil
		}
		return refuses, err
	})
	if err != nil && refused != nil {
		return refused // in words, whether or not the state was shown to be new enough
	}
	return err
}

// begin judges a bind on the newest revision, under the writer's lock, and puts
// the pod on its node. A refusal that is not final is not recorded.
func (l *Log) begin(ctx context.Context, t *attempt, final bool) error {
	var gone []Gone
	if l.o.BindProfiles != nil {
		gone = l.victimsOf(ctx, t.cluster, t.pod.Namespace, t.pod.Name, t.pod.UID, t.node)
	}
	var profile *store.Profile
	v, _, err := l.m.Update(ctx, t.cluster, 0, func(v *cluster.View) (*cluster.Step, error) {
		began := time.Now()
		t.id, t.refusal, t.already, profile = "", "", false, nil
		refusal, already := judgeBind(v, t.pod.Namespace, t.pod.Name, t.pod.UID, t.node)
		if refusal != "" {
			return nil, &BindError{refusal}
		}
		p := v.State.Pod(t.pod.Namespace, t.pod.Name)
		t.pod.UID, t.priority = p.UID, p.Priority
		if already {
			t.already, t.revision = true, v.Revision
			return nil, nil
		}
		if l.guarded(t.cluster) {
			refusal, err := l.foreign(v, t.pod.Namespace, t.pod.Name)
			if err != nil {
				return nil, err
			}
			if refusal = cmp.Or(refusal, t.unasked); refusal != "" {
				t.firm = true
				return nil, &BindError{refusal}
			}
		}
		step, err := l.attempt(ctx, v, t, gone, began)
		if err != nil {
			return nil, err
		}
		if t.refusal != "" && !final {
			return nil, nil
		}
		t.id, profile = step.Decision.ID, step.Profile
		return step, nil
	})
	switch {
	case errors.Is(err, store.ErrConflict):
		return &BindError{fmt.Sprintf("the cluster changed while pod %s/%s was bound to node %s, and nothing was written: ask again", t.pod.Namespace, t.pod.Name, t.node)}
	case errors.Is(err, store.ErrNotFound):
		return &BindError{fmt.Sprintf("cluster %s has not been read yet", t.cluster)}
	case err != nil:
		return err
	}
	l.noteStored(profile)
	t.revision = v.Revision
	return nil
}

// attempt makes the record of a bind, after the rules were asked once more where
// that is wanted: between /filter and /bind others were bound.
func (l *Log) attempt(ctx context.Context, v *cluster.View, t *attempt, gone []Gone, began time.Time) (*cluster.Step, error) {
	if l.o.BindProfiles == nil {
		step, err := l.bindStep(v, t.pod.Namespace, t.pod.Name, t.node, began, false)
		if err == nil {
			t.free = step.Bind.Pod
		}
		return step, err
	}
	k := podKey(t.pod.Namespace, t.pod.Name)
	q, err := Question{
		Verb: VerbBind, Cluster: v.Cluster, Revision: v.Revision, PodRef: &k, NodeNames: []string{t.node}, NoPreemption: true,
		Profiles: l.o.BindProfiles, Gone: gone,
	}.normal(l.o.Clock)
	if err != nil {
		return nil, err
	}
	c, err := l.prepare(v, q, l.overlays.get)
	if err != nil {
		return nil, err
	}
	r, err := c.decide(ctx)
	if err != nil {
		return nil, err
	}
	defer r.Release()
	d, err := l.record(c, r, began)
	if err != nil {
		return nil, err
	}
	step := &cluster.Step{Decision: d, Profile: l.unstored(c.profile)}
	if r.Feasible.Count() == 0 {
		t.refusal = refused(t, v, r)
		return step, nil
	}
	pod, err := v.Pod(t.pod.Namespace, t.pod.Name)
	if err != nil {
		return nil, err
	}
	t.free = pod
	step.Bind = &cluster.Bind{Pod: pod, Node: t.node}
	return step, nil
}

// refused says which rules stand against a bind.
func refused(t *attempt, v *cluster.View, r *engine.Result) string {
	var why []string
	for _, f := range r.Failures() {
		why = append(why, f.Plugin+": "+f.Reason)
	}
	if why == nil {
		why = append(why, r.Message())
	}
	return fmt.Sprintf("pod %s/%s may not be bound to node %s any more, as of %s: %s", t.pod.Namespace, t.pod.Name, t.node, v.ID(), strings.Join(why, ", "))
}

// end records what became of a bind. A pod that was refused is pending again, one
// that is bound is on its node though the bind was doubted meanwhile, unless
// something newer is known of it.
func (l *Log) end(ctx context.Context, t *attempt, res *bindResult, began time.Time) error {
	_, _, err := l.m.Update(ctx, t.cluster, 0, func(v *cluster.View) (*cluster.Step, error) {
		d, err := l.resultRecord(v.Revision, v.Digest, t, res, began)
		if err != nil {
			return nil, err
		}
		step := &cluster.Step{Decision: d}
		p := v.State.Pod(t.pod.Namespace, t.pod.Name)
		if p == nil || p.UID != t.pod.UID {
			return step, nil
		}
		held, err := v.Pod(t.pod.Namespace, t.pod.Name)
		if err != nil {
			return nil, err
		}
		pod := *withKind(held)
		switch {
		case res.Outcome == engine.UnschedulableOK && p.NodeName == t.node:
			pod = *t.undone(&pod)
		case res.Outcome == engine.Scheduled && p.NodeName == "":
			pod = *v.Assumed(&pod, t.node)
		default:
			return step, nil
		}
		o, err := objects.Of(&pod)
		if err != nil {
			return nil, fmt.Errorf("the bind of pod %s/%s: %w", pod.Namespace, pod.Name, err)
		}
		step.Apply = []objects.Object{o}
		return step, nil
	})
	if err == nil {
		return nil
	}
	// Without the database no revision can be made, and a record can all the same:
	// whoever follows the cluster finds out where the pod is.
	v, verr := l.m.View(ctx, t.cluster, 0)
	if verr != nil {
		return err
	}
	d, rerr := l.resultRecord(v.Revision, v.Digest, t, res, began)
	if rerr != nil {
		return err
	}
	return l.m.Record(ctx, d, nil)
}

func (l *Log) resultRecord(revision int64, snapshot string, t *attempt, res *bindResult, began time.Time) (*store.Decision, error) {
	id, err := uuid.NewV7()
	if err != nil {
		return nil, fmt.Errorf("make an id: %w", err)
	}
	now, ans := l.now(), res.answer(t.priority)
	d := &store.Decision{
		ID: id.String(), Cluster: t.cluster, Revision: revision, Verb: VerbBindResult, CreatedAt: now, Now: now,
		Namespace: t.pod.Namespace, Pod: t.pod.Name, PodUID: t.pod.UID, Engine: engine.Version, Semantics: engine.Semantics,
		SnapshotDigest: snapshot, Outcome: string(ans.Outcome), Node: ans.Node, Message: ans.Message, Priority: t.priority, AnswerDigest: ans.Digest,
		StaleMillis: l.stale(t.cluster), DurationMicros: time.Since(began).Microseconds(),
	}
	in := input{Version: inputVersion, Result: res}
	d.Input, err = in.encode()
	return d, err
}
