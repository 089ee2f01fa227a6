package recall

import (
	corev1 "k8s.io/api/core/v1"

	"berth/internal/engine/state"
)

// encoder holds what encode uses again.
type encoder struct {
	key        []byte
	volumes    []corev1.Volume
	conditions []corev1.PodCondition
}

// encode returns what distinguishes a pod from those of another kind, valid until the next call. No
// rule reads that it waited, or a volume that has a name and nothing else that is kept, such as the
// one with the token of the pod's service account, whose name is different in each pod.
func (e *encoder) encode(pod *corev1.Pod) (key []byte, ok bool) {
	kind := *pod
	meta := &kind.ObjectMeta
	meta.Name, meta.GenerateName, meta.UID, meta.ResourceVersion = "", "", "", ""
	meta.CreationTimestamp.Reset()
	meta.Annotations = state.WithoutOrder(meta.Annotations)
	meta.ManagedFields = nil
	e.conditions = e.conditions[:0]
	for i := range pod.Status.Conditions {
		if c := &pod.Status.Conditions[i]; c.Type != corev1.PodScheduled {
			e.conditions = append(e.conditions, *c)
		}
	}
	kind.Status.Conditions = e.conditions
	e.volumes = e.volumes[:0]
	for i := range pod.Spec.Volumes {
		v := &pod.Spec.Volumes[i]
		if v.VolumeSource != (corev1.VolumeSource{EmptyDir: v.EmptyDir, Projected: v.Projected}) {
			e.volumes = append(e.volumes, *v)
		}
	}
	kind.Spec.Volumes = e.volumes
	size := kind.Size()
	if cap(e.key) < size {
		e.key = make([]byte, 2*size)
	}
	n, err := kind.MarshalToSizedBuffer(e.key[:size])
	return e.key[size-n : size], err == nil
}
