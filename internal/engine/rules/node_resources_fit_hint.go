package rules

import (
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/utils/ptr"

	"berth/internal/engine"
	"berth/internal/engine/state"
	"berth/internal/kube/object/stored"
)

// Hints returns those of pods that go or need less, of nodes that are new or offer more, and, where
// devices may provide extended resources, of device classes (plugins/noderesources/fit.go
// EventsToRegister, isSchedulableAfterPodEvent, isSchedulableAfterNodeChange,
// isSchedulableAfterDeviceClassEvent).
func (f *NodeResourcesFit) Hints() []engine.Hint {
	hints := []engine.Hint{
		{Kind: "Pod", Action: engine.Delete | engine.UpdatePodScaleDown, Queue: f.afterPod},
		{Kind: "Node", Action: engine.Add | engine.UpdateNodeAllocatable, Queue: f.afterNode},
	}
	if f.extended {
		hints = append(hints, engine.Hint{Kind: "DeviceClass", Action: engine.Add | engine.Update, Queue: fitAfterClass})
	}
	return hints
}

func (f *NodeResourcesFit) afterPod(w *engine.Waiter, e *engine.Event) bool {
	was, is := versions[corev1.Pod](e)
	switch {
	case is == nil:
		return placed(was)
	case w.Self:
		return true
	case is.Spec.NodeName == "":
		return false
	}
	before, after := f.counting.Held(was), f.counting.Held(is)
	for name, q := range f.counting.Held(w.Pod) {
		if !q.IsZero() && amountOf(before, name) > amountOf(after, name) {
			return true
		}
	}
	return false
}

// amountOf is a resource in the unit in which the scheduler counts it; 0 for one that it does not
// count (framework/types.go Resource.SetMaxResource).
func amountOf(list corev1.ResourceList, name corev1.ResourceName) int64 {
	q := list[name]
	switch {
	case name == corev1.ResourceCPU:
		return q.MilliValue()
	case name == corev1.ResourceMemory, name == corev1.ResourceEphemeralStorage, state.IsScalar(name):
		return q.Value()
	}
	return 0
}

// afterNode reports whether the empty node has room for the pod, and is new or offers more of
// what the pod requests than before. The profile's ignored resources count here, as they do
// upstream.
func (f *NodeResourcesFit) afterNode(w *engine.Waiter, e *engine.Event) bool {
	was, is := versions[corev1.Node](e)
	want := stored.Sum{}.Of(w.Pod)
	pods := func(n *corev1.Node) int64 { return n.Status.Allocatable.Pods().Value() }
	if pods(is) < 1 {
		return false
	}
	more := was == nil || pods(is) > pods(was)
	for name := range want {
		n := amountOf(want, name)
		if n <= 0 {
			continue
		}
		have := amountOf(is.Status.Allocatable, name)
		byDevices := f.extended && state.IsScalar(name) && have == 0 && w.State.ExtendedClass(name) != nil
		if n > have && !byDevices {
			return false
		}
		more = more || byDevices || have > amountOf(was.Status.Allocatable, name)
	}
	return more
}

func fitAfterClass(w *engine.Waiter, e *engine.Event) bool {
	was, is := versions[resourcev1.DeviceClass](e)
	own := stored.Sum{}.Of(w.Pod)
	requests := func(name string) bool {
		_, ok := own[corev1.ResourceName(name)]
		return ok
	}
	if was != nil && ptr.Deref(was.Spec.ExtendedResourceName, "") == ptr.Deref(is.Spec.ExtendedResourceName, "") {
		return false
	}
	return was == nil && requests(resourcev1.ResourceDeviceClassPrefix+is.Name) ||
		is.Spec.ExtendedResourceName != nil && requests(*is.Spec.ExtendedResourceName)
}
