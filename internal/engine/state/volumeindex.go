package state

import (
	"slices"
	"sync"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// volumeIndex sorts volumes by storage class. It is made when a pod first looks for a volume, and
// again after volumes changed; poolIndex likewise.
type volumeIndex struct {
	once    sync.Once
	classes map[string]*ClassVolumes
}

type poolIndex struct {
	once    sync.Once
	classes map[string][]*storagev1.CSIStorageCapacity
}

// ClassVolumes are the volumes of one storage class that a claim without a volume may get. Those
// being deleted are left out.
type ClassVolumes struct {
	// Free are the volumes that are available and reserved for no claim: smallest first, and by
	// name where equal. Not to be written.
	Free []*corev1.PersistentVolume
	// Kinds are volumes that differ in mode, access modes or attributes, one of each kind; KindOf
	// is the kind of each of Free.
	Kinds  []*corev1.PersistentVolume
	KindOf []int32

	reserved map[[2]string][]*corev1.PersistentVolume
	reached  atomic.Pointer[reached]
}

// reached is where the free volumes of a class can be used among these nodes.
type reached struct {
	nodes *NodeSet
	of    []Reach
}

// Reserved returns the volumes whose claimRef names a claim, by name. The caller compares the
// reference's UID. Not to be written.
func (c *ClassVolumes) Reserved(namespace, claim string) []*corev1.PersistentVolume {
	return c.reserved[[2]string{namespace, claim}]
}

// Reaches returns the reach of each of Free. Not to be written.
func (c *ClassVolumes) Reaches(nodes *NodeSet) []Reach {
	if r := c.reached.Load(); r != nil && r.nodes == nodes {
		return r.of
	}
	r := &reached{nodes: nodes, of: make([]Reach, len(c.Free))}
	for i, pv := range c.Free {
		r.of[i] = *nodes.VolumeReach(pv)
	}
	c.reached.Store(r)
	return r.of
}

var noVolumes = &ClassVolumes{}

// ClassVolumes returns the volumes of a class; "" is that of volumes without one.
func (s *State) ClassVolumes(class string) *ClassVolumes {
	x := s.storage.index
	x.once.Do(func() { x.build(s.storage.volumes.all()) })
	if c := x.classes[class]; c != nil {
		return c
	}
	return noVolumes
}

// ClassCapacities lists the capacities that drivers publish for a class, by namespace and name. Not
// to be written.
func (s *State) ClassCapacities(class string) []*storagev1.CSIStorageCapacity {
	x := s.storage.pools
	x.once.Do(func() {
		x.classes = map[string][]*storagev1.CSIStorageCapacity{}
		for _, c := range s.storage.capacities.all() {
			x.classes[c.StorageClassName] = append(x.classes[c.StorageClassName], c)
		}
	})
	return x.classes[class]
}

// build sorts volumes, which are listed by name.
func (x *volumeIndex) build(volumes []*corev1.PersistentVolume) {
	x.classes = map[string]*ClassVolumes{}
	type sized struct {
		size resource.Quantity
		pv   *corev1.PersistentVolume
	}
	free := map[string][]sized{}
	for _, pv := range volumes {
		if pv.DeletionTimestamp != nil {
			continue
		}
		class := volumeClass(pv)
		c := x.classes[class]
		if c == nil {
			c = &ClassVolumes{reserved: map[[2]string][]*corev1.PersistentVolume{}}
			x.classes[class] = c
		}
		switch ref := pv.Spec.ClaimRef; {
		case ref != nil:
			key := [2]string{ref.Namespace, ref.Name}
			c.reserved[key] = append(c.reserved[key], pv)
		case pv.Status.Phase == corev1.VolumeAvailable:
			free[class] = append(free[class], sized{pv.Spec.Capacity[corev1.ResourceStorage], pv})
		}
	}
	for class, list := range free {
		slices.SortStableFunc(list, func(a, b sized) int { return a.size.Cmp(b.size) })
		c := x.classes[class]
		kinds := map[string]int32{}
		for _, e := range list {
			c.Free = append(c.Free, e.pv)
			key := volumeKind(&e.pv.Spec)
			k, ok := kinds[key]
			if !ok {
				k = int32(len(c.Kinds))
				kinds[key] = k
				c.Kinds = append(c.Kinds, e.pv)
			}
			c.KindOf = append(c.KindOf, k)
		}
	}
}

// volumeKind writes what volumes of one kind have in common.
func volumeKind(v *corev1.PersistentVolumeSpec) string {
	var k memoKey
	k = k.flag(v.VolumeMode != nil)
	if v.VolumeMode != nil {
		k = k.text(string(*v.VolumeMode))
	}
	k = k.flag(v.VolumeAttributesClassName != nil)
	if v.VolumeAttributesClassName != nil {
		k = k.text(*v.VolumeAttributesClassName)
	}
	k = k.number(len(v.AccessModes))
	for _, m := range v.AccessModes {
		k = k.text(string(m))
	}
	return string(k)
}

// volumeClass returns a volume's storage class. The legacy annotation wins over the field
// (k8s.io/component-helpers/storage/volume GetPersistentVolumeClass).
func volumeClass(pv *corev1.PersistentVolume) string {
	if class, ok := pv.Annotations[corev1.BetaStorageClassAnnotation]; ok {
		return class
	}
	return pv.Spec.StorageClassName
}
