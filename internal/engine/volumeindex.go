package engine

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
)

// volumeIndex sorts volumes and capacities by storage class. It is made when a
// pod first looks for a volume, and anew after any change to storage.
type volumeIndex struct {
	once       sync.Once
	volumes    map[string]*ClassVolumes
	capacities map[string][]*storagev1.CSIStorageCapacity
}

// ClassVolumes are the volumes of one storage class that a claim without a
// volume may get. Those being deleted are none of them.
type ClassVolumes struct {
	// Free are the volumes that are available and nobody's: smallest first, and by
	// name where equal. Not to be written.
	Free     []*corev1.PersistentVolume
	reserved map[[2]string][]*corev1.PersistentVolume
}

// Reserved gives the volumes whose claimRef names a claim, by name. The
// reference's UID is the caller's to compare. Not to be written.
func (c *ClassVolumes) Reserved(namespace, claim string) []*corev1.PersistentVolume {
	return c.reserved[[2]string{namespace, claim}]
}

var noVolumes = &ClassVolumes{}

// ClassVolumes gives the volumes of a class; "" is that of volumes without one.
func (s *State) ClassVolumes(class string) *ClassVolumes {
	if c := s.storage.indexed().volumes[class]; c != nil {
		return c
	}
	return noVolumes
}

// ClassCapacities lists what drivers say is left to provision for a class, by
// namespace and name. Not to be written.
func (s *State) ClassCapacities(class string) []*storagev1.CSIStorageCapacity {
	return s.storage.indexed().capacities[class]
}

func (v *storage) indexed() *volumeIndex {
	v.index.once.Do(func() { v.index.build(v) })
	return v.index
}

func (x *volumeIndex) build(v *storage) {
	x.volumes = map[string]*ClassVolumes{}
	x.capacities = map[string][]*storagev1.CSIStorageCapacity{}
	for _, pv := range v.volumes.all() {
		if pv.DeletionTimestamp != nil {
			continue
		}
		class := VolumeClass(pv)
		c := x.volumes[class]
		if c == nil {
			c = &ClassVolumes{reserved: map[[2]string][]*corev1.PersistentVolume{}}
			x.volumes[class] = c
		}
		switch ref := pv.Spec.ClaimRef; {
		case ref != nil:
			key := [2]string{ref.Namespace, ref.Name}
			c.reserved[key] = append(c.reserved[key], pv)
		case pv.Status.Phase == corev1.VolumeAvailable:
			c.Free = append(c.Free, pv)
		}
	}
	for _, c := range x.volumes {
		slices.SortFunc(c.Free, func(a, b *corev1.PersistentVolume) int {
			p, q := a.Spec.Capacity[corev1.ResourceStorage], b.Spec.Capacity[corev1.ResourceStorage]
			return cmp.Or(p.Cmp(q), strings.Compare(a.Name, b.Name))
		})
	}
	for _, c := range v.capacities.all() {
		x.capacities[c.StorageClassName] = append(x.capacities[c.StorageClassName], c)
	}
}

// VolumeClass gives a volume's storage class; the annotation from before the
// field goes first
// (k8s.io/component-helpers/storage/volume GetPersistentVolumeClass).
func VolumeClass(pv *corev1.PersistentVolume) string {
	if class, ok := pv.Annotations[corev1.BetaStorageClassAnnotation]; ok {
		return class
	}
	return pv.Spec.StorageClassName
}
