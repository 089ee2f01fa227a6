package rules

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/labels"

	"berth/internal/engine"
)

// Hints returns those of pods of the namespace that come, go or are relabelled, and of nodes
// (plugins/podtopologyspread isSchedulableAfterPodChange, isSchedulableAfterNodeChange).
func (p *PodTopologySpread) Hints() []engine.Hint {
	return []engine.Hint{
		{Kind: "Pod", Action: engine.Add | engine.UpdatePodLabel | engine.UpdatePodToleration | engine.Delete, Queue: p.afterPod},
		{Kind: "Node", Action: engine.Add | engine.Delete | engine.UpdateNodeLabel | engine.UpdateNodeTaint, Queue: p.afterNode},
	}
}

// hardConstraints are the constraints that keep the pod off nodes.
func (p *PodTopologySpread) hardConstraints(w *engine.Waiter) ([]*spreadConstraint, error) {
	return p.constraintsOf(w.Pod, corev1.DoNotSchedule, func() labels.Selector { return selectorOfOwners(w.State, w.Pod) })
}

func (p *PodTopologySpread) afterPod(w *engine.Waiter, e *engine.Event) bool {
	was, is := versions[corev1.Pod](e)
	for _, pod := range []*corev1.Pod{was, is} {
		if pod != nil && !w.Self && (!p.looksAt(pod) || pod.Namespace != w.Pod.Namespace) {
			return false
		}
	}
	list, err := p.hardConstraints(w)
	if err != nil {
		return true
	}
	if was != nil && is != nil {
		if w.Self && !equality.Semantic.DeepEqual(was.Spec.Tolerations, is.Spec.Tolerations) &&
			slices.ContainsFunc(list, func(c *spreadConstraint) bool { return c.honorTaints }) {
			return true
		}
		return slices.ContainsFunc(list, func(c *spreadConstraint) bool {
			return c.selector.Matches(labels.Set(was.Labels)) != c.selector.Matches(labels.Set(is.Labels))
		})
	}
	if is == nil {
		is = was
	}
	return slices.ContainsFunc(list, func(c *spreadConstraint) bool { return c.selector.Matches(labels.Set(is.Labels)) })
}

func (p *PodTopologySpread) afterNode(w *engine.Waiter, e *engine.Event) bool {
	list, err := p.hardConstraints(w)
	if err != nil {
		return true
	}
	was, is := versions[corev1.Node](e)
	keyed := func(n *corev1.Node) bool {
		return n != nil && !slices.ContainsFunc(list, func(c *spreadConstraint) bool { return !has(n.Labels, c.TopologyKey) })
	}
	if was == nil || is == nil {
		return keyed(was) || keyed(is)
	}
	if keyed(was) != keyed(is) {
		return true
	}
	return keyed(is) && (!equality.Semantic.DeepEqual(was.Spec.Taints, is.Spec.Taints) ||
		slices.ContainsFunc(list, func(c *spreadConstraint) bool { return was.Labels[c.TopologyKey] != is.Labels[c.TopologyKey] }))
}
