package rules

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/engine"
	"berth/internal/engine/state"
)

// Hints returns those of a pod of the namespace that goes and shared a disk or a claim, of a new
// node, and of the pod's own claim (plugins/volumerestrictions isSchedulableAfterPodDeleted,
// isSchedulableAfterPersistentVolumeClaimAdded).
func (VolumeRestrictions) Hints() []engine.Hint {
	return []engine.Hint{
		{Kind: "Pod", Action: engine.Delete, Queue: freesVolume},
		{Kind: "Node", Action: engine.Add},
		{Kind: "PersistentVolumeClaim", Action: engine.Add, Queue: ofNamedClaim},
	}
}

func freesVolume(w *engine.Waiter, e *engine.Event) bool {
	was, _ := versions[corev1.Pod](e)
	if was.Namespace != w.Pod.Namespace {
		return false
	}
	theirs := state.Disks(was)
	for _, d := range state.Disks(w.Pod) {
		if slices.ContainsFunc(theirs, func(o state.Disk) bool { return d.Conflicts(&o) }) {
			return true
		}
	}
	return slices.ContainsFunc(was.Spec.Volumes, func(v corev1.Volume) bool {
		return v.PersistentVolumeClaim != nil && namesClaim(w.Pod, v.PersistentVolumeClaim.ClaimName)
	})
}
