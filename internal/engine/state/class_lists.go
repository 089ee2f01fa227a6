package state

import (
	"cmp"
	"slices"

	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
)

// PriorityClasses lists the snapshot's classes, the lowest value first and among equals by name.
// They are not to be written.
func (s *State) PriorityClasses() []*schedulingv1.PriorityClass {
	out := make([]*schedulingv1.PriorityClass, 0, len(s.classes))
	for _, c := range s.classes {
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b *schedulingv1.PriorityClass) int {
		return cmp.Or(cmp.Compare(a.Value, b.Value), cmp.Compare(a.Name, b.Name))
	})
	return out
}

// StorageClasses lists the storage classes by name. They are not to be written.
func (s *State) StorageClasses() []*storagev1.StorageClass {
	out := slices.Clone(s.storage.classes.all())
	slices.SortFunc(out, func(a, b *storagev1.StorageClass) int { return cmp.Compare(a.Name, b.Name) })
	return out
}
