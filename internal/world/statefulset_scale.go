package world

import (
	"fmt"
	"maps"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"berth/internal/engine/state"
)

// want has the set want a number of pods.
func (s *statefulSet) want(n int) {
	s.ordinals = nil
	for i := range n {
		s.ordinals = append(s.ordinals, s.first+i)
		if s.places[s.first+i] == nil {
			s.places[s.first+i] = &setPlace{}
		}
	}
}

// scale has a set want another number of pods.
func (c *statefulSets) scale(k ownerKey, to int) (refused string, err error) {
	s, err := c.of(k)
	if err != nil {
		return "", err
	}
	if len(s.places) == 0 {
		return "no pod of StatefulSet/" + s.name + " shows what its pods are like", nil
	}
	if err := c.resize(s, to); err != nil {
		return "", err
	}
	return "", c.syncSet(s)
}

// resize has a set want another number of pods, before its controller acts.
func (c *statefulSets) resize(s *statefulSet, to int) error {
	was := s.ordinals
	c.w.OnUndo(func() { s.ordinals = was })
	s.want(to)
	for _, i := range slices.Sorted(maps.Keys(s.places)) {
		if pod := s.places[i].pod; pod != nil { // all have the labels of one template
			return c.w.budgets.scaled(c.w.Fork, pod, int32(len(s.ordinals)-len(was)))
		}
	}
	return nil
}

// CreateSet has a StatefulSet come that wants a number of pods, of which one shows what they are
// like: its claims are those of the lowest ordinal.
func (w *World) CreateSet(set *appsv1.StatefulSet, like *corev1.Pod, n int) error {
	k := ownerKey{like.Namespace, state.Owner{Kind: "StatefulSet", Name: set.Name}}
	s := &statefulSet{namespace: like.Namespace, name: set.Name}
	s.take(set)
	p := *like
	p.Name = OrdinalName(set, 0)
	s.places = map[int]*setPlace{s.first: {pod: &p}}
	s.want(n)
	if w.sets.sets == nil {
		w.sets.sets = map[ownerKey]*statefulSet{}
	}
	w.sets.sets[k] = s
	return w.sets.syncSet(s)
}

func firstOrdinal(set *appsv1.StatefulSet) int {
	if set.Spec.Ordinals == nil {
		return 0
	}
	return int(set.Spec.Ordinals.Start)
}

// OrdinalName is the name of a set's pod, counted from its lowest ordinal.
func OrdinalName(set *appsv1.StatefulSet, i int) string {
	return fmt.Sprintf("%s-%d", set.Name, firstOrdinal(set)+i)
}

// condemned deletes the pods outside of the wanted ordinals: all at once, or the highest first,
// each once the one before is gone and those below are available (stateful_set_control.go
// processCondemned). It reports whether the controller goes on: in order, only once there are none.
func (c *statefulSets) condemned(s *statefulSet) (done bool, err error) {
	var list []*corev1.Pod // the highest first
	for _, i := range slices.Backward(slices.Sorted(maps.Keys(s.places))) {
		if !s.places[i].here || slices.Contains(s.ordinals, i) {
			continue
		}
		pod, err := c.w.waitingOrStored(PodName{s.namespace, s.pod(i)})
		if err != nil {
			return false, err
		}
		if pod != nil {
			list = append(list, pod)
		}
	}
	var lowest *corev1.Pod // of those that are not available
	next := time.Duration(0)
	for _, pod := range list {
		why, until := c.blocks(s, ordinalOf(pod.Name))
		if why != "" {
			lowest = pod
		}
		if until > 0 && (next == 0 || until < next) {
			next = until
		}
	}
	for _, was := range list {
		pod, err := c.w.waitingOrStored(NameOf(was)) // the end of one before may have ended it
		if err != nil {
			return false, err
		}
		switch why, _ := c.blocks(s, ordinalOf(was.Name)); {
		case pod == nil:
			continue
		case pod.DeletionTimestamp != nil && s.ordered:
			return false, nil // until it is gone
		case pod.DeletionTimestamp != nil:
			continue
		case why != "" && s.ordered && was != lowest: // until it is well, or gone
			c.again(s, next)
			return false, nil
		}
		if err := c.w.remove(pod, &Left{Cause: CauseScaleDown}); err != nil {
			return false, err
		}
		if s.ordered {
			return false, nil
		}
	}
	return true, nil
}
