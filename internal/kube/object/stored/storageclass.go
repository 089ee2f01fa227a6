package stored

import corev1 "k8s.io/api/core/v1"

// ClaimClass returns the name of a claim's storage class, "" for none. The legacy annotation wins
// over the field. It follows GetPersistentVolumeClaimClass in
// k8s.io/component-helpers/storage/volume, which imports client-go with the types of all groups.
func ClaimClass(c *corev1.PersistentVolumeClaim) string {
	if class, ok := c.Annotations[corev1.BetaStorageClassAnnotation]; ok {
		return class
	}
	if c.Spec.StorageClassName != nil {
		return *c.Spec.StorageClassName
	}
	return ""
}
