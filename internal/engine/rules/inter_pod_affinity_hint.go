package rules

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/engine"
	"berth/internal/engine/state"
)

// Hints returns those of pods that come, go or are relabelled, and of nodes with a topology key
// (plugins/interpodaffinity isSchedulableAfterPodChange, isSchedulableAfterNodeChange).
func (*InterPodAffinity) Hints() []engine.Hint {
	return []engine.Hint{
		{Kind: "Pod", Action: engine.Add | engine.UpdatePodLabel | engine.Delete, Queue: affinityAfterPod},
		{Kind: "Node", Action: engine.Add | engine.UpdateNodeLabel, Queue: affinityAfterNode},
	}
}

func affinityAfterPod(w *engine.Waiter, e *engine.Event) bool {
	was, is := versions[corev1.Pod](e)
	switch {
	case was != nil && is != nil && w.Self:
		return true
	case was != nil && !placed(was), is != nil && !placed(is):
		return false
	}
	terms, anti, err := state.RequiredTerms(w.Pod)
	switch {
	case err != nil:
		return true
	case was != nil && is != nil:
		return !selectedByAll(terms, was) && selectedByAll(terms, is) || selectedByAll(anti, was) && !selectedByAll(anti, is)
	case is != nil:
		return selectedByAll(terms, is)
	case selectedByAll(anti, was):
		return true
	}
	_, theirs, err := state.RequiredTerms(was)
	return err != nil || selectedByAll(theirs, w.Pod)
}

// selectedByAll reports whether there are terms and all of them select a pod. Namespace selectors
// see no labels here, as upstream's hint passes none (interpodaffinity/filtering.go
// podMatchesAllAffinityTerms).
func selectedByAll(terms []*state.Term, pod *corev1.Pod) bool {
	for _, t := range terms {
		if !t.Matches(pod.Namespace, nil, pod.Labels) {
			return false
		}
	}
	return len(terms) > 0
}

func affinityAfterNode(w *engine.Waiter, e *engine.Event) bool {
	was, is := versions[corev1.Node](e)
	terms, anti, err := state.RequiredTerms(w.Pod)
	if err != nil {
		return true
	}
	if was == nil {
		return len(anti) > 0 || slices.ContainsFunc(terms, func(t *state.Term) bool { return has(is.Labels, t.TopologyKey) })
	}
	for i, t := range slices.Concat(terms, anti) {
		before, had := was.Labels[t.TopologyKey]
		after, got := is.Labels[t.TopologyKey]
		if had && got && before != after || had != got && got == (i < len(terms)) {
			return true
		}
	}
	return false
}
