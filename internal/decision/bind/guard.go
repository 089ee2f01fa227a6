package bind

import (
	"context"
	"fmt"

	"berth/internal/decision"
	"berth/internal/revision"
)

func (b *Binder) guarded(cluster string) bool { return b.o.Guarded != nil && b.o.Guarded(cluster) }

// guard returns why no decision on record allows an attempt; "" where one does. It is called
// before the writer's lock is taken, since it may read records.
func (b *Binder) guard(ctx context.Context, a *attempt) (refusal string, err error) {
	if !b.guarded(a.cluster) {
		return "", nil
	}
	pod := a.pod
	if pod.UID == "" { // as an apiserver takes a Binding
		if v, err := b.m.View(ctx, a.cluster, 0); err == nil { // else begin reports it
			if p := v.State.Pod(pod.Namespace, pod.Name); p != nil {
				pod.UID = p.UID
			}
		}
	}
	passed, denied, err := b.log.Passed(ctx, a.cluster, pod, a.node)
	switch {
	case err != nil:
		return "", fmt.Errorf("look for the decision to bind: %w", err)
	case passed:
		return "", nil
	case denied != "":
		return fmt.Sprintf("%s may not be bound to node %s, which decision %s did not let pass (--bind-unasked lifts this)", pod, a.node, denied), nil
	}
	return fmt.Sprintf("%s may not be bound: no decision on record for its UID %s let node %s pass. Ask /filter first, or run berth with --bind-unasked",
		pod, pod.UID, a.node), nil
}

// otherScheduler returns the refusal of a pod whose scheduler this server does not serve.
func (b *Binder) otherScheduler(v *revision.View, pod decision.PodRef) (refusal string, err error) {
	held, err := v.Pod(pod.Namespace, pod.Name)
	if err != nil {
		return "", err
	}
	return b.Unserved(v.Cluster, pod, held.Spec.SchedulerName), nil
}

// Unserved returns why a pod that names a scheduler is not bound in a cluster; "" where that is no
// reason.
func (b *Binder) Unserved(cluster string, pod decision.PodRef, scheduler string) (refusal string) {
	if !b.guarded(cluster) {
		return ""
	}
	profiles := b.log.Configured().Of(cluster)
	served := make([]string, len(profiles))
	for i, p := range profiles {
		if served[i] = p.Name; p.Name == scheduler {
			return ""
		}
	}
	return fmt.Sprintf("%s is for scheduler %q, and this server serves %q. Give its configuration a profile of that name, or run berth with --bind-unasked",
		pod, scheduler, served)
}
