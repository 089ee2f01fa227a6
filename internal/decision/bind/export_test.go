package bind

import (
	"cmp"
	"context"

	"berth/internal/decision"
	"berth/internal/revision"
)

// Guard is what a guarded bind checks before the rules.
func (b *Binder) Guard(ctx context.Context, v *revision.View, pod decision.PodRef, node string) (string, error) {
	refusal, err := b.guard(ctx, &attempt{cluster: v.Cluster, pod: pod, node: node})
	if err != nil {
		return "", err
	}
	other, err := b.otherScheduler(v, pod)
	return cmp.Or(refusal, other), err
}
