package scenario

import (
	"context"
	"errors"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/decision"
	"berth/internal/engine"
	"berth/internal/engine/state"
	"berth/internal/revision"
	"berth/internal/steps"
	"berth/internal/world"
)

// FitNode is how many replicas one node takes by itself: each is decided with that node alone to
// choose from, and bound there, until one is rejected.
type FitNode struct {
	Node string `json:"node" example:"worker-7"`
	// Count is how many it takes; with More that is the maximum, and not for want of room.
	Count int  `json:"count"`
	More  bool `json:"more,omitempty"`
	// Leader reports whether the leader fits there, before any replica, and Beside how many
	// replicas fit beside it. Absent without a leader.
	Leader *bool `json:"leader,omitempty"`
	Beside *int  `json:"beside,omitempty"`
} // @name FitNode

// EachOf counts replicas of a pod on every node by itself, in the order of the nodes' names, up to
// a number. No pod is evicted for one, and gates count as removed. leader may be nil.
func EachOf(ctx context.Context, v *revision.View, o world.Options, of, leader *corev1.Pod, most int) ([]FitNode, error) {
	o.NoPreemption = true
	pod := *of
	pod.Spec.SchedulingGates = nil
	if leader != nil {
		first := *leader
		first.Spec.SchedulingGates = nil
		leader = &first
	}
	names := nodesWith(v, func(*state.Node) bool { return true })
	slices.Sort(names)
	f, turns, out := world.NewFork(v, o), steps.Of(ctx), make([]FitNode, len(names))
	watch := f.Options().Watch
	for i, name := range names {
		f.Options().Candidates = []string{name}
		n := &out[i]
		n.Node = name
		// alone counts after a pod is bound, if there is one, and takes all back.
		alone := func(before *corev1.Pod) (count int, fits bool, err error) {
			f.Mark()
			if before != nil {
				if fits, err = bindNext(ctx, f, ReplicasOf(before), new(int)); err != nil || !fits {
					return 0, false, errors.Join(err, f.Undo())
				}
			}
			for next := 0; count < most; count++ {
				if err := turns.Take(1); err != nil {
					return 0, false, err
				}
				if ok, err := bindNext(ctx, f, ReplicasOf(&pod), &next); err != nil {
					return 0, false, err
				} else if !ok {
					break
				}
			}
			return count, fits, f.Undo()
		}
		var err error
		if n.Count, _, err = alone(nil); err != nil {
			return nil, err
		}
		n.More = n.Count == most
		if leader != nil {
			beside, fits, err := alone(leader)
			if err != nil {
				return nil, err
			}
			n.Leader, n.Beside = &fits, &beside
		}
		watch.Progressed("nodes", i+1, len(names))
	}
	return out, nil
}

// checkEach refuses what is no question about each node, and reads the leader.
func (q *FitQuestion) checkEach(s *Stage) (leader *corev1.Pod, err error) {
	switch {
	case q.Each != "" && q.Each != EachNode:
		return nil, decision.Errorf(decision.Malformed, "each", "want node")
	case isNull(q.Leader):
		return nil, nil
	case q.Each == "":
		return nil, decision.Errorf(decision.Malformed, "leader", "a leader is placed on each node by itself: want each: node with it")
	}
	_, one := ReplicasIn(q.Leader)
	return s.Editor.Pod(s.View, "leader", one)
}

// digestOfEach is a digest of an answer with what each node takes.
func digestOfEach(digest string, list []FitNode) string {
	sum := newSum("berth-fit-each-1")
	sum.add(digest)
	for _, n := range list {
		sum.add(n.Node, strconv.Itoa(n.Count))
		if n.Leader != nil {
			sum.add(strconv.FormatBool(*n.Leader), strconv.Itoa(*n.Beside))
		}
	}
	return sum.text()
}

// bindNext binds the next replica whose name is free, from one on, and reports whether it got a
// node.
func bindNext(ctx context.Context, f *world.Fork, of Replicas, next *int) (bool, error) {
	p := of.Pod(*next)
	for *next++; f.State().Pod(p.Namespace, p.Name) != nil; *next++ {
		p = of.Pod(*next) // a StatefulSet's pods, or those of an earlier question, have such names
	}
	p, err := f.CreateClaims(p)
	if err != nil {
		return false, err
	}
	at, err := f.Attempt(ctx, p)
	if err != nil {
		return false, err
	}
	return at.Outcome == engine.Scheduled, nil
}
