package events

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"berth/internal/store"
)

// worthATry leaves of the wakes among events those of pods that the plugin had rejected: a hint of
// another plugin makes no pod worth a try (upstream's scheduling_queue.go, isPodWorthRequeuing).
// Events are numbered before, so that ids depend on what is stored alone.
func (r *reader) worthATry(ctx context.Context, list []Event) ([]Event, error) {
	rejected := map[Pod]string{} // names of plugins, as of one revision
	of := int64(0)
	out := list[:0]
	for i := range list {
		e := &list[i]
		if e.Event == ofWake {
			if of != e.Data.Revision {
				of = e.Data.Revision
				if err := r.rejected(ctx, list[i:], of, rejected); err != nil {
					return nil, err
				}
			}
			e.Data.Pods = slices.DeleteFunc(e.Data.Pods, func(p Pod) bool {
				return !slices.Contains(strings.Split(rejected[p], ","), e.Data.Plugin)
			})
			if len(e.Data.Pods) == 0 {
				continue
			}
		}
		out = append(out, *e)
	}
	return out, nil
}

// rejected reads by which plugins the pods that a revision woke were rejected before.
func (r *reader) rejected(ctx context.Context, list []Event, of int64, into map[Pod]string) error {
	clear(into)
	f := store.AttemptFilter{Cluster: r.cluster, Revision: of}
	names := map[string]bool{}
	for _, e := range list {
		if e.Event != ofWake || e.Data.Revision != of {
			continue
		}
		f.Until = *e.Data.CreatedAt
		for _, p := range e.Data.Pods {
			names[p.Name] = true
		}
	}
	f.Pods = slices.Collect(maps.Keys(names))
	sums, err := r.log.FailedAttempts(ctx, f)
	if err != nil {
		return fmt.Errorf("read why pods wait: %w", err)
	}
	for _, s := range sums {
		into[Pod{s.Namespace, s.Pod}] = s.RejectedBy
	}
	return nil
}
