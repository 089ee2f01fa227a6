package record

import (
	"context"
	"fmt"

	"berth/internal/decision"
	"berth/internal/engine"
	"berth/internal/revision"
)

// read implements Kind: the snapshot is all there is to a bind.
func (b *LedgerBind) read(context.Context, *Log, *record) error { return nil }

// replay implements Kind.
func (b *LedgerBind) replay(_ context.Context, _ *Log, rec *record, v *revision.View, _ *Overrides, _ decision.Engine) (*replayed, error) {
	ans := decision.LedgerBind(v, rec.pod(), b.Node)
	return &replayed{fixed: &ans, digest: ans.Digest}, nil
}

// effects implements Kind.
func (b *LedgerBind) effects(ctx context.Context, l *Log, rec *record, _ *replayed) (*decision.Effects, error) {
	p, err := l.profiles.get(ctx, rec.ProfileDigest)
	if err != nil {
		return nil, err
	}
	pod, err := rec.view.Pod(rec.Namespace, rec.Pod)
	if err != nil {
		return nil, err
	}
	return decision.BindEffects(rec.view, pod, p, b.Node, rec.Now)
}

func (b *LedgerBind) recordedEffects() string { return b.Effects }

// read implements Kind.
func (b *BindResult) read(context.Context, *Log, *record) error { return nil }

// replay implements Kind: what an apiserver answered is fixed.
func (b *BindResult) replay(_ context.Context, _ *Log, rec *record, _ *revision.View, _ *Overrides, _ decision.Engine) (*replayed, error) {
	ans := b.answer(rec.Priority)
	return &replayed{fixed: &ans, digest: ans.Digest}, nil
}

// effects implements Kind.
func (b *BindResult) effects(context.Context, *Log, *record, *replayed) (*decision.Effects, error) {
	return nil, nil
}

func (b *BindResult) recordedEffects() string { return "" }

// answer returns the result as a decision.
func (b *BindResult) answer(priority int32) engine.Decision {
	a := engine.Decision{Outcome: b.Outcome, Message: b.Message, Priority: priority}
	if b.Outcome == engine.Scheduled {
		a.Node = b.Node
	}
	a.Digest = decision.DigestOf(fmt.Appendf(nil, "berth-bind-result-1 %q %q %q %q", b.Attempt, b.Node, b.Outcome, b.Message))
	return a
}
