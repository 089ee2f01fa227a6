package enginetest

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// MountsVolume adds a volume to the pod.
func MountsVolume(source corev1.VolumeSource) PodOption {
	return func(p *corev1.Pod) {
		p.Spec.Volumes = append(p.Spec.Volumes, corev1.Volume{Name: fmt.Sprintf("v%d", len(p.Spec.Volumes)), VolumeSource: source})
	}
}

// BoundClaim builds a claim in namespace default that is bound to a volume; "" for none.
func BoundClaim(name, volume string, modes ...corev1.PersistentVolumeAccessMode) *corev1.PersistentVolumeClaim {
	c := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
	c.Spec.AccessModes, c.Spec.VolumeName = modes, volume
	if volume != "" {
		c.Annotations = map[string]string{"pv.kubernetes.io/bind-completed": "yes"}
	}
	return c
}

// CSIVolume builds a PersistentVolume of a CSI driver.
func CSIVolume(name, driver, handle string) *corev1.PersistentVolume {
	v := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: name}}
	v.Spec.CSI = &corev1.CSIPersistentVolumeSource{Driver: driver, VolumeHandle: handle}
	return v
}

// CSINode limits the volumes of a driver that a node can attach; below 0 there is no limit.
func CSINode(node, driver string, limit int32) *storagev1.CSINode {
	n := &storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: node}}
	n.Spec.Drivers = []storagev1.CSINodeDriver{{Name: driver, NodeID: node}}
	if limit >= 0 {
		n.Spec.Drivers[0].Allocatable = &storagev1.VolumeNodeResources{Count: &limit}
	}
	return n
}

// Attachment attaches a PersistentVolume to a node.
func Attachment(name, attacher, volume, node string) *storagev1.VolumeAttachment {
	a := &storagev1.VolumeAttachment{ObjectMeta: metav1.ObjectMeta{Name: name}}
	a.Spec.Attacher, a.Spec.NodeName, a.Spec.Source.PersistentVolumeName = attacher, node, &volume
	return a
}
