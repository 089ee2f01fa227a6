package record

import (
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"berth/internal/decision"
	"berth/internal/engine"
	"berth/internal/engine/explain"
	"berth/internal/engine/explain/digest"
	"berth/internal/revision"
	"berth/internal/semantics"
	"berth/internal/store"
)

// Kind is what a record is of, and what a replay needs of it beside the record's columns: an
// *Evaluated question, a *LedgerBind, which calls no plugin, or the *BindResult of an apiserver.
type Kind interface {
	// input returns the kind as it is stored.
	input() *input
	replayer
}

// LedgerBind is a bind in a ledger. Effects is the digest of what was written beside the pod; empty
// where that is nothing, and in records of a time when it was never anything.
type LedgerBind struct{ Node, Effects string }

// BindResult is the result of a bind through an apiserver.
type BindResult struct {
	// Attempt is the record of the bind; empty where the pod was on the node
	// before, and no bind was recorded.
	Attempt string         `json:"attempt,omitempty"`
	Node    string         `json:"node"`
	Outcome engine.Outcome `json:"outcome"`
	Message string         `json:"message,omitempty"`
}

// OutcomeUnknown is of a bind whose answer never came.
const OutcomeUnknown engine.Outcome = "Unknown"

// header returns the columns that records of every kind have. The release is that of the profile
// that decided, or of those of the cluster where none did.
func (l *Log) header(v *revision.View, verb string, pod decision.PodRef, under *semantics.Release) (*store.Decision, error) {
	id, err := uuid.NewV7()
	if err != nil {
		return nil, fmt.Errorf("make an id: %w", err)
	}
	now := l.now()
	d := &store.Decision{
		ID: id.String(), Cluster: v.Cluster, Revision: v.Revision, Verb: verb, CreatedAt: now, Now: now,
		Namespace: pod.Namespace, Pod: pod.Name, PodUID: pod.UID, Engine: engine.Version, Semantics: under.Stamp(),
		SnapshotDigest: v.Digest, Purpose: decision.PurposeLive, Attempt: id.String(),
	}
	if l.o.Stale != nil {
		if stale, ok := l.o.Stale(v.Cluster); ok {
			ms := stale.Milliseconds()
			d.StaleMillis = &ms
		}
	}
	return d, nil
}

// finish adds to a record the input of its kind and its duration.
func finish(d *store.Decision, kind Kind, began time.Time) (err error) {
	if d.Input, err = kind.input().encode(); err != nil {
		return err
	}
	d.DurationMicros = time.Since(began).Microseconds()
	return nil
}

// maxNamed is up to how many nodes that failed for one reason a record names for SQL; the rest is
// in the recomputed answer.
const maxNamed = 8

// evaluated makes the record of an outcome: columns for SQL, the input for a replay,
// and the digest of the whole answer.
func (l *Log) evaluated(o *decision.Outcome, began time.Time) (*store.Decision, error) {
	d, err := l.columns(o)
	if err != nil {
		return nil, err
	}
	return d, finish(d, newEvaluated(o), began)
}

// columns makes the record of an outcome, but for the input.
func (l *Log) columns(o *decision.Outcome) (*store.Decision, error) {
	d, err := l.header(o.View, o.Verb, decision.PodRef{Namespace: o.Pod.Namespace, Name: o.Pod.Name, UID: string(o.Pod.UID)}, o.Profile.Semantics)
	if err != nil {
		return nil, err
	}
	r := o.Result
	d.Now, d.Profile, d.ProfileDigest, d.PodDigest = o.Now, o.Profile.Name, o.Profile.Digest, o.PodDigest()
	d.Outcome, d.Message, d.Priority = string(r.Outcome), explain.Message(r), *o.Pod.Spec.Priority
	d.NodesTotal, d.NodesFeasible, d.AnswerDigest = r.Considered(), r.Feasible.Count(), digest.Of(r)
	if r.Outcome == engine.Scheduled {
		d.Node = r.Node()
	}
	if !o.Clocked {
		d.AskedAsOf = o.Now
	}
	if r.Outcome == engine.UnschedulableOK || r.Outcome == engine.Preempting {
		d.RejectedBy = strings.Join(r.Rejectors(), ",")
	}
	d.Mode, d.Purpose, d.NominatedNode, d.Victims = o.Mode, o.Purpose(), r.NominatedNode(), victims(o.View, r)
	d.Attempt = l.attempts.of(d)
	d.Facts, d.Blockers = l.facts(o.View, o.Pod, d), blockers(r)
	l.list(d, r)
	return d, nil
}

// recordLooks is of how many rejected nodes a record finds those nearest to taking the pod: each
// costs about a microsecond, and a pod that fits nowhere is tried again and again.
const recordLooks = 24

// blockers names what is in the way of a decision that places nothing.
func blockers(r *engine.Result) string {
	list, more := explain.Blockers(r, recordLooks)
	named := make([]store.Blocker, len(list))
	for i := range list {
		b := &list[i]
		named[i] = store.Blocker{Plugin: b.Rule, Kind: b.Kind, Namespace: b.Namespace, Name: b.Name}
		named[i].OwnerKind, named[i].OwnerName, _ = strings.Cut(b.Owner, "/")
	}
	return store.EncodeBlockers(named, more)
}

// list adds the failures and the best scores of an answer.
func (l *Log) list(d *store.Decision, r *engine.Result) {
	rows, judged := explain.RejectedRows(r)
	for i, f := range explain.Failures(r) {
		kept := store.Failure{Plugin: f.Plugin, Code: f.Code, Reason: f.Reason, Nodes: f.Nodes, Pools: l.pools(r.Nodes(), rows[i])}
		if judged && f.Nodes <= maxNamed {
			for row := range r.Nodes().ByName(rows[i]) {
				kept.Names = append(kept.Names, r.Nodes().Node(row).Name)
			}
		}
		d.Failures = append(d.Failures, kept)
	}
	if !r.Scored {
		return
	}
	for i, v := range explain.TopScores(r, l.o.TopScores) {
		plugins := make(store.PluginScores, len(v.Scores))
		for j, p := range v.Scores {
			plugins[j] = store.PluginScore{Plugin: p.Plugin, Raw: p.Raw, Normalized: p.Normalized, Weight: p.Weight, Weighted: p.Weighted}
		}
		d.Scores = append(d.Scores, store.Score{Rank: i + 1, Node: v.Name, Total: *v.Score, Plugins: plugins})
	}
}

// NewLedgerBind returns the write of a bind without an evaluation, with its record. A ledger's bind
// has the effects that the pod's claims get on the node, under the profile that the pod names;
// where an apiserver keeps the cluster, its scheduler has written them before it binds.
func (l *Log) NewLedgerBind(v *revision.View, namespace, name, node string, effects bool, began time.Time) (*revision.Step, error) {
	pod, err := v.Pod(namespace, name)
	if err != nil {
		return nil, err
	}
	ref := decision.PodRef{Namespace: namespace, Name: name, UID: string(pod.UID)}
	d, err := l.header(v, decision.VerbBind, ref, l.Configured().Release(v.Cluster))
	if err != nil {
		return nil, err
	}
	js, _ := v.Object(podKey(namespace, name))
	d.PodDigest, d.Attempt = decision.DigestOf(js), l.attempts.of(d)
	ans := decision.LedgerBind(v, ref, node)
	d.Outcome, d.Node, d.AnswerDigest = string(ans.Outcome), ans.Node, ans.Digest
	if pod.Spec.Priority != nil {
		d.Priority = *pod.Spec.Priority
	}
	d.Facts = l.facts(v, pod, d)
	step := &revision.Step{Bind: &revision.Bind{Pod: pod, Node: node}, Decision: d}
	kind := &LedgerBind{Node: node}
	if effects {
		p, err := decision.ChooseProfile(l.Configured().Of(v.Cluster), "", pod.Spec.SchedulerName)
		if err != nil {
			return nil, err
		}
		e, err := decision.BindEffects(v, pod, p, node, d.Now)
		if err != nil {
			return nil, err
		}
		if e.Digest != "" {
			kind.Effects = e.Digest
			d.Profile, d.ProfileDigest, step.Profile = p.Name, p.Digest, l.profiles.unstored(p)
			step.Bind.Pod, step.Apply = e.Pod(pod), e.Objects
		}
	}
	return step, finish(d, kind, began)
}

// NewBindResult makes the record of a bind's result, which is of the attempt that the bind is of;
// empty: no bind was recorded.
func (l *Log) NewBindResult(v *revision.View, pod decision.PodRef, attempt string, priority int32, res *BindResult, began time.Time) (*store.Decision, error) {
	d, err := l.header(v, decision.VerbBindResult, pod, l.Configured().Release(v.Cluster))
	if err != nil {
		return nil, err
	}
	if d.Attempt = attempt; attempt == "" {
		d.Attempt = l.attempts.of(d)
	}
	ans := res.answer(priority)
	d.Outcome, d.Node, d.Message, d.Priority, d.AnswerDigest = string(ans.Outcome), ans.Node, ans.Message, priority, ans.Digest
	return d, finish(d, res, began)
}
