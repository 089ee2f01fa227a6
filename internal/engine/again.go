package engine

import corev1 "k8s.io/api/core/v1"

// Keep lets a result be given again, before it is released for the first time. It is what Shared
// and SharedByKind keep things for.
func (r *Result) Keep() { r.shared, r.ofKind = map[any]any{}, map[any]any{} }

// Kept reports whether Keep was called, so that what is made for one pod may serve others.
func (r *Result) Kept() bool { return r.ofKind != nil }

// Again makes a kept result that of a question about a pod that differs in nothing that a rule
// reads, on the same state and with the same bound on its work. It chooses again among equal nodes.
// It returns false where the caller's context has ended: there is no answer then.
func (r *Result) Again(pod *corev1.Pod, o Options) bool {
	if o.Context != nil && o.Context.Err() != nil {
		return false
	}
	q, row := r.Query, r.Row
	chooser := q.chooser()
	if q.timeRead && !q.Options.Now.Equal(o.Now) {
		clear(r.ofKind)
		r.kindBytes, q.timeRead = 0, false
	}
	q.Pod, q.Options, q.named, r.Digest = pod, o, nil, ""
	if r.Scored && q.chooser() != chooser {
		r.Row = -1
		r.choose()
	}
	if r.Row != row {
		clear(r.shared)
	}
	return true
}

// Shared returns what an earlier call with the same key, about the same answer, returned: the same
// node was chosen for an equal pod on the same state. It is not to be written, and kept only where
// the answer may be given again.
func Shared[T any](r *Result, key any, work func() T) T {
	if v, ok := r.shared[key]; ok {
		return v.(T)
	}
	v := work()
	if r.shared != nil {
		r.shared[key] = v
	}
	return v
}

// maxShared bounds the bytes of what SharedByKind keeps of one result.
const maxShared = 256 << 10

// SharedByKind is Shared for what does not depend on the pod's name and UID, nor on which of equal
// nodes was chosen. Work also returns how many bytes to keep.
func SharedByKind[T any](r *Result, key any, work func() (v T, bytes int)) T {
	if v, ok := r.ofKind[key]; ok {
		return v.(T)
	}
	v, bytes := work()
	if r.ofKind != nil && r.kindBytes+bytes <= maxShared {
		r.ofKind[key] = v
		r.kindBytes += bytes
	}
	return v
}

// Pieces is how many pieces of scratch memory the result holds.
func (r *Result) Pieces() int {
	s := r.Query.scratch
	return s.bits.used + s.columns.used + s.counts.used
}

// Bytes is about how many bytes of scratch memory the result holds, and keeps from others, with
// those of SharedByKind.
func (r *Result) Bytes() int {
	s := r.Query.scratch
	return r.kindBytes + 8*len(s.bits.list)*((s.rows+63)/64) + s.rows*(8*len(s.columns.list)+4*len(s.counts.list))
}
