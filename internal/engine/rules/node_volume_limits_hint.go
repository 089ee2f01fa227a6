package rules

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	csitranslation "k8s.io/csi-translation-lib"
	"k8s.io/klog/v2"

	"berth/internal/engine"
)

// Hints returns those of a CSINode that is new or allows more, of a pod with volumes that goes, of
// the pod's own claim, and of an attachment that goes (plugins/nodevolumelimits/csi.go
// isSchedulableAfterCSINodeUpdated and those beside it).
func (NodeVolumeLimits) Hints() []engine.Hint {
	return []engine.Hint{
		{Kind: "CSINode", Action: engine.Add},
		{Kind: "CSINode", Action: engine.Update, Queue: allowsMore},
		{Kind: "Pod", Action: engine.Delete, Queue: func(_ *engine.Waiter, e *engine.Event) bool {
			was, _ := versions[corev1.Pod](e)
			return placed(was) && slices.ContainsFunc(was.Spec.Volumes, func(v corev1.Volume) bool {
				return v.PersistentVolumeClaim != nil || v.Ephemeral != nil || inlineMigratable(&v)
			})
		}},
		{Kind: "PersistentVolumeClaim", Action: engine.Add, Queue: ofOwnClaim},
		{Kind: "VolumeAttachment", Action: engine.Delete, Queue: freesAttachment},
	}
}

func allowsMore(_ *engine.Waiter, e *engine.Event) bool {
	was, is := versions[storagev1.CSINode](e)
	limits := func(n *storagev1.CSINode) map[string]int32 {
		of := map[string]int32{}
		for _, d := range n.Spec.Drivers {
			of[d.Name] = 0
			if d.Allocatable != nil && d.Allocatable.Count != nil {
				of[d.Name] = *d.Allocatable.Count
			}
		}
		return of
	}
	before := limits(was)
	for driver, n := range limits(is) {
		if n > before[driver] {
			return true
		}
	}
	return false
}

func freesAttachment(w *engine.Waiter, e *engine.Event) bool {
	was, _ := versions[storagev1.VolumeAttachment](e)
	for i := range w.Pod.Spec.Volumes {
		v := &w.Pod.Spec.Volumes[i]
		if v.PersistentVolumeClaim != nil {
			return true
		}
		if !inlineMigratable(v) {
			continue
		}
		pv, err := csitranslation.New().TranslateInTreeInlineVolumeToCSI(klog.Logger{}, v, w.Pod.Namespace)
		if err != nil || pv == nil || pv.Spec.CSI != nil && pv.Spec.CSI.Driver == was.Spec.Attacher {
			return true
		}
	}
	return false
}

// inlineMigratable reports whether a CSI driver serves the volume in place of its in-tree plugin.
func inlineMigratable(v *corev1.Volume) bool { return csitranslation.New().IsInlineMigratable(v) }
