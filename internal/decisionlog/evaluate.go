package decisionlog

import (
	"context"
	"errors"
	"time"

	"berth/internal/cluster"
	"berth/internal/decision"
	"berth/internal/engine"
	"berth/internal/slot"
	"berth/internal/span"
	"berth/internal/store"
)

// Entry is an outcome with its record, which is not written yet. It is to be released.
type Entry struct {
	*decision.Outcome
	Record  *store.Decision
	Profile *store.Profile // to be written with it; nil where the store has it
}

// NewEntry evaluates a normalized question on a view and makes its record.
func (l *Log) NewEntry(ctx context.Context, v *cluster.View, q decision.Question) (entry *Entry, err error) {
	ctx, part := span.Start(ctx, span.Evaluate)
	defer func() { part.End(err) }()
	began := time.Now()
	if q.Nominated != "" && q.Pod != nil {
		q.Excluded = l.Agreed(ctx, q.Cluster, decision.PodRef{Namespace: q.Pod.Namespace, Name: q.Pod.Name, UID: string(q.Pod.UID)}, q.Nominated)
	}
	p, err := l.scheduler.Prepare(ctx, v, q)
	if err != nil {
		return nil, err
	}
	o, err := p.Decide(ctx)
	if err != nil {
		return nil, err
	}
	d, err := l.evaluated(o, began)
	if err != nil {
		o.Release()
		return nil, err
	}
	return &Entry{o, d, l.profiles.unstored(p.Profile)}, nil
}

// Decide answers a question in full and returns when the answer's record is durable. Binder.Decide
// takes those that bind.
func (l *Log) Decide(ctx context.Context, q decision.Question) (*decision.Answer, error) {
	q, err := l.Normalize(q)
	if err != nil {
		return nil, err
	}
	if q.DryRun {
		var ans *decision.Answer
		var began time.Time
		err := l.m.OnNewest(ctx, q.Cluster, q.Revision, missing, func(v *cluster.View) (err error) {
			began = time.Now()
			ans, err = span.In(ctx, span.Evaluate, func(ctx context.Context) (*decision.Answer, error) { return l.scheduler.DryRun(ctx, v, q) })
			return err
		})
		if err != nil {
			return nil, err
		}
		ans.CreatedAt, ans.DurationMicros = l.now(), time.Since(began).Microseconds()
		return ans, nil
	}
	var ans *decision.Answer
	d, spooled, err := l.evaluate(ctx, q, func(o *decision.Outcome) (err error) {
		ans, err = o.Answer(ctx, q.Explain)
		return err
	})
	if err != nil {
		return nil, err
	}
	Stamp(ans, d, spooled)
	return ans, nil
}

// missing reports whether a question is about something that its revision does not have.
func missing(err error) bool { return errors.Is(err, store.ErrNotFound) }

// Evaluate decides, calls use with the result, which writes the reply, and returns when the record
// is durable. The reply must not be sent before.
func (l *Log) Evaluate(ctx context.Context, q decision.Question, use func(*cluster.View, *engine.Result) error) (id string, err error) {
	if q, err = l.Normalize(q); err != nil {
		return "", err
	}
	d, _, err := l.evaluate(ctx, q, func(o *decision.Outcome) error { return use(o.View, o.Result) })
	if d != nil {
		id = d.ID
	}
	return id, err
}

// evaluate is the way of every question whose answer is recorded and binds nothing. The record is
// returned with the error of writing it, too.
func (l *Log) evaluate(ctx context.Context, q decision.Question, use func(*decision.Outcome) error) (d *store.Decision, spooled bool, err error) {
	if q.Bind || q.DryRun {
		return nil, false, decision.Errorf(decision.Malformed, "bind", "a question that is recorded neither binds nor runs dry")
	}
	var e *Entry
	err = l.m.OnNewest(ctx, q.Cluster, q.Revision, missing, func(v *cluster.View) (err error) {
		e, err = l.NewEntry(ctx, v, q)
		return err
	})
	if err != nil {
		return nil, false, err
	}
	err = use(e.Outcome)
	passed := l.passageOf(e.Outcome)
	e.Release() // before the write: others use the memory while this waits
	if err != nil {
		return nil, false, err
	}
	slot.Release(ctx) // others decide while the record is written: their records share the commit
	if spooled, err = l.m.RecordEntry(ctx, e.Record, e.Profile); err != nil {
		return e.Record, false, err
	}
	l.Written(e.Profile)
	if q.Verb == decision.VerbPreempt && q.Mode == "" {
		l.agreed.note(podUID{q.Cluster, e.Record.PodUID}, agreement{e.Record.ID, e.Record.Victims})
	}
	if passed.feasible != nil {
		l.passed.note(podUID{q.Cluster, e.Record.PodUID}, passed)
	}
	return e.Record, spooled, nil
}

// Written remembers that a record's profile is in the store; nil is none.
func (l *Log) Written(p *store.Profile) { l.profiles.noteStored(p) }
