package incremental

import (
	"bytes"
	"sync"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/engine/state"
)

// maxLikeBytes bounds the pods whose copies need not be encoded, and their keys: some hundred. They
// are held decoded, which may take tens of times their size.
const maxLikeBytes = 128 << 10

// like is a pod that others are copies of, with what they may have of their own that distinguishes
// kinds.
type like struct {
	pod       *corev1.Pod
	priority  int32
	hasPolicy bool
	policy    corev1.PreemptionPolicy
}

// kind is encode, which it spares a pod that is a copy of one.
func (d *Decider) kind(e *encoder, pod, of *corev1.Pod) (key []byte, ok bool) {
	if of == nil || pod.Spec.NodeName != "" || pod.Spec.Priority == nil {
		return e.encode(pod)
	}
	l := like{pod: of, priority: *pod.Spec.Priority}
	if p := pod.Spec.PreemptionPolicy; p != nil {
		l.hasPolicy, l.policy = true, *p
	}
	d.mu.RLock()
	key = d.likes[l]
	d.mu.RUnlock()
	if key != nil {
		return key, true
	}
	if key, ok = e.encode(pod); !ok {
		return nil, false
	}
	// The key leaves out volumes, of which there may be thousands.
	if size := of.Size(); size <= maxLikeBytes/16 {
		d.mu.Lock()
		defer d.mu.Unlock()
		if d.likeBytes += size; d.likeBytes > maxLikeBytes {
			clear(d.likes)
			d.likeBytes = size
		}
		d.likes[l] = bytes.Clone(key)
	}
	return key, ok
}

// encoder holds what encode uses again.
type encoder struct {
	key        []byte
	volumes    []corev1.Volume
	conditions []corev1.PodCondition
}

var encoders = sync.Pool{New: func() any { return new(encoder) }}

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
