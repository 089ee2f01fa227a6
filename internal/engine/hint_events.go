package engine

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/utils/ptr"

	"berth/internal/engine/state"
	"berth/internal/kube/object"
)

// Objects returns changed objects as they were and as they are, typed as in object.Object; nil for
// one that was or is not there.
type Objects struct {
	Before, After func(object.Key) (any, error)
}

// events are those of one changed object.
func (w *waking) events(k object.Key) ([]Event, error) {
	if k.Kind == "Pod" {
		return w.podEvents(k)
	}
	before, err := w.objects.Before(k)
	if err != nil {
		return nil, err
	}
	after, err := w.objects.After(k)
	if err != nil {
		return nil, err
	}
	return Events(k, before, after), nil
}

// Events are those of one changed object of any kind but Pod, in upstream's order: as it was and as
// it is, typed as in object.Object, nil where it was or is not there.
func Events(k object.Key, before, after any) (out []Event) {
	event := Event{Key: k, Action: Update, Old: before, New: after}
	switch {
	case before == nil && after == nil:
		return nil
	case before == nil:
		event.Action = Add
	case after == nil:
		event.Action = Delete
	case k.Kind == "Node":
		for _, a := range NodeActions(before.(*corev1.Node), after.(*corev1.Node)) {
			event.Action = a
			out = append(out, event)
		}
		return out
	}
	return []Event{event}
}

// podEvents are the events of a pod. One that is over is gone for the scheduler
// (pkg/scheduler/eventhandlers.go addPod, updatePod, deletePod, scheduler.go newPodInformer). Pods
// are decoded only where their events need it.
func (w *waking) podEvents(k object.Key) ([]Event, error) {
	was, is := seen(w.before.Pod(k.Namespace, k.Name)), seen(w.after.Pod(k.Namespace, k.Name))
	if was != nil && is != nil && was.UID != is.UID {
		gone, err := w.changed(k, was, nil)
		if err != nil {
			return nil, err
		}
		added, err := w.changed(k, nil, is)
		return append(gone, added...), err
	}
	return w.changed(k, was, is)
}

func seen(p *state.Pod) *state.Pod {
	if p == nil || p.Terminal {
		return nil
	}
	return p
}

// changed are the events of a pod that is one and the same, before and after.
func (w *waking) changed(k object.Key, was, is *state.Pod) ([]Event, error) {
	nominated := was != nil && was.NodeName == "" && was.Nominated != "" && w.profile(was.Scheduler) != nil
	switch {
	case was == nil && is == nil, was == nil && is.NodeName == "", is == nil && was.NodeName == "" && !nominated:
		return nil, nil
	case is != nil && is.NodeName != "" && (was == nil || was.NodeName == ""):
		added, err := w.pod(w.objects.After, k)
		return []Event{{Key: k, Action: Add, New: added}}, err
	}
	before, err := w.pod(w.objects.Before, k)
	if err != nil {
		return nil, err
	}
	lost := Event{Key: k, Action: Delete, Old: before}
	if nominated {
		n := w.before.PriorityOf(was)
		lost.UpTo = &n
	}
	if is == nil {
		return []Event{lost}, nil
	}
	after, err := w.pod(w.objects.After, k)
	if err != nil {
		return nil, err
	}
	var out []Event
	for _, a := range PodActions(before, after, w.counting) {
		out = append(out, Event{Key: k, Action: a, Old: before, New: after, self: waits(is, after), own: was.NodeName == ""})
	}
	if nominated && was.Nominated != is.Nominated {
		lost.self = waits(is, after)
		out = append(out, lost)
	}
	return out, nil
}

// waits returns the pod if it waits for a node.
func waits(p *state.Pod, pod *corev1.Pod) *corev1.Pod {
	if p.NodeName != "" {
		return nil
	}
	return pod
}

func (w *waking) pod(obj func(object.Key) (any, error), k object.Key) (*corev1.Pod, error) {
	o, err := obj(k)
	if err != nil {
		return nil, err
	}
	pod, ok := o.(*corev1.Pod)
	if !ok {
		return nil, fmt.Errorf("%v is a %T", k, o)
	}
	return pod, nil
}

// NodeActions are the updates of a node, in upstream's order; none where only other properties
// differ (framework/events.go NodeSchedulingPropertiesChange).
func NodeActions(before, after *corev1.Node) (out []Action) {
	add := func(differs bool, a Action) {
		if differs {
			out = append(out, a)
		}
	}
	same := equality.Semantic.DeepEqual
	statuses := func(n *corev1.Node) map[corev1.NodeConditionType]corev1.ConditionStatus {
		of := map[corev1.NodeConditionType]corev1.ConditionStatus{}
		for i := range n.Status.Conditions {
			of[n.Status.Conditions[i].Type] = n.Status.Conditions[i].Status
		}
		return of
	}
	add(before.Spec.Unschedulable && !after.Spec.Unschedulable, UpdateNodeTaint)
	add(!same(before.Status.Allocatable, after.Status.Allocatable), UpdateNodeAllocatable)
	add(!same(before.Labels, after.Labels), UpdateNodeLabel)
	add(!same(before.Spec.Taints, after.Spec.Taints), UpdateNodeTaint)
	add(!same(statuses(before), statuses(after)), UpdateNodeCondition)
	add(!same(before.Annotations, after.Annotations), UpdateNodeAnnotation)
	add(!slices.Equal(before.Status.DeclaredFeatures, after.Status.DeclaredFeatures), UpdateNodeDeclaredFeature)
	return out
}

// PodActions are the updates of a pod as a release counts its requests, in upstream's order; Update
// where it names none (framework/events.go PodSchedulingPropertiesChange).
func PodActions(before, after *corev1.Pod, c state.Counting) (out []Action) {
	if !equality.Semantic.DeepEqual(before.Labels, after.Labels) {
		out = append(out, UpdatePodLabel)
	}
	if scaledDown(c.Held(before), c.Held(after)) {
		out = append(out, UpdatePodScaleDown)
	}
	if len(after.Spec.SchedulingGates) == 0 && len(before.Spec.SchedulingGates) > 0 {
		out = append(out, UpdatePodSchedulingGatesEliminated)
	}
	if len(before.Spec.Tolerations) != len(after.Spec.Tolerations) {
		out = append(out, UpdatePodToleration)
	}
	if !sameClaims(before, after) {
		out = append(out, UpdatePodGeneratedResourceClaim)
	}
	if out == nil {
		out = []Action{Update}
	}
	return out
}

func scaledDown(before, after corev1.ResourceList) bool {
	for name, was := range before {
		if is, ok := after[name]; !ok || was.MilliValue() > is.MilliValue() {
			return true
		}
	}
	return false
}

// sameClaims compares the claims that were made for a pod (k8s.io/dynamic-resource-allocation/
// resourceclaim PodStatusEqual, PodExtendedStatusEqual).
func sameClaims(before, after *corev1.Pod) bool {
	return slices.EqualFunc(before.Status.ResourceClaimStatuses, after.Status.ResourceClaimStatuses, func(a, b corev1.PodResourceClaimStatus) bool {
		return a.Name == b.Name && ptr.Equal(a.ResourceClaimName, b.ResourceClaimName)
	}) && equality.Semantic.DeepEqual(before.Status.ExtendedResourceClaimStatus, after.Status.ExtendedResourceClaimStatus)
}
