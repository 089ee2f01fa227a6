package record

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/decision"
	"berth/internal/engine"
	"berth/internal/engine/explain/digest"
	"berth/internal/engine/state"
	"berth/internal/kube/object"
	"berth/internal/revision"
)

// Evaluated is a question that the engine decided on.
type Evaluated struct {
	// PodJSON is the pod of the question; absent where the snapshot holds it so.
	PodJSON      json.RawMessage   `json:"pod,omitempty"`
	Only         *candidates       `json:"only,omitempty"` // absent: all nodes
	Nodes        []json.RawMessage `json:"nodes,omitempty"`
	Explain      engine.Explain    `json:"explain,omitempty"`
	NoPreemption bool              `json:"noPreemption,omitempty"`
	ScoreAlways  bool              `json:"scoreAlways,omitempty"`
	Suggest      bool              `json:"suggest,omitempty"`
	Fallback     bool              `json:"fallback,omitempty"` // no profile had the pod's schedulerName
	// Victims are those of the question to /preempt; absent otherwise.
	Victims *[]engine.NodeVictims `json:"victims,omitempty"`
	// Class is the stored class that gave the pod its priority.
	Class *decision.StoredClass `json:"class,omitempty"`
	// Excluded are pods that did not count.
	Excluded []decision.Excluded `json:"gone,omitempty"`
	// Placed is the record's place in its placement; absent of others.
	Placed *placed `json:"placement,omitempty"`

	// effectsDigest is of what was written beside the pod; empty where that is nothing, and in
	// records of a time when it was never anything.
	effectsDigest string

	pod     *corev1.Pod        // once it is read
	owned   bool               // by the question at hand, which may write it
	room    *decision.Prepared // for the question; nil: anew
	profile *engine.Profile
	one     [1]*engine.Profile // it alone
	fixed   decision.Recorded  // of the question at hand
	// undigested has replay leave the digest to its caller.
	undigested bool
	names      []string // the candidates on the recorded revision, once they are read; nil: all
}

// newEvaluated returns what a replay needs of an outcome.
func newEvaluated(o *decision.Outcome) *Evaluated {
	e := &Evaluated{
		Explain: o.Explain, NoPreemption: o.NoPreemption, ScoreAlways: o.ScoreAlways, Suggest: o.Suggest, Fallback: o.Fallback != "", Class: o.Class, Excluded: o.Excluded,
	}
	if o.Victims != nil {
		e.Victims = &o.Victims
	}
	if o.Bound != nil {
		e.effectsDigest = o.Bound.Digest
	}
	if e.Explain == engine.ExplainFailures {
		e.Explain = ""
	}
	if !o.InSnapshot {
		e.PodJSON = o.PodJSON
	}
	for _, js := range o.Replaced {
		e.Nodes = append(e.Nodes, js)
	}
	if o.Candidates != nil && o.Result.Considered() < o.State.Nodes().Count() {
		e.Only = pick(o.State.Nodes(), o.Candidates)
	}
	return e
}

// read reads the pod and the profile that the record is about.
func (e *Evaluated) read(ctx context.Context, l *Log, rec *record) (err error) {
	switch {
	case e.pod != nil:
	case e.PodJSON == nil:
		if e.pod, err = rec.view.Pod(rec.Namespace, rec.Pod); err != nil {
			return err
		}
		e.PodJSON, _ = rec.view.Object(podKey(rec.Namespace, rec.Pod))
	default:
		o, err := object.FromCanonical("Pod", e.PodJSON)
		if err != nil {
			return fmt.Errorf("input's pod: %w (%w)", revision.ErrCorrupt, err)
		}
		e.pod = o.Value.(*corev1.Pod)
	}
	e.profile, err = l.profiles.get(ctx, rec.ProfileDigest)
	return err
}

// noClass is for records that rest on no priority class.
var noClass decision.ClassSource = (*decision.StoredClass)(nil).Source

// question returns the recorded question on a view, under overrides.
func (e *Evaluated) question(l *Log, rec *record, v *revision.View, o *Overrides) (q decision.Question, err error) {
	other := o.Profile != "" || len(o.Profiles) > 0
	if e.one[0] = e.profile; o.Release != nil && !other {
		if e.one[0], err = l.profiles.under(e.profile, o.Release); err != nil {
			return q, err
		}
	}
	e.fixed = decision.Recorded{PodJSON: e.PodJSON, Owned: e.owned, Fallback: e.Fallback, Class: noClass}
	if e.Class != nil {
		e.fixed.Class = e.Class.Source
	}
	if e.Only != nil {
		e.fixed.Candidates = e.candidates
	}
	q = decision.Question{
		Cluster: v.Cluster, Revision: v.Revision, Verb: rec.Verb, Now: rec.Now.UTC(), Pod: e.pod, Explain: e.Explain,
		NoPreemption: e.NoPreemption, ScoreAlways: e.ScoreAlways, Suggest: e.Suggest, Excluded: e.Excluded,
		Profiles: e.one[:], Profile: e.profile.Name,
		DryRun:   !o.none(), // nothing is bound: a pod bound since is taken out
		Recorded: &e.fixed,
	}
	if e.Victims != nil {
		q.Victims = *e.Victims
	}
	if q.Explain == "" {
		q.Explain = engine.ExplainFailures
	}
	for i, js := range e.Nodes {
		o, err := object.FromCanonical("Node", js)
		if err != nil {
			return q, fmt.Errorf("input's node %d: %w (%w)", i, revision.ErrCorrupt, err)
		}
		q.Nodes = append(q.Nodes, o.Value.(*corev1.Node))
	}
	if o.Pod != nil { // which may name a class that the record does not have
		q.Pod, q.Recorded = o.Pod, &decision.Recorded{Candidates: e.fixed.Candidates}
	}
	if other {
		q.Profiles, q.Profile, e.fixed.Fallback = o.Profiles, o.Profile, false
	}
	return q, nil
}

// candidates returns the recorded candidates, which are not all, for the nodes of a state: all but
// some stay all but those, and names stay names.
func (e *Evaluated) candidates(nodes *state.NodeSet) (names []string, err error) {
	if e.names != nil && len(e.Only.Without) == 0 { // bits are of the recorded revision's nodes
		return slices.Clone(e.names), nil
	}
	e.names, err = e.Only.names(nodes)
	return e.names, err
}

// replay implements Kind.
func (e *Evaluated) replay(ctx context.Context, l *Log, rec *record, v *revision.View, o *Overrides, decide decision.Engine) (*replayed, error) {
	q, err := e.question(l, rec, v, o)
	if err != nil {
		return nil, err
	}
	p := e.room
	if p == nil {
		p = new(decision.Prepared)
	}
	if err := l.scheduler.PrepareIn(ctx, p, v, q); err != nil {
		return nil, err
	}
	out, err := p.Decide(ctx, decide)
	if err != nil {
		return nil, err
	}
	r := &replayed{Outcome: out}
	r.form, _ = digest.FormOf(rec.Engine)
	if !e.undigested {
		r.digest = r.form.Of(out.Result)
	}
	return r, nil
}

// effects implements Kind.
func (e *Evaluated) effects(_ context.Context, _ *Log, _ *record, r *replayed) (*decision.Effects, error) {
	return r.Effects()
}

func (e *Evaluated) recordedEffects() string { return e.effectsDigest }
