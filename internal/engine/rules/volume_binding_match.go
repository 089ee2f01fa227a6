package rules

import (
	"fmt"
	"slices"
	"sort"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"berth/internal/engine"
	"berth/internal/engine/state"
	"berth/internal/kube/object"
	"berth/internal/kube/object/stored"
)

// match is the existing volume that a claim would get, by node.
type match struct {
	claim *corev1.PersistentVolumeClaim
	taken []*corev1.PersistentVolume
	index []int32 // by row: one more than the index into taken; 0 without
	none  state.Bits
}

// at returns the volume for a row; nil without.
func (m *match) at(row int) *corev1.PersistentVolume {
	if i := m.index[row]; i > 0 {
		return m.taken[i-1]
	}
	return nil
}

// wish is what a claim requires of a volume beside its class and size.
type wish struct {
	claim    *corev1.PersistentVolumeClaim
	selector labels.Selector // nil without
}

// match finds a volume for a claim on each of the open nodes. A volume reserved for the claim comes
// first; a node that such a volume does not reach gets none. Otherwise it is the smallest that is
// large enough. Volumes that the pod's other claims got on a node are taken
// (k8s.io/component-helpers/storage/volume FindMatchingVolume).
func (b *bindings) match(q *engine.Query, c *corev1.PersistentVolumeClaim, open state.Bits) (*match, error) {
	m := &match{claim: c, index: q.Counts(q.Nodes.Len()), none: q.Bits()}
	copy(m.none, open)
	w := &wish{claim: c}
	if c.Spec.Selector != nil {
		sel, err := metav1.LabelSelectorAsSelector(c.Spec.Selector)
		if err != nil {
			return nil, fmt.Errorf("error creating internal label selector for claim: %s/%s: %w", c.Namespace, c.Name, object.FewProblems(err))
		}
		w.selector = sel
	}
	size := c.Spec.Resources.Requests[corev1.ResourceStorage]
	holds := func(pv *corev1.PersistentVolume) bool {
		capacity := pv.Spec.Capacity[corev1.ResourceStorage]
		return capacity.Cmp(size) >= 0
	}
	of := q.State.ClassVolumes(stored.ClaimClass(c))
	left := q.Bits()
	copy(left, open)
	for _, pv := range of.Reserved(c.Namespace, c.Name) {
		if uid := pv.Spec.ClaimRef.UID; uid != "" && uid != c.UID || !holds(pv) || !w.sameMode(pv) {
			continue
		}
		b.take(m, pv, q.Nodes.VolumeReach(pv), left)
		// If it is not taken already, the nodes that it does not reach get nothing.
		for row := range left.All() {
			if !b.got(row, pv) {
				left.Clear(row)
			}
		}
	}
	n := left.Count()
	from := sort.Search(len(of.Free), func(i int) bool { return holds(of.Free[i]) })
	suits := make([]bool, len(of.Kinds))
	for i, pv := range of.Kinds {
		suits[i] = w.sameMode(pv) && w.admits(pv)
	}
	reach := of.Reaches(q.Nodes)
	for i := from; i < len(of.Free) && n > 0; i++ {
		if suits[of.KindOf[i]] && (w.selector == nil || w.selector.Matches(labels.Set(of.Free[i].Labels))) {
			n -= b.take(m, of.Free[i], &reach[i], left)
		}
	}
	return m, nil
}

// take assigns a volume to the claim on those rows of left that it reaches, removes these from left
// and returns their number.
func (b *bindings) take(m *match, pv *corev1.PersistentVolume, reach *state.Reach, left state.Bits) int {
	n := 0
	give := func(row int) {
		if b.got(row, pv) {
			return
		}
		if n == 0 {
			m.taken = append(m.taken, pv)
		}
		n++
		m.index[row] = int32(len(m.taken))
		m.none.Clear(row)
		left.Clear(row)
	}
	if reach.Many == nil {
		for _, row := range reach.Few {
			if left.Has(int(row)) {
				give(int(row))
			}
		}
		return n
	}
	for row := range reach.Many.AllAnd(left) {
		give(row)
	}
	return n
}

// got reports whether an earlier claim of the pod got the volume on a row.
func (b *bindings) got(row int, pv *corev1.PersistentVolume) bool {
	for _, m := range b.matched {
		if m.at(row) == pv {
			return true
		}
	}
	return false
}

// sameMode reports whether the volume's mode and attributes class are the claim's.
func (w *wish) sameMode(pv *corev1.PersistentVolume) bool {
	return volumeMode(w.claim.Spec.VolumeMode) == volumeMode(pv.Spec.VolumeMode) &&
		text(w.claim.Spec.VolumeAttributesClassName) == text(pv.Spec.VolumeAttributesClassName)
}

// admits reports whether a volume that is reserved for no claim has the access modes that the claim
// requires.
func (w *wish) admits(pv *corev1.PersistentVolume) bool {
	for _, mode := range w.claim.Spec.AccessModes {
		if !slices.Contains(pv.Spec.AccessModes, mode) {
			return false
		}
	}
	return true
}

func volumeMode(m *corev1.PersistentVolumeMode) corev1.PersistentVolumeMode {
	if m == nil {
		return corev1.PersistentVolumeFilesystem
	}
	return *m
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
