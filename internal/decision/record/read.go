package record

import (
	"context"
	"fmt"
	"strings"

	"berth/internal/decision"
	"berth/internal/engine"
	"berth/internal/engine/explain/digest"
	"berth/internal/kube/object"
	"berth/internal/memory"
	"berth/internal/revision"
	"berth/internal/semantics"
	"berth/internal/store"
)

// record is a stored decision with what it is of.
type record struct {
	*store.Decision
	kind Kind
	view *revision.View
}

func (r *record) pod() decision.PodRef { return podOf(r.Decision) }

// replayer answers a record again.
type replayer interface {
	// read reads what the record refers to.
	read(ctx context.Context, l *Log, rec *record) error
	// replay works the answer out on a view, under overrides. It is to be released.
	replay(ctx context.Context, l *Log, rec *record, v *revision.View, o *Overrides, decide decision.Engine) (*replayed, error)
	// recordedEffects is the digest of what a bind wrote beside its pod; empty where that is
	// nothing.
	recordedEffects() string
	// effects works them out again.
	effects(ctx context.Context, l *Log, rec *record, r *replayed) (*decision.Effects, error)
}

// replayed is a record's answer worked out again.
type replayed struct {
	*decision.Outcome                  // nil where the engine was not called
	fixed             *engine.Decision // the answer then; nil where it was
	form              digest.Form      // of the record
	digest            string
}

func (r *replayed) release() {
	if r.Outcome != nil {
		r.Release()
	}
}

// answer writes the answer out; the level is the recorded one if empty.
func (r *replayed) answer(ctx context.Context, rec *record, level engine.Explain) (*decision.Answer, error) {
	if r.Outcome == nil {
		ans := &decision.Answer{Decision: *r.fixed}
		Stamp(ans, rec.Decision, false)
		return ans, nil
	}
	if level == "" {
		level = r.Explain
	}
	return r.Answer(ctx, level)
}

// read reads a record and what it refers to. Errors name the decision.
func (l *Log) read(ctx context.Context, d *store.Decision) (rec *record, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("decision %s: %w", d.ID, err)
		}
	}()
	rec = &record{Decision: d}
	js, err := InputText(d.Input)
	if err != nil {
		return nil, fmt.Errorf("input: %w", err)
	}
	if err := memory.Take(ctx, object.Weight(js)); err != nil {
		return nil, err
	}
	if rec.kind, err = decodeInput(js); err != nil {
		return nil, err
	}
	if rec.view, err = l.m.View(ctx, d.Cluster, d.Revision); err != nil {
		return nil, err
	}
	if err := rec.checkView(); err != nil {
		return nil, err
	}
	if _, err := l.stand(ctx, rec, nil); err != nil {
		return nil, err
	}
	return rec, rec.kind.read(ctx, l, rec)
}

// checkView compares the view with the record's digest of it.
func (r *record) checkView() error {
	if r.view.Digest != r.SnapshotDigest {
		return fmt.Errorf("%s has digest %s, the record says %s: %w", r.view.ID(), r.view.Digest, r.SnapshotDigest, revision.ErrCorrupt)
	}
	return nil
}

// replay answers a record as it was. Errors name the decision.
func (l *Log) replay(ctx context.Context, rec *record) (*replayed, error) {
	r, err := rec.kind.replay(ctx, l, rec, rec.view, &Overrides{}, engine.Decide)
	if err != nil {
		return nil, fmt.Errorf("decision %s: %w", rec.ID, err)
	}
	return r, nil
}

// effects works out once more what a recorded bind wrote beside its pod, and reports whether it is
// the same; nil where that is nothing.
func (l *Log) effects(ctx context.Context, rec *record, r *replayed) (e *decision.Effects, same bool, err error) {
	digest := rec.kind.recordedEffects()
	if digest == "" {
		return nil, true, nil
	}
	if e, err = rec.kind.effects(ctx, l, rec, r); err != nil {
		return nil, false, fmt.Errorf("decision %s: %w", rec.ID, err)
	}
	return e, e.Digest == digest, nil
}

// Get returns a decision worked out again from its record, and whether the digest of the whole
// answer is still the recorded one.
func (l *Log) Get(ctx context.Context, id string) (*Recorded, error) {
	d, err := l.Record(ctx, id)
	if err != nil {
		return nil, err
	}
	out := &Recorded{Now: d.Now.UTC(), AskedAsOf: asked(d), RecordedDigest: d.AnswerDigest, Attribution: attributionOf(d), AskedBy: d.Asked.By, Peer: d.Asked.Peer, RequestID: d.Asked.RequestID}
	if note := unknownStamp(d); note != "" {
		out.Answer, out.Note = *fromColumns(d), note+"; shown as recorded"
		return out, nil
	}
	rec, err := l.read(ctx, d)
	if err != nil {
		return nil, err
	}
	r, err := l.replay(ctx, rec)
	if err != nil {
		return nil, err
	}
	defer r.release()
	ans, err := r.answer(ctx, rec, "")
	if err != nil {
		return nil, err
	}
	e, same, err := l.effects(ctx, rec, r)
	if err != nil {
		return nil, err
	}
	if e != nil {
		ans.BoundEffects = e.Summary
	}
	Stamp(ans, d, false)
	out.Answer, out.DigestAgrees = *ans, same && r.digest == d.AnswerDigest
	switch {
	case !out.DigestAgrees:
		out.Note = otherEngine(d)
	case r.showsAnother(rec):
		out.Note = "lists and SQL show another outcome, node or pod of this record than its answer has; a replay names the columns, and audit verify what was changed"
	}
	return out, nil
}

// otherEngine notes that this engine's answer differs from the recorded one.
func otherEngine(d *store.Decision) string {
	return fmt.Sprintf("recorded by engine %s (%s); engine %s (%s) answers otherwise", d.Engine, d.Semantics, engine.Version, semantics.OfStamp(d.Semantics).Name)
}

// unknownStamp names the engine and the semantics of a record whose answers this version cannot
// give: an engine whose digests it does not have, or another minor release of Kubernetes; "" for
// those that it can.
func unknownStamp(d *store.Decision) string {
	var what []string
	if _, known := digest.FormOf(d.Engine); !known {
		what = append(what, fmt.Sprintf("engine %s (this is %s)", d.Engine, engine.Version))
	}
	if semantics.OfStamp(d.Semantics) == nil {
		what = append(what, fmt.Sprintf("the semantics of Kubernetes %s (known: %s)", d.Semantics, semantics.Known()))
	}
	if what == nil {
		return ""
	}
	return "recorded with " + strings.Join(what, " and ") + ", which this version does not know"
}

func podKey(ns, name string) object.Key { return object.Key{Kind: "Pod", Namespace: ns, Name: name} }

func podOf(d *store.Decision) decision.PodRef {
	return decision.PodRef{Namespace: d.Namespace, Name: d.Pod, UID: d.PodUID}
}
