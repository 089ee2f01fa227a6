package admit

import (
	"context"
	"fmt"
	"slices"

	"berth/internal/access"
	"berth/internal/decision"
	"berth/internal/decision/bind"
	"berth/internal/decision/record"
	"berth/internal/engine"
	"berth/internal/handlers/exchange"
	"berth/internal/revision"
	"berth/internal/store"
)

// binderOf is the binder of options, or one that only tries placements.
func binderOf(o *Options) Binder {
	if o.Binder != nil || o.Configuration == nil {
		return o.Binder
	}
	log := record.New(nil, nil, o.Configuration, record.Options{MaxSteps: int64(o.Limits.MaxSteps), Classes: o.PriorityClasses})
	return bind.New(nil, log, bind.Options{})
}

// Place needs the right to bind each pod.
func (g guardedBinder) Place(ctx context.Context, p *decision.Placement) (*decision.PlacementAnswer, error) {
	if err := mayDo(ctx, access.Bind, true, p.Cluster); err != nil {
		return nil, err
	}
	store.KeyedOf(ctx).Mask(func(out any) { maskPlacement(ctx, p.Cluster, out.(*decision.PlacementAnswer)) })
	out, err := g.all.Place(ctx, guardPlacement(ctx, access.Bind, p))
	maskPlacement(ctx, p.Cluster, out)
	return out, err
}

// Try needs the right to decide about each pod, those that are removed too.
func (g guardedBinder) Try(ctx context.Context, p *decision.Placement, v *revision.View) (*decision.PlacementAnswer, error) {
	if err := mayDo(ctx, access.Decide, true, v.Cluster); err != nil {
		return nil, err
	}
	for _, set := range p.Removals {
		for _, pod := range set {
			if err := MayPod(ctx, access.Decide, v.Cluster, pod.Namespace); err != nil {
				return nil, err
			}
		}
	}
	out, err := g.all.Try(ctx, guardPlacement(ctx, access.Decide, p), v)
	maskPlacement(ctx, v.Cluster, out)
	return out, err
}

// guardPlacement returns a placement that refuses pods of namespaces which the caller lacks the
// right in.
func guardPlacement(ctx context.Context, right access.Right, p *decision.Placement) *decision.Placement {
	guarded := *p
	guarded.Members = func(ctx2 context.Context, v *revision.View) ([]decision.Member, int, error) {
		list, least, err := p.Members(ctx2, v)
		if err != nil {
			return nil, 0, err
		}
		for i := range list {
			namespace, _ := list[i].Named()
			if err := MayPod(ctx, right, v.Cluster, namespace); err != nil {
				return nil, 0, err
			}
		}
		return list, least, nil
	}
	return &guarded
}

// maskPlacement counts victims of namespaces that the caller may not see.
func maskPlacement(ctx context.Context, cluster string, out *decision.PlacementAnswer) {
	if out == nil || seesAll(ctx, cluster) {
		return
	}
	hidden := 0
	for i := range out.Results {
		r := &out.Results[i]
		n := len(r.Victims)
		r.Victims = slices.DeleteFunc(slices.Clone(r.Victims), func(v engine.Victim) bool {
			return !access.From(ctx).Grants.May(access.View, cluster, v.Namespace)
		})
		hidden += n - len(r.Victims)
	}
	if hidden > 0 {
		out.Warnings = append(out.Warnings, fmt.Sprintf("victims: %d pods of other namespaces", hidden))
	}
}

// seesHold reports whether the caller sees all pods of a hold.
func seesHold(ctx context.Context, h *store.Hold) bool {
	return !slices.ContainsFunc(h.Namespaces, func(namespace string) bool {
		return !access.From(ctx).Grants.May(access.View, h.Cluster, namespace)
	})
}

// Hold needs the right to see each pod.
func (g guardedClusters) Hold(ctx context.Context, id string) (*store.Hold, error) {
	h, err := g.all.Hold(ctx, id)
	if err == nil && !seesHold(ctx, h) {
		return nil, &exchange.HiddenError{Cluster: h.Cluster, Err: fmt.Errorf("hold %s: %w", id, store.ErrNotFound)}
	}
	return h, err
}

func (g guardedClusters) ListHolds(ctx context.Context, f store.HoldFilter) ([]*store.Hold, error) {
	if f.Cluster != "" {
		if err := MayIn(ctx, f.Cluster); err != nil {
			return nil, err
		}
	}
	return visible(f.Limit, func(h **store.Hold) bool { return seesHold(ctx, *h) }, func() ([]*store.Hold, error) {
		list, err := g.all.ListHolds(ctx, f)
		if len(list) > 0 {
			f.Before = list[len(list)-1].ID
		}
		return list, err
	})
}

// EndHold needs the right to bind each pod.
func (g guardedClusters) EndHold(ctx context.Context, id string, commit bool) (*store.Hold, error) {
	h, err := g.Hold(ctx, id)
	if err != nil {
		return nil, err
	}
	for _, namespace := range h.Namespaces {
		if err := MayPod(ctx, access.Bind, h.Cluster, namespace); err != nil {
			return nil, err
		}
	}
	return g.all.EndHold(ctx, id, commit)
}
