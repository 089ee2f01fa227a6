package rules

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	"berth/internal/engine"
)

// Hints returns those of storage classes, the pod's own claims, volumes, nodes, CSINodes,
// CSIDrivers and capacities (plugins/volumebinding EventsToRegister and the functions beside it).
func (VolumeBinding) Hints() []engine.Hint {
	return []engine.Hint{
		{Kind: "StorageClass", Action: engine.Add | engine.Update, Queue: func(_ *engine.Waiter, e *engine.Event) bool {
			was, is := versions[storagev1.StorageClass](e)
			return was == nil || !equality.Semantic.DeepEqual(was.AllowedTopologies, is.AllowedTopologies)
		}},
		{Kind: "PersistentVolumeClaim", Action: engine.Add | engine.Update, Queue: ofOwnClaim},
		{Kind: "PersistentVolume", Action: engine.Add | engine.Update},
		{Kind: "Node", Action: engine.Add | engine.UpdateNodeLabel},
		{Kind: "CSINode", Action: engine.Add | engine.Update, Queue: func(_ *engine.Waiter, e *engine.Event) bool {
			was, is := versions[storagev1.CSINode](e)
			const key = corev1.MigratedPluginsAnnotationKey
			return was == nil || was.Annotations[key] != is.Annotations[key]
		}},
		{Kind: "CSIDriver", Action: engine.Update, Queue: stopsCounting},
		{Kind: "CSIStorageCapacity", Action: engine.Add | engine.Update, Queue: func(_ *engine.Waiter, e *engine.Event) bool {
			was, is := versions[storagev1.CSIStorageCapacity](e)
			if was == nil {
				return true
			}
			before, after := volumeLimit(was), volumeLimit(is)
			return after != nil && (before == nil || after.Value() > before.Value())
		}},
	}
}

// stopsCounting reports whether a driver of an inline volume of the pod stops to publish
// capacities.
func stopsCounting(w *engine.Waiter, e *engine.Event) bool {
	was, is := versions[storagev1.CSIDriver](e)
	return ptr.Deref(was.Spec.StorageCapacity, false) && !ptr.Deref(is.Spec.StorageCapacity, false) &&
		slices.ContainsFunc(w.Pod.Spec.Volumes, func(v corev1.Volume) bool { return v.CSI != nil && v.CSI.Driver == is.Name })
}

// volumeLimit is the largest volume that a capacity has room for; nil where it is not known.
func volumeLimit(c *storagev1.CSIStorageCapacity) *resource.Quantity {
	if c.MaximumVolumeSize != nil {
		return c.MaximumVolumeSize
	}
	return c.Capacity
}
