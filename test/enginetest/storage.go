package enginetest

import (
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// VolumeOption changes a volume that is being built.
type VolumeOption func(*corev1.PersistentVolume)

// Volume builds an available volume of a class; size is a quantity.
func Volume(name, class, size string, opts ...VolumeOption) *corev1.PersistentVolume {
	v := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID("volume-" + name), Labels: map[string]string{}}}
	v.Spec.StorageClassName = class
	v.Spec.Capacity = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(size)}
	v.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
	v.Spec.CSI = &corev1.CSIPersistentVolumeSource{Driver: "csi.example.com", VolumeHandle: name}
	v.Status.Phase = corev1.VolumeAvailable
	for _, o := range opts {
		o(v)
	}
	return v
}

// ReachableFrom lets a volume be used where a label has one of the values.
func ReachableFrom(key string, values ...string) VolumeOption {
	return func(v *corev1.PersistentVolume) {
		v.Spec.NodeAffinity = &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{
			{MatchExpressions: []corev1.NodeSelectorRequirement{Expr(key, corev1.NodeSelectorOpIn, values...)}},
		}}}
	}
}

// VolumeLabels adds labels, given as key, value, key, value.
func VolumeLabels(kv ...string) VolumeOption {
	return func(v *corev1.PersistentVolume) {
		for i := 0; i < len(kv); i += 2 {
			v.Labels[kv[i]] = kv[i+1]
		}
	}
}

// ReservedFor makes a volume one claim's, of namespace default.
func ReservedFor(claim string) VolumeOption {
	return func(v *corev1.PersistentVolume) {
		v.Spec.ClaimRef = &corev1.ObjectReference{Namespace: "default", Name: claim}
	}
}

// ClaimOption changes a claim that is being built.
type ClaimOption func(*corev1.PersistentVolumeClaim)

// Claim builds a claim in namespace default that has no volume yet.
func Claim(name, class, size string, opts ...ClaimOption) *corev1.PersistentVolumeClaim {
	c := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID("claim-" + name), Annotations: map[string]string{}}}
	c.Spec.StorageClassName = &class
	c.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
	c.Spec.Resources.Requests = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(size)}
	c.Status.Phase = corev1.ClaimPending
	for _, o := range opts {
		o(c)
	}
	return c
}

// BoundTo binds a claim wholly to a volume.
func BoundTo(volume string) ClaimOption {
	return func(c *corev1.PersistentVolumeClaim) {
		c.Spec.VolumeName, c.Status.Phase = volume, corev1.ClaimBound
		c.Annotations["pv.kubernetes.io/bind-completed"] = "yes"
	}
}

// Class builds a storage class whose claims wait for their pod.
func Class(name, provisioner string) *storagev1.StorageClass {
	mode := storagev1.VolumeBindingWaitForFirstConsumer
	return &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Provisioner: provisioner, VolumeBindingMode: &mode}
}

// Mounts returns a pod claims.
func Mounts(claims ...string) PodOption {
	return func(p *corev1.Pod) {
		for _, c := range claims {
			v := corev1.Volume{Name: "vol-" + c}
			v.PersistentVolumeClaim = &corev1.PersistentVolumeClaimVolumeSource{ClaimName: c}
			p.Spec.Volumes = append(p.Spec.Volumes, v)
		}
	}
}
