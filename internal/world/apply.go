package world

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/kube/object"
)

// Appliable are the kinds that Apply takes, beside those that have an event of their own.
var Appliable = []string{
	"CSIDriver", "CSINode", "CSIStorageCapacity", "DeviceClass", "Namespace", "Node", "PersistentVolume",
	"PersistentVolumeClaim", "PriorityClass", "ResourceClaim", "ResourceQuota", "ResourceSlice", "Service", "StorageClass",
}

// Apply has an object stored as it is, of a kind that is appliable. A node keeps what its kubelet
// and controllers wrote: its conditions, their taints, and a cordon.
func (w *World) Apply(o object.Object) error {
	named := strings.TrimPrefix(o.Key.Namespace+"/"+o.Key.Name, "/")
	m := Moment{What: Applied, Owner: o.Key.Kind + "/" + named}
	switch v := o.Value.(type) {
	case *corev1.Node:
		w.tell(Moment{What: Applied, Node: v.Name})
		err := w.changeNode(v.Name, func(n *corev1.Node) {
			next := v.DeepCopy()
			n.Labels, n.Annotations = next.Labels, next.Annotations
			n.Status.Allocatable, n.Status.Capacity = next.Status.Allocatable, next.Status.Capacity
			own := slices.DeleteFunc(slices.Clone(n.Spec.Taints), func(t corev1.Taint) bool { return !byController(t.Key) })
			n.Spec.Taints = append(slices.DeleteFunc(next.Spec.Taints, func(t corev1.Taint) bool { return byController(t.Key) }), own...)
		})
		if err != nil {
			return err
		}
		return w.evictByTaints(v.Name, false)
	case *corev1.ResourceQuota:
		w.quotas.put(v)
		w.tell(m)
		return nil
	}
	w.tell(m)
	w.changes++
	w.event()
	if err := w.walk.Changes().Put(o.Value); err != nil {
		return fmt.Errorf("%s: %w", m.Owner, err)
	}
	w.keep(o)
	return nil
}

// keep has views show an object that no state reads.
func (w *World) keep(o object.Object) {
	w.touch(o.Key)
	if w.applied == nil {
		w.applied = map[object.Key]any{}
	}
	w.applied[o.Key] = o.Value
}

// byController reports whether a taint of this key is written by controllers of nodes.
func byController(key string) bool { return strings.HasPrefix(key, "node.kubernetes.io/") }
