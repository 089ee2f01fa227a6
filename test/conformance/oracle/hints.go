package oracle

import (
	"context"
	"fmt"
	"reflect"
	"unsafe"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/backend/queue"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// Object names an object by its kind and name.
type Object struct{ Kind, Namespace, Name string }

// Hints returns what the hints of kube-scheduler's plugins answer to the change of one object
// between two cases that are equal but for it: by each plugin that registers for the change,
// whether the pod of the cases would be tried again if that plugin had rejected it. The hints are
// those of the scheduler's own queue, and the events those of its handlers
// (pkg/scheduler/eventhandlers.go).
func Hints(ctx context.Context, before, after *Case, changed Object) (map[string]bool, error) {
	was, err := decode(before.Objects)
	if err != nil {
		return nil, err
	}
	is, err := decode(after.Objects)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	cl, err := newCluster(ctx, after, is)
	if err != nil {
		return nil, err
	}
	defer cl.sched.SchedulingQueue.Close()
	hints, err := hintsOf(cl)
	if err != nil {
		return nil, err
	}
	out := map[string]bool{}
	ours := func(p *v1.Pod) bool { return cl.sched.Profiles[p.Spec.SchedulerName] != nil }
	for _, e := range eventsOf(cl.pod, ours, was.find(changed), is.find(changed)) {
		for of, list := range hints {
			if !framework.MatchClusterEvents(of, e.event) {
				continue
			}
			for _, h := range list {
				answer, err := h.QueueingHintFn(klog.FromContext(ctx), cl.pod, e.old, e.new)
				out[h.PluginName] = out[h.PluginName] || err != nil || answer == fwk.Queue
			}
		}
	}
	return out, nil
}

// hintsOf reads the hints of the queue, which are unexported.
func hintsOf(cl *cluster) (queue.QueueingHintMap, error) {
	field := reflect.ValueOf(cl.sched.SchedulingQueue).Elem().FieldByName("queueingHintMap")
	if !field.IsValid() {
		return nil, fmt.Errorf("%T has no queueingHintMap", cl.sched.SchedulingQueue)
	}
	all, ok := reflect.NewAt(field.Type(), unsafe.Pointer(field.UnsafeAddr())).Elem().Interface().(queue.QueueingHintMapPerProfile)
	if !ok {
		return nil, fmt.Errorf("queueingHintMap is a %s", field.Type())
	}
	return all[cl.pod.Spec.SchedulerName], nil
}

// find returns an object as the scheduler sees it; nil where it sees none.
func (o *objects) find(of Object) any {
	is := func(obj any) bool {
		m, ok := obj.(metav1.Object)
		return ok && reflect.TypeOf(obj).Elem().Name() == of.Kind && m.GetNamespace() == of.Namespace && m.GetName() == of.Name
	}
	for _, n := range o.nodes {
		if is(n) {
			return n
		}
	}
	for _, p := range o.pods {
		if is(p) && p.Status.Phase != v1.PodSucceeded && p.Status.Phase != v1.PodFailed {
			return p
		}
	}
	for _, obj := range o.other {
		if is(obj) {
			return obj
		}
	}
	return nil
}

type told struct {
	event    fwk.ClusterEvent
	old, new any
}

// eventsOf are the events that the queue hears of for a pod that waits. ours reports whether a pod
// is of a profile of the scheduler.
func eventsOf(waiting *v1.Pod, ours func(*v1.Pod) bool, old, new any) (out []told) {
	if old == nil && new == nil {
		return nil
	}
	some := old
	if some == nil {
		some = new
	}
	switch some.(type) {
	case *v1.Pod:
		was, _ := old.(*v1.Pod)
		is, _ := new.(*v1.Pod)
		return podEvents(waiting, ours, was, is)
	case *v1.Node:
		if old != nil && new != nil {
			for _, e := range framework.NodeSchedulingPropertiesChange(new.(*v1.Node), old.(*v1.Node)) {
				out = append(out, told{e, old, new})
			}
			return out
		}
	}
	action := fwk.Update
	switch {
	case old == nil:
		action = fwk.Add
	case new == nil:
		action = fwk.Delete
	}
	resource, ok := map[string]fwk.EventResource{
		"Node": fwk.Node, "PersistentVolume": fwk.PersistentVolume, "PersistentVolumeClaim": fwk.PersistentVolumeClaim,
		"StorageClass": fwk.StorageClass, "CSINode": fwk.CSINode, "CSIDriver": fwk.CSIDriver,
		"CSIStorageCapacity": fwk.CSIStorageCapacity, "VolumeAttachment": fwk.VolumeAttachment,
		"ResourceClaim": fwk.ResourceClaim, "ResourceSlice": fwk.ResourceSlice, "DeviceClass": fwk.DeviceClass,
	}[reflect.TypeOf(some).Elem().Name()]
	if !ok {
		return nil // the scheduler watches it for other purposes
	}
	return []told{{fwk.ClusterEvent{Resource: resource, ActionType: action}, old, new}}
}

func podEvents(waiting *v1.Pod, ours func(*v1.Pod) bool, was, is *v1.Pod) (out []told) {
	assigned := func(p *v1.Pod) bool { return p != nil && p.Spec.NodeName != "" }
	if was != nil && is != nil && was.UID != is.UID {
		return append(podEvents(waiting, ours, was, nil), podEvents(waiting, ours, nil, is)...)
	}
	// The room of a nomination is left to pods of no higher priority (getLEPriorityPreCheck).
	nomination := func() {
		if ours(was) && was.Status.NominatedNodeName != "" && corev1helpers.PodPriority(waiting) <= corev1helpers.PodPriority(was) {
			out = append(out, told{framework.EventAssignedPodDelete, was, nil})
		}
	}
	switch {
	case assigned(was) && is == nil:
		return []told{{framework.EventAssignedPodDelete, was, nil}}
	case assigned(was):
		for _, e := range podChanges(is, was, false) {
			out = append(out, told{e, was, is})
		}
	case assigned(is):
		return []told{{framework.EventAssignedPodAdd, nil, is}}
	case was != nil && is == nil:
		nomination()
	case was != nil:
		if is == waiting {
			for _, e := range podChanges(is, was, true) {
				out = append(out, told{e, was, is})
			}
		}
		if was.Status.NominatedNodeName != is.Status.NominatedNodeName {
			nomination()
		}
	}
	return out
}
