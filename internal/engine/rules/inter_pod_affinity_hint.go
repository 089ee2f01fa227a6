package rules

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/engine"
	"berth/internal/engine/state"
	"berth/internal/semantics"
)

// affinityWakes is what the hint of pods compares, by release.
type affinityWakes struct {
	looksAt func(*corev1.Pod) bool
	both    bool // new labels of the waiting pod count, and terms of a pod that goes
	// excluded reports whether terms of anti-affinity select a pod.
	excluded func([]*state.Term, *corev1.Pod) bool
}

func affinityWakesOf(r *semantics.Release) affinityWakes {
	w := affinityWakes{looksAt(r), r.AffinityWakes != semantics.WakesByOwn, selectedByAll}
	if r.AffinityWakes == semantics.WakesByAny {
		w.excluded = selectedByAny
	}
	return w
}

// Hints returns those of pods that come, go or are relabelled, and of nodes with a topology key
// (plugins/interpodaffinity isSchedulableAfterPodChange, isSchedulableAfterNodeChange).
func (a *InterPodAffinity) Hints() []engine.Hint {
	return []engine.Hint{
		{Kind: "Pod", Action: engine.Add | engine.UpdatePodLabel | engine.Delete, Queue: a.wakes.afterPod},
		{Kind: "Node", Action: engine.Add | engine.UpdateNodeLabel, Queue: affinityAfterNode},
	}
}

func (a *affinityWakes) afterPod(w *engine.Waiter, e *engine.Event) bool {
	was, is := versions[corev1.Pod](e)
	switch {
	case was != nil && is != nil && w.Self && a.both:
		return true
	case was != nil && !a.looksAt(was), is != nil && !a.looksAt(is):
		return false
	}
	terms, anti, err := state.RequiredTerms(w.Pod)
	switch {
	case err != nil:
		return true
	case was != nil && is != nil:
		return !selectedByAll(terms, was) && selectedByAll(terms, is) || a.excluded(anti, was) && !a.excluded(anti, is)
	case is != nil:
		return selectedByAll(terms, is)
	case a.excluded(anti, was) || !a.both:
		return a.excluded(anti, was)
	}
	_, theirs, err := state.RequiredTerms(was)
	return err != nil || a.excluded(theirs, w.Pod)
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

// selectedByAny is as selectedByAll, for one of the terms (podMatchesAnyAffinityTerms).
func selectedByAny(terms []*state.Term, pod *corev1.Pod) bool {
	return slices.ContainsFunc(terms, func(t *state.Term) bool { return t.Matches(pod.Namespace, nil, pod.Labels) })
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
