package rules

import (
	"reflect"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"berth/internal/engine"
)

// Hints returns those of a class whose claims wait for their pod, a node that is new or relabelled,
// the pod's own claim, and a volume that is new or in other zones (plugins/volumezone
// isSchedulableAfterPersistentVolumeChange and those beside it).
func (VolumeZone) Hints() []engine.Hint {
	return []engine.Hint{
		{Kind: "StorageClass", Action: engine.Add, Queue: func(_ *engine.Waiter, e *engine.Event) bool {
			_, is := versions[storagev1.StorageClass](e)
			return is.VolumeBindingMode != nil && *is.VolumeBindingMode == storagev1.VolumeBindingWaitForFirstConsumer
		}},
		{Kind: "Node", Action: engine.Add | engine.UpdateNodeLabel},
		{Kind: "PersistentVolumeClaim", Action: engine.Add | engine.Update, Queue: ofNamedClaim},
		{Kind: "PersistentVolume", Action: engine.Add | engine.Update, Queue: func(_ *engine.Waiter, e *engine.Event) bool {
			was, is := versions[corev1.PersistentVolume](e)
			return was == nil || !reflect.DeepEqual(zonesOf(was), zonesOf(is))
		}},
	}
}

// zonesOf returns the zones of a volume's labels that parse, as sets.
func zonesOf(pv *corev1.PersistentVolume) map[string]map[string]bool {
	out := map[string]map[string]bool{}
	for _, l := range zoneLabels {
		value, ok := pv.Labels[l.key]
		zones := labelZones(value)
		if !ok || zones == nil {
			continue
		}
		out[l.key] = map[string]bool{}
		for _, z := range zones {
			out[l.key][z] = true
		}
	}
	return out
}
