package blame

import (
	"context"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/decision"
	"berth/internal/kube/object"
	"berth/internal/memory"
	"berth/internal/revision"
	"berth/internal/store"
)

// page is how many revisions are listed at a time, and headBytes what one of them takes.
const page, headBytes = 1000, 2 << 10

// headsOf lists the revisions to judge, the oldest first, with notes about those that are not kept.
func headsOf(ctx context.Context, h History, ask *Ask) (list []*store.Revision, notes []string, err error) {
	before := int64(0)
	if u := ask.Until.Revision; u > 0 {
		before = u + 1
	}
	oldest := int64(0)
	for more := true; more; {
		if err := memory.Take(ctx, page*headBytes); err != nil {
			return nil, nil, err
		}
		heads, err := h.List(ctx, ask.Cluster, before, page)
		if err != nil {
			return nil, nil, err
		}
		more = false
		for _, r := range heads {
			more, before, oldest = true, r.Number, r.Number
			r.Summary = nil
			if !ask.Until.Time.IsZero() && r.CreatedAt.After(ask.Until.Time) {
				continue
			}
			list = append(list, r)
			if s := ask.Since; s.Revision > 0 && r.Number <= s.Revision || !s.Time.IsZero() && !r.CreatedAt.After(s.Time) {
				more = false
				break
			}
		}
	}
	newest := int64(0)
	if len(list) > 0 {
		newest = list[0].Number
	}
	switch u, s := ask.Until.Revision, ask.Since.Revision; {
	case u > 0 && newest != u:
		return nil, nil, decision.Errorf(decision.NotFound, "until", "there is no revision %s", revision.FormatID(ask.Cluster, u))
	case s > 0 && newest < s:
		return nil, nil, decision.Errorf(decision.NotFound, "since", "there is no revision %s, or it comes after until", revision.FormatID(ask.Cluster, s))
	case newest == 0 && oldest > 0:
		return nil, nil, decision.Errorf(decision.NotFound, "until", "the oldest revision that is kept is %s, which is newer", revision.FormatID(ask.Cluster, oldest))
	case newest == 0:
		return nil, nil, fmt.Errorf("%s: %w", revision.FormatID(ask.Cluster, 0), store.ErrNotFound)
	}
	slices.Reverse(list)
	return list, gaps(list, ask), nil
}

// gaps returns notes about the revisions that are not kept.
func gaps(list []*store.Revision, ask *Ask) (notes []string) {
	first := list[0]
	early := ask.Since == (Bound{}) && first.Number > 1 && !first.BeginsEpoch()
	if s := ask.Since.Revision; s > 0 && first.Number > s {
		early = true
	}
	if t := ask.Since.Time; !t.IsZero() && first.CreatedAt.After(t) && first.Number > 1 {
		early = true
	}
	if early {
		notes = append(notes, fmt.Sprintf("%s is the oldest revision that is kept: what came before it cannot be told", id(first)))
	}
	missing := int64(0)
	for i, r := range list[1:] {
		if !r.BeginsEpoch() {
			missing += r.Number - list[i].Number - 1
		}
	}
	if missing > 0 {
		notes = append(notes, fmt.Sprintf("%s in between, not kept: a turn at one of them is told at the next that is", plural(int(missing), "revision")))
	}
	return notes
}

// podIn returns the pod as the newest of the revisions has it that has it at all.
func podIn(ctx context.Context, h History, ask *Ask, heads []*store.Revision) (*corev1.Pod, error) {
	v, err := h.View(ctx, ask.Cluster, heads[len(heads)-1].Number)
	if err != nil {
		return nil, err
	}
	pod, err := v.Pod(ask.Namespace, ask.Name)
	if !errors.Is(err, store.ErrNotFound) {
		return pod, err
	}
	w, err := h.WalkApart(ctx, ask.Cluster, ask.Namespace, ask.Name)
	if err != nil {
		return nil, err
	}
	key := object.Key{Kind: "Pod", Namespace: ask.Namespace, Name: ask.Name}
	var last []byte
	for i, head := range heads {
		v, err := w.To(ctx, head.Number)
		if err != nil {
			return nil, late(err, head, i, len(heads))
		}
		if js, ok := v.Object(key); ok {
			last = js
		}
	}
	if last == nil {
		return nil, decision.Errorf(decision.NotFound, "name", "no revision from %s to %s has a pod %s/%s", id(heads[0]), id(heads[len(heads)-1]), ask.Namespace, ask.Name)
	}
	o, err := object.FromCanonical("Pod", last)
	if err != nil {
		return nil, fmt.Errorf("pod %s/%s: %w", ask.Namespace, ask.Name, err)
	}
	return o.Value.(*corev1.Pod), nil
}
