package record

import (
	"context"
	"time"

	"berth/internal/decision"
	"berth/internal/revision"
	"berth/internal/span"
	"berth/internal/store"
)

// Entry is an outcome with its record, which is not written yet. It is to be released, which Write
// does.
type Entry struct {
	*decision.Outcome
	Record  *store.Decision
	Profile *store.Profile // to be written with it; nil where the store has it
}

// NewEntry evaluates a normalized question on a view and makes its record.
func (l *Log) NewEntry(ctx context.Context, v *revision.View, q decision.Question) (entry *Entry, err error) {
	ctx, part := span.Start(ctx, span.Evaluate)
	defer func() { part.End(err) }()
	began := time.Now()
	if q.Nominated != "" && q.Pod != nil {
		q.Excluded = l.Agreed(ctx, q.Cluster, decision.PodRef{Namespace: q.Pod.Namespace, Name: q.Pod.Name, UID: string(q.Pod.UID)}, q.Nominated)
	}
	if q.Pod != nil && (q.Verb == decision.VerbPrioritize || q.Verb == decision.VerbPreempt) {
		l.RecallAttempt(ctx, q.Cluster, q.Mode, decision.PodRef{Namespace: q.Pod.Namespace, Name: q.Pod.Name, UID: string(q.Pod.UID)})
	}
	p, err := l.scheduler.Prepare(ctx, v, q)
	if err != nil {
		return nil, err
	}
	o, err := p.Decide(ctx, p.Engine())
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
	if q.DryRun {
		return l.dryRun(ctx, q)
	}
	e, err := l.Evaluate(ctx, q)
	if err != nil {
		return nil, err
	}
	ans, err := e.Answer(ctx, e.Explain)
	if err == nil {
		err = Prepare(ctx, ans, e.Record)
	}
	if err != nil {
		e.Release()
		return nil, err
	}
	spooled, err := l.Write(ctx, e)
	if err != nil {
		return nil, err
	}
	Stamp(ans, e.Record, spooled)
	return ans, nil
}

// dryRun answers a question without a record.
func (l *Log) dryRun(ctx context.Context, q decision.Question) (*decision.Answer, error) {
	q, err := l.Normalize(q)
	if err != nil {
		return nil, err
	}
	v, err := l.m.View(ctx, q.Cluster, q.Revision)
	for err == nil {
		began := time.Now()
		evaluating, part := span.Start(ctx, span.Evaluate)
		ans, failed := l.scheduler.DryRun(evaluating, v, q)
		part.End(failed)
		if failed == nil {
			ans.CreatedAt, ans.DurationMicros = l.now(), time.Since(began).Microseconds()
			return ans, nil
		}
		v, err = l.m.NextTry(ctx, v, q.Revision, failed)
	}
	return nil, err
}

// Evaluate decides a question whose answer is recorded and binds nothing. The answer must not be
// sent before Write has returned.
func (l *Log) Evaluate(ctx context.Context, q decision.Question) (*Entry, error) {
	q, err := l.Normalize(q)
	if err != nil {
		return nil, err
	}
	if q.Bind || q.DryRun {
		return nil, decision.Errorf(decision.Malformed, "bind", "a question that is recorded neither binds nor runs dry")
	}
	v, err := l.m.View(ctx, q.Cluster, q.Revision)
	for err == nil {
		e, failed := l.NewEntry(ctx, v, q)
		if failed == nil {
			return e, nil
		}
		v, err = l.m.NextTry(ctx, v, q.Revision, failed)
	}
	return nil, err
}

// Write releases an entry that binds nothing and returns when its record is durable.
func (l *Log) Write(ctx context.Context, e *Entry) (spooled bool, err error) {
	passed, nominee := l.passageOf(e.Outcome), nomineeAlone(e.Outcome)
	e.Release()               // before the write: others use the memory while this waits
	decision.ReleaseSlot(ctx) // others decide while the record is written: their records share the commit
	if spooled, err = l.m.RecordEntry(ctx, e.Record, e.Profile); err != nil {
		return false, err
	}
	l.Written(e.Record, e.Profile)
	if nominee {
		l.attempts.retries(e.Record)
	}
	if e.Verb == decision.VerbPreempt && e.Mode == "" {
		l.agreed.note(podUID{e.Cluster, e.Record.PodUID}, agreement{e.Record.ID, e.Record.Victims})
	}
	if passed.feasible != nil {
		l.passed.note(podUID{e.Cluster, e.Record.PodUID}, passed)
	}
	return spooled, nil
}

// Written remembers that a record is in the store, and its profile with it; nil is none.
func (l *Log) Written(d *store.Decision, p *store.Profile) {
	l.profiles.noteStored(p)
	l.attempts.note(d)
	l.judged.note(d)
}
