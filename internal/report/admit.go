package report

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"

	"berth/internal/decision"
	"berth/internal/kube/object"
	"berth/internal/podlife"
	"berth/internal/revision"
)

// Admit judges the create of a pod under the classes and nodes of a view, and the
// stored classes; either may be nil.
func Admit(v *revision.View, pod *corev1.Pod, stored func(name string) *schedulingv1.PriorityClass, now time.Time) podlife.Verdict {
	return podlife.Create(pod, classesOf(v, stored), topologyOf(v), now)
}

// AdmitWarnings are what a view has, and admission here does not apply to a pod.
func AdmitWarnings(v *revision.View, pod *corev1.Pod) (list []string) {
	if text := UnappliedText(v.ID(), UnappliedIn(v.Summary.Objects)); text != "" {
		list = append(list, text)
	}
	if note := decision.RuntimeNote(v, decision.UnappliedClass(pod)); note != "" {
		list = append(list, note)
	}
	return list
}

// classesOf looks classes up in a view, then among the stored ones.
func classesOf(view *revision.View, stored func(name string) *schedulingv1.PriorityClass) podlife.Classes {
	return func(class string) *schedulingv1.PriorityClass {
		var c *schedulingv1.PriorityClass
		switch {
		case view == nil:
		case class == "":
			c = view.State.GlobalDefaultClass()
		default:
			c = view.State.PriorityClass(class)
		}
		if c == nil && stored != nil {
			c = stored(class)
		}
		return c
	}
}

// topologyOf sets on a pod the zone and region of its node in a snapshot; nil is none.
func topologyOf(view *revision.View) func(*corev1.Pod) *corev1.Pod {
	return func(pod *corev1.Pod) *corev1.Pod {
		if view == nil {
			return pod
		}
		nodes := view.State.Nodes()
		if row := nodes.Row(pod.Spec.NodeName); row >= 0 {
			return object.WithTopology(pod, nodes.Node(row).Labels)
		}
		return pod
	}
}
