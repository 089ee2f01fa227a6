package rules

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth/internal/engine"
)

// annByController marks a claim and a volume that a controller bound, as opposed to their author.
const annByController = "pv.kubernetes.io/bound-by-controller"

// PreBind binds the claims that waited for the node. A matched volume is bound completely, as it is
// once kube-scheduler's PreBind has waited for the volume controller. A claim that needs a new
// volume is annotated with the selected node, for its provisioner (plugins/volumebinding/binder.go
// AssumePodVolumes, BindPodVolumes; k8s.io/component-helpers/storage/volume GetBindVolumeToClaim;
// pkg/controller/volume/persistentvolume bindVolumeToClaim, bindClaimToVolume).
func (VolumeBinding) PreBind(q *engine.Query, b *bindings, row int, a *engine.Effects) error {
	if b == nil {
		return nil
	}
	b.work(q)
	for i, c := range b.late {
		if slices.Contains(b.late[:i], c) {
			continue // mounted twice: one volume is enough
		}
		k := slices.IndexFunc(b.matched, func(m *match) bool { return m.claim == c })
		if k < 0 || b.matched[k].at(row) == nil {
			if node := q.Nodes.Node(row).Name; c.Annotations[annSelectedNode] != node {
				made := c.DeepCopy()
				metav1.SetMetaDataAnnotation(&made.ObjectMeta, annSelectedNode, node)
				a.VolumeClaims = append(a.VolumeClaims, made)
			}
			continue
		}
		pv := b.matched[k].at(row).DeepCopy()
		if pv.Spec.ClaimRef == nil { // otherwise the volume's author reserved it for the claim
			metav1.SetMetaDataAnnotation(&pv.ObjectMeta, annByController, "yes")
		}
		pv.Spec.ClaimRef = &corev1.ObjectReference{Namespace: c.Namespace, Name: c.Name, UID: c.UID}
		pv.Status.Phase = corev1.VolumeBound
		claim := c.DeepCopy()
		claim.Spec.VolumeName, claim.Status.Phase = pv.Name, corev1.ClaimBound
		metav1.SetMetaDataAnnotation(&claim.ObjectMeta, annByController, "yes")
		metav1.SetMetaDataAnnotation(&claim.ObjectMeta, annBindCompleted, "yes")
		a.Volumes = append(a.Volumes, pv)
		a.VolumeClaims = append(a.VolumeClaims, claim)
	}
	return nil
}
