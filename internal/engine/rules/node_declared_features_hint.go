package rules

import (
	corev1 "k8s.io/api/core/v1"
	ndf "k8s.io/component-helpers/nodedeclaredfeatures"

	"berth/internal/engine"
)

// Hints returns those of a node that is new or declares other features, and of the pod's own needs
// (plugins/nodedeclaredfeatures isSchedulableAfterNodeChange, isSchedulableAfterPodUpdate).
func (n NodeDeclaredFeatures) Hints() []engine.Hint {
	if n.known == nil {
		return nil
	}
	return []engine.Hint{
		{Kind: "Node", Action: engine.Add | engine.UpdateNodeDeclaredFeature},
		{Kind: "Pod", Action: engine.Update, Queue: n.needsOthers},
	}
}

func (n NodeDeclaredFeatures) needsOthers(w *engine.Waiter, e *engine.Event) bool {
	if !w.Self {
		return false
	}
	was, is := versions[corev1.Pod](e)
	before, err := n.known.InferForPodScheduling(&ndf.PodInfo{Spec: &was.Spec}, n.target)
	if err != nil {
		return true
	}
	after, err := n.known.InferForPodScheduling(&ndf.PodInfo{Spec: &is.Spec}, n.target)
	return err != nil || !after.Equal(before)
}
