package state

import (
	"cmp"
	"slices"

	schedulingv1 "k8s.io/api/scheduling/v1"

	"berth/internal/kube/object"
)

// Queued is a pod that waits, with the priority that orders it.
type Queued struct {
	*Pod
	Priority int32
}

// Runs reports whether the configuration has a scheduler of that name, and whether its pods wait
// for their gates: they do not under a profile without SchedulingGates.
type Runs func(scheduler string) (ours, gates bool)

// Queue is the pods of a state that wait for a node.
type Queue struct {
	// Active is in the order of scheduling: higher priority first, then the
	// older, among those of one second the one that the ledger created first, then
	// by namespace and name. Pods without a creation time count as the youngest.
	Active []Queued
	// Gated pods wait for their gates and are not tried, in the same order.
	Gated []Queued
	// Nominated are those with a nominated node; they are active as well, unless they are being
	// deleted.
	Nominated []Queued
}

// waitsIn sorts a pending pod as kube-scheduler does. It ignores pods of other schedulers. Gated
// pods stay gated. Pods that are being deleted are dropped when their turn comes, but keep their
// nominated node until they are gone (pkg/scheduler eventhandlers.go addPod, schedule_one.go
// skipPodSchedule, backend/queue nominator.go addNominatedPodUnlocked).
func waitsIn(p *Pod, runs Runs) (active, gated, nominated bool) {
	ours, gates := runs(p.Scheduler)
	if !ours {
		return false, false, false
	}
	gated = gates && len(p.Gates) > 0
	return !gated && !p.Terminating, gated, !gated && p.Nominated != ""
}

// Queue sorts the pods that wait. extra returns classes that the state lacks, as for
// ResolvePriority (plugins/queuesort priority_sort.go Less).
func (s *State) Queue(runs Runs, extra func(name string) *schedulingv1.PriorityClass) Queue {
	var q Queue
	s.pending.each(func(p *Pod) {
		active, gated, nominated := waitsIn(p, runs)
		if !active && !gated && !nominated {
			return
		}
		entry := Queued{p, s.priorityWith(p, extra)}
		if active {
			q.Active = append(q.Active, entry)
		}
		if gated {
			q.Gated = append(q.Gated, entry)
		}
		if nominated {
			q.Nominated = append(q.Nominated, entry)
		}
	})
	for _, list := range [][]Queued{q.Active, q.Gated, q.Nominated} {
		slices.SortFunc(list, before)
	}
	return q
}

func before(a, b Queued) int {
	if c := cmp.Compare(b.Priority, a.Priority); c != 0 {
		return c
	}
	if (a.Created == 0) != (b.Created == 0) {
		if a.Created == 0 {
			return 1
		}
		return -1
	}
	return cmp.Or(cmp.Compare(a.Created, b.Created), cmp.Compare(a.Order, b.Order), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}

// WithoutOrder returns a pod's annotations without the one that Pod.Order is of, which no rule
// reads. The argument is not written.
func WithoutOrder(annotations map[string]string) map[string]string {
	return object.WithoutOrder(annotations)
}

// Waiting counts the pods that wait, without sorting them.
func (s *State) Waiting(runs Runs) (active, gated, nominated int) {
	s.pending.each(func(p *Pod) {
		a, g, n := waitsIn(p, runs)
		active, gated, nominated = active+one(a), gated+one(g), nominated+one(n)
	})
	return active, gated, nominated
}

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}

// priorityWith is PriorityOf with classes that the state lacks.
func (s *State) priorityWith(p *Pod, extra func(string) *schedulingv1.PriorityClass) int32 {
	if p.hasPriority {
		return p.Priority
	}
	a, _ := s.ofClass(p.className, extra)
	return a.Priority
}
