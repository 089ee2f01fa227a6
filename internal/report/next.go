package report

import (
	"fmt"
	"slices"
	"time"

	"berth/internal/engine/state"
	"berth/internal/podlife"
)

// Event is something that happens to a pod of itself.
type Event struct {
	At time.Time `json:"at"`
	// Component is what does it: scheduler, kubelet, container-runtime, api-server,
	// endpointslice-controller, taint-eviction-controller,
	// pod-garbage-collector-controller.
	Component string `json:"component"`
	// Event describes what happens.
	Event string `json:"event" example:"tried again: its back-off is over"`
	// Container is the one that it happens to.
	Container string `json:"container,omitempty"`
	Detail    string `json:"detail,omitempty"`
} // @name PodStoryEvent

const (
	componentScheduler = "scheduler"
	componentKubelet   = "kubelet"
)

// next puts together what the parts of the story know of the times to come.
func (s *telling) next() {
	o := s.out
	add := func(at *time.Time, e Event) {
		if at == nil || at.Before(o.At) {
			return
		}
		e.At = at.UTC()
		o.Next = append(o.Next, e)
	}
	if q := o.Queue; q != nil {
		why, detail := "tried again: its back-off is over", ""
		if w := q.Woken; w != nil {
			detail = "woken by " + w.String()
		}
		if q.Queue == state.UnschedulablePods {
			why = fmt.Sprintf("tried again: nothing has changed for %d minutes", state.UnschedulableFor/time.Minute)
		}
		add(q.NextTry, Event{Component: componentScheduler, Event: why, Detail: detail})
	}
	if o.Nomination != nil {
		for _, v := range o.Nomination.WaitsFor {
			p, err := s.view.Pod(v.Namespace, v.Name)
			if err == nil && p.DeletionTimestamp != nil {
				add(&p.DeletionTimestamp.Time, Event{
					Component: componentKubelet, Event: fmt.Sprintf("victim %s/%s is killed at the latest", v.Namespace, v.Name),
					Detail: "node " + o.Nomination.Node + " is held for the pod",
				})
			}
		}
	}
	if l := o.Lifecycle; l != nil {
		if d := l.NodeDeletion; d != nil && d.At != nil {
			at, what := d.At, "deletes the pod because of its node"
			if d.Latest != nil {
				at, what = d.Latest, what+", at the latest"
			}
			add(at, Event{Component: d.By, Event: what, Detail: d.Rule.Text})
		}
		add(l.DeadlineAt, Event{Component: componentKubelet, Event: "fails the pod: activeDeadlineSeconds are over"})
		for i := range l.Containers {
			c := &l.Containers[i]
			if c.Next.Action == podlife.ActionBackoff {
				add(c.Next.At, Event{Component: componentKubelet, Event: "restarts the container: its back-off is over", Container: c.Name, Detail: c.Next.Rule.Text})
			}
		}
	}
	if o.Ending != nil && o.State == StateDeleting {
		for _, e := range o.Ending.Timeline {
			if e.Event == podlife.EventUnchanged {
				continue // the story deletes nothing
			}
			add(e.At, Event{Component: e.Actor, Event: e.Event, Container: e.Container, Detail: e.Detail})
		}
	}
	slices.SortStableFunc(o.Next, func(a, b Event) int { return a.At.Compare(b.At) })
}
