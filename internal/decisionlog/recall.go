package decisionlog

import (
	"context"
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/cluster"
	"berth/internal/engine"
	"berth/internal/store"
)

// recalled is a record with what it refers to.
type recalled struct {
	d    *store.Decision
	in   *input
	view *cluster.View
	pod  *corev1.Pod // nil for a bind
	// names are the candidates as they were; nil: all.
	names   []string
	profile *engine.Profile
}

// recall reads a record and what it refers to. Errors name the decision.
func (l *Log) recall(ctx context.Context, d *store.Decision) (rec *recalled, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("decision %s: %w", d.ID, err)
		}
	}()
	rec = &recalled{d: d}
	if rec.in, err = decodeInput(d.Input); err != nil {
		return nil, err
	}
	if rec.view, err = l.m.View(ctx, d.Cluster, d.Revision); err != nil {
		return nil, err
	}
	if rec.view.Digest != d.SnapshotDigest {
		return nil, fmt.Errorf("%s has digest %s, the record says %s: %w", rec.view.ID(), rec.view.Digest, d.SnapshotDigest, cluster.ErrCorrupt)
	}
	if rec.in.asksNothing() {
		return rec, nil
	}
	if rec.pod, err = rec.in.pod(rec.view, d.Namespace, d.Pod); err != nil {
		return nil, err
	}
	rec.profile, err = l.profile(ctx, d.ProfileDigest)
	return rec, err
}

// ask makes the recorded question ready, as it was.
func (l *Log) ask(rec *recalled) (*matter, error) {
	q, err := rec.in.question(rec.view, rec.pod)
	if err != nil {
		return nil, fmt.Errorf("decision %s: %w", rec.d.ID, err)
	}
	q.Verb, q.Now = rec.d.Verb, rec.d.Now.UTC()
	q.classes = rec.in.recorded()
	q.Profiles, q.Profile = []*engine.Profile{rec.profile}, rec.profile.Name
	c, err := l.prepare(rec.view, q, afresh)
	if err != nil {
		return nil, fmt.Errorf("decision %s: %w", rec.d.ID, err)
	}
	c.steps, c.names = 0, nil // it was answered once
	if rec.in.Only != nil {
		if c.names, err = rec.in.Only.names(c.state.Nodes()); err != nil {
			return nil, fmt.Errorf("decision %s: %w", rec.d.ID, err)
		}
	}
	rec.names = c.names
	return c, nil
}

// afresh overlays nodes without the cache, whose few places are for callers
// that ask often.
func afresh(v *cluster.View, nodes []*corev1.Node) (*overlay, error) {
	return makeOverlay(v, nodes, nil)
}

// again works out the recorded answer once more.
func (l *Log) again(ctx context.Context, rec *recalled, level engine.Explain) (*Answer, error) {
	if rec.in.asksNothing() {
		ans := Answer{Decision: rec.in.unasked(rec.view, rec.d)}
		describe(rec.d, &ans)
		return &ans, nil
	}
	c, err := l.ask(rec)
	if err != nil {
		return nil, err
	}
	return c.run(ctx, level)
}

// run decides and writes the answer out.
func (c *matter) run(ctx context.Context, level engine.Explain) (*Answer, error) {
	r, err := c.decide(ctx)
	if err != nil {
		return nil, err
	}
	defer r.Release()
	if level == "" {
		level = c.q.Explain
	}
	ans, err := c.answer(ctx, r, level)
	if err != nil {
		return nil, err
	}
	return &ans, nil
}

// Get gives a decision again from its record, and says whether the digest of
// the whole answer is still the recorded one.
func (l *Log) Get(ctx context.Context, id string) (*Recorded, error) {
	d, err := l.st.Decision(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("decision %s: %w", id, err)
	}
	if note := unknownStamp(d); note != "" {
		return &Recorded{Answer: fromColumns(d), Now: d.Now.UTC(), RecordedDigest: d.AnswerDigest, Note: note + "; shown as recorded"}, nil
	}
	rec, err := l.recall(ctx, d)
	if err != nil {
		return nil, err
	}
	ans, err := l.again(ctx, rec, "")
	if err != nil {
		return nil, err
	}
	out := &Recorded{Answer: *ans, Now: d.Now.UTC(), RecordedDigest: d.AnswerDigest, DigestAgrees: ans.Digest == d.AnswerDigest}
	describe(d, &out.Answer)
	al, err := l.alongAgain(ctx, rec)
	if err != nil {
		return nil, fmt.Errorf("decision %s: %w", id, err)
	}
	if al != nil {
		out.BoundAlong = al.told
		out.DigestAgrees = out.DigestAgrees && al.digest == rec.in.Along
	}
	if !out.DigestAgrees {
		out.Note = fmt.Sprintf("recorded by engine %s (%s); engine %s (%s) answers otherwise", d.Engine, d.Semantics, engine.Version, engine.Semantics)
	}
	return out, nil
}

// unknownStamp says in words that a record is of an engine or of semantics
// whose answers this version cannot stand for: of another line of
// engines, or another minor release of Kubernetes.
func unknownStamp(d *store.Decision) string {
	var what []string
	if line(d.Engine) != line(engine.Version) {
		what = append(what, fmt.Sprintf("engine %s (this is %s)", d.Engine, engine.Version))
	}
	if parts(d.Semantics, 2) != parts(engine.Semantics, 2) {
		what = append(what, fmt.Sprintf("the semantics of Kubernetes %s (this follows %s)", d.Semantics, engine.Semantics))
	}
	if what == nil {
		return ""
	}
	return "recorded with " + strings.Join(what, " and ") + ", which this version does not know"
}

// line is the part of an engine's version within which answers have one form:
// the major version, and before the first one the minor too.
func line(version string) string {
	if major := parts(version, 1); major != "v0" {
		return major
	}
	return parts(version, 2)
}

// parts gives the first n parts of a version.
func parts(version string, n int) string {
	list := strings.SplitN(version, ".", n+1)
	return strings.Join(list[:min(n, len(list))], ".")
}

var errNoOverride = errors.New("a ledger bind has neither profile nor pod to replace")
