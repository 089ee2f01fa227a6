package record

import (
	"context"
	"errors"

	"berth/internal/decision"
	"berth/internal/engine"
	"berth/internal/semantics"
	"berth/internal/upgrade"
)

// changes lists what is different about a record's answer under another release than its own, with
// the behaviours that make it. There is nothing to list where the record is not answered as it was
// under its own: then no release explains the difference.
func (l *Log) changes(ctx context.Context, rec *record, from, to *semantics.Release) ([]upgrade.Change, error) {
	base, err := l.replay(ctx, rec)
	if err != nil {
		return nil, err
	}
	defer base.release()
	if base.digest != rec.AnswerDigest {
		return nil, nil
	}
	before, err := base.answer(ctx, rec, engine.ExplainFull)
	if err != nil {
		return nil, err
	}
	ask := func(r *semantics.Release) (upgrade.Reply, error) { return l.replyUnder(ctx, rec, r) }
	after, err := ask(to)
	if err != nil {
		return nil, err
	}
	return upgrade.Explain(upgrade.Reply{Answer: before}, after, from, to, ask)
}

// replyUnder answers a record's question under a release. What is wrong with the question alone is
// in the reply.
func (l *Log) replyUnder(ctx context.Context, rec *record, under *semantics.Release) (upgrade.Reply, error) {
	r, err := rec.kind.replay(ctx, l, rec, rec.view, &Overrides{Release: under}, engine.Decide)
	var refused *decision.Error
	if errors.As(err, &refused) && ctx.Err() == nil {
		return upgrade.Reply{Err: err}, nil
	}
	if err != nil {
		return upgrade.Reply{}, err
	}
	defer r.release()
	ans, err := r.answer(ctx, rec, engine.ExplainFull)
	return upgrade.Reply{Answer: ans}, err
}
