package decisionlog

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/cluster"
	"berth/internal/engine"
	"berth/internal/store"
)

// Overrides replace parts of a recorded question.
type Overrides struct {
	Snapshot string            // an id, such as prod@latest
	Profile  string            // a profile's name, of Profiles or the server's
	Profiles []*engine.Profile // another configuration
	Pod      *corev1.Pod
}

func (o *Overrides) none() bool {
	return o.Snapshot == "" && o.Profile == "" && len(o.Profiles) == 0 && o.Pod == nil
}

// Replay is a recorded question answered once more.
type Replay struct {
	// Identical says that the answer is the recorded one: without overrides to
	// the last score of the last node, with them in everything that is compared.
	Identical bool `json:"identical"`
	// Differences are by path in the two answers; identities, times and durations
	// are left out.
	Differences        []Difference `json:"differences"`
	DifferencesOmitted int          `json:"differencesOmitted,omitempty"`
	Decision           *Answer      `json:"decision"`
	Note               string       `json:"note,omitempty"`
} // @name Replay

// Replay answers a recorded question again. Without overrides everything is as
// recorded, and the answer must be identical; a record of an engine or of
// semantics that this version does not know is replayed all the same, and the
// note says so. Nothing is recorded.
func (l *Log) Replay(ctx context.Context, id string, o Overrides) (*Replay, error) {
	d, err := l.st.Decision(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("decision %s: %w", id, err)
	}
	rec, err := l.recall(ctx, d)
	if err != nil {
		return nil, err
	}
	return l.differ(ctx, rec, o)
}

// differ answers a record again, under overrides or none, and compares.
func (l *Log) differ(ctx context.Context, rec *recalled, o Overrides) (*Replay, error) {
	d := rec.d
	base, err := l.again(ctx, rec, engine.ExplainFull)
	if err != nil {
		return nil, err
	}
	out := &Replay{Note: unknownStamp(d)}
	agrees := base.Digest == d.AnswerDigest
	if !agrees && out.Note == "" {
		out.Note = fmt.Sprintf("recorded by engine %s (%s); engine %s (%s) answers otherwise", d.Engine, d.Semantics, engine.Version, engine.Semantics)
	}
	if o.none() {
		out.Identical = agrees
		al, err := l.alongAgain(ctx, rec)
		if err != nil {
			return nil, fmt.Errorf("decision %s: %w", d.ID, err)
		}
		if al != nil && al.digest != rec.in.Along {
			out.Identical = false
			out.Differences = append(out.Differences, Difference{Path: "boundAlong", Recorded: rec.in.Along, Replayed: al.digest})
		}
		if out.Decision, err = l.again(ctx, rec, ""); err != nil {
			return nil, err
		}
		if !agrees {
			was := fromColumns(d)
			if err := out.compare(&was, columnsOf(base), true); err != nil {
				return nil, err
			}
		}
		stamp(out.Decision, d)
		return out, nil
	}
	full, shown, err := l.under(ctx, rec, o)
	if err != nil {
		return nil, err
	}
	if agrees {
		err = out.compare(base, full, false)
	} else { // the recorded answer itself is known by its columns only
		was := fromColumns(d)
		err = out.compare(&was, columnsOf(full), false)
	}
	if err != nil {
		return nil, err
	}
	out.Identical = len(out.Differences) == 0
	out.Decision = shown
	stamp(shown, d)
	return out, nil
}

// stamp marks an answer as one to a recorded question, asked when that was.
func stamp(a *Answer, d *store.Decision) { a.ID, a.CreatedAt = d.ID, d.CreatedAt.UTC() }

// columnsOf leaves of an answer what a record keeps in columns.
func columnsOf(a *Answer) *Answer {
	out := *a
	out.Suggestions = nil
	out.Decision = engine.Decision{
		Outcome: a.Outcome, Node: a.Node, NominatedNode: a.NominatedNode, Message: a.Message, Priority: a.Priority,
		Counts: a.Counts, Failures: a.Failures, Digest: a.Digest,
	}
	return &out
}

// under answers the recorded question with parts replaced: in full, and as it
// is shown.
func (l *Log) under(ctx context.Context, rec *recalled, o Overrides) (full, shown *Answer, err error) {
	view := rec.view
	if o.Snapshot != "" {
		name, revision, err := cluster.ParseID(o.Snapshot)
		if err != nil {
			return nil, nil, bad(http.StatusBadRequest, "snapshot", "%v", err)
		}
		if view, err = l.m.View(ctx, name, revision); err != nil {
			return nil, nil, err
		}
	}
	if rec.in.asksNothing() {
		if o.Profile != "" || len(o.Profiles) > 0 || o.Pod != nil {
			return nil, nil, bad(http.StatusUnprocessableEntity, "pod", "%v", errNoOverride)
		}
		ans := Answer{Decision: rec.in.unasked(view, rec.d)}
		describe(rec.d, &ans)
		ans.Cluster, ans.Snapshot, ans.SnapshotDigest, ans.BoundSnapshot = view.Cluster, view.ID(), view.Digest, ""
		return &ans, &ans, nil
	}
	pod := rec.pod
	if o.Pod != nil {
		pod = o.Pod
	}
	q, err := rec.in.question(view, pod)
	if err != nil {
		return nil, nil, fmt.Errorf("decision %s: %w", rec.d.ID, err)
	}
	// What is recorded decides nothing here: a pod bound since is taken out.
	q.Verb, q.Now, q.DryRun = rec.d.Verb, rec.d.Now.UTC(), true
	q.Profiles, q.Profile = []*engine.Profile{rec.profile}, rec.profile.Name
	if o.Pod == nil { // another pod may name a class that the record knows nothing of
		q.classes = rec.in.recorded()
	}
	if o.Profile != "" || len(o.Profiles) > 0 {
		q.Profiles, q.Profile = o.Profiles, o.Profile
	}
	c, err := l.prepare(view, q, afresh)
	if err != nil {
		return nil, nil, err
	}
	c.steps = 0
	c.boundTo = "" // the record asked where the pod goes, not where it would go today
	if c.names, err = rec.candidatesFor(c); err != nil {
		return nil, nil, err
	}
	r, err := c.decide(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer r.Release()
	f, err := c.answer(ctx, r, engine.ExplainFull)
	if err != nil {
		return nil, nil, err
	}
	s, err := c.answer(ctx, r, q.Explain)
	return &f, &s, err
}

// candidatesFor carries the recorded candidates over to another state: all stay
// all, all but some stay all but those, and names stay names.
func (rec *recalled) candidatesFor(c *matter) ([]string, error) {
	only := rec.in.Only
	switch {
	case only == nil:
		return nil, nil
	case len(only.Without) > 0:
		return only.names(c.state.Nodes())
	}
	return slices.Clone(rec.names), nil
}
