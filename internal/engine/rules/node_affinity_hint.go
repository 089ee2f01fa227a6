package rules

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"

	"berth/internal/engine"
)

// Hints returns that of a node that is new or relabelled, and matches since then
// (plugins/nodeaffinity isSchedulableAfterNodeChange). A selector that does not parse counts as one
// that may match.
func (a NodeAffinity) Hints() []engine.Hint {
	return []engine.Hint{{Kind: "Node", Action: engine.Add | engine.UpdateNodeLabel, Queue: a.mayMatch}}
}

func (a NodeAffinity) mayMatch(w *engine.Waiter, e *engine.Event) bool {
	was, is := versions[corev1.Node](e)
	if added := a.enforced(); added != nil {
		// Its terms were checked when the profile was made.
		if s, err := nodeaffinity.NewNodeSelector(added); err == nil && !s.Match(is) {
			return false
		}
	}
	required := nodeaffinity.GetRequiredNodeAffinity(w.Pod)
	matches, err := required.Match(is)
	if err != nil || !matches || was == nil {
		return err != nil || matches
	}
	matched, err := required.Match(was)
	return err != nil || !matched
}
