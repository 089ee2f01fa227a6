package podlife

import (
	"cmp"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-helpers/storage/ephemeral"

	"berth/internal/kube/object/stored"
	"berth/internal/semantics"
)

// Storage finds the claims and classes of a pod's cluster. A nil Claim knows of none.
type Storage struct {
	// Claim returns a claim; nil for one that is not there.
	Claim func(namespace, name string) *corev1.PersistentVolumeClaim
	// Class returns a class; nil for one that is not there. It may be nil.
	Class func(name string) *storagev1.StorageClass
}

const (
	annBindCompleted = "pv.kubernetes.io/bind-completed"
	annSelectedNode  = "volume.kubernetes.io/selected-node"
)

// Ready reports whether a claim is there and has its volume.
func (s Storage) Ready(namespace, name string) bool {
	c := s.Claim(namespace, name)
	return c != nil && bound(c)
}

// Unmounted returns the first claim of a pod that has a node for which its kubelet has to wait
// before it starts anything, and why, as a sentence; "" where there is none, or where something in
// the pod has been started. forever reports whether nothing in the cluster ends the wait
// (pkg/kubelet/volumemanager/populator desired_state_of_world_populator.go getPVCExtractPV;
// pkg/controller/volume/persistentvolume pv_controller.go syncUnboundClaim).
func (s Storage) Unmounted(pod *corev1.Pod) (claim, why string, forever bool) {
	r := readPod(pod, NodeHealthy, time.Time{}, semantics.Life{})
	if s.Claim == nil || pod.Spec.NodeName == "" || pod.DeletionTimestamp != nil || terminal(pod.Status.Phase) || r.sandboxUsed() {
		return "", "", false
	}
	for i := range pod.Spec.Volumes {
		v := &pod.Spec.Volumes[i]
		switch {
		case v.PersistentVolumeClaim != nil:
			claim = v.PersistentVolumeClaim.ClaimName
		case v.Ephemeral != nil:
			claim = ephemeral.VolumeClaimName(pod, v)
		default:
			continue
		}
		if why, forever = s.unbound(pod, v, claim); why != "" {
			return claim, why, forever
		}
	}
	return "", "", false
}

// unbound judges one claim of a volume.
func (s Storage) unbound(pod *corev1.Pod, v *corev1.Volume, name string) (why string, forever bool) {
	c := s.Claim(cmp.Or(pod.Namespace, metav1.NamespaceDefault), name)
	if c == nil {
		text := fmt.Sprintf("The kubelet waits for claim %s of volume %s, which does not exist", name, v.Name)
		if v.Ephemeral != nil {
			return text + " yet: a controller makes it for the pod.", false
		}
		return text + ".", true
	}
	if bound(c) {
		return "", false
	}
	text := fmt.Sprintf("The kubelet waits for the volume of claim %s, which is not bound", name)
	class := stored.ClaimClass(c)
	var known *storagev1.StorageClass
	if s.Class != nil && class != "" {
		known = s.Class(class)
	}
	switch node := c.Annotations[annSelectedNode]; {
	case c.Spec.VolumeName != "":
		return text + " to volume " + c.Spec.VolumeName + " yet.", false
	case class != "" && known == nil:
		return text + ", and its class " + class + " is not known.", false
	case class == "":
		return text + ": it has no class, so it waits for a volume that is there already.", false
	case known.VolumeBindingMode == nil || *known.VolumeBindingMode != storagev1.VolumeBindingWaitForFirstConsumer:
		return text + " yet: its provisioner " + known.Provisioner + " makes it.", false
	case node != "":
		return text + " yet: " + known.Provisioner + " makes it for node " + node + ", which the scheduler chose.", false
	}
	return text + ", and nothing will make one: class " + class + " waits for a scheduler to choose a node (WaitForFirstConsumer), and no scheduler placed this pod, since it came with " +
		"spec.nodeName. Make the pod anew with a nodeSelector or node affinity instead of nodeName.", true
}

// bound reports whether a claim has its volume. A claim without a phase is one that no controller
// has written to.
func bound(c *corev1.PersistentVolumeClaim) bool {
	if c.Status.Phase == "" {
		_, done := c.Annotations[annBindCompleted]
		return done && c.Spec.VolumeName != ""
	}
	return c.Status.Phase == corev1.ClaimBound && c.Spec.VolumeName != ""
}
