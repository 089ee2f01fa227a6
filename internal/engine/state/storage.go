package state

import (
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
)

// storage holds the objects that the rules about volumes read. A state without such objects has
// none, so that clusters without volumes pay nothing.
type storage struct {
	volumes     objectTable[*corev1.PersistentVolume]
	claims      objectTable[*corev1.PersistentVolumeClaim]
	classes     objectTable[*storagev1.StorageClass]
	csiNodes    objectTable[*storagev1.CSINode]
	drivers     objectTable[*storagev1.CSIDriver]
	capacities  objectTable[*storagev1.CSIStorageCapacity]
	attachments objectTable[*storagev1.VolumeAttachment]

	index *volumeIndex // of these tables
	pools *poolIndex
}

// put stores an object of one of the kinds. It returns false for any other kind.
func (v *storage) put(edit uint64, obj any) bool {
	switch o := obj.(type) {
	case *corev1.PersistentVolume:
		v.volumes.put(edit, "", o.Name, o)
	case *corev1.PersistentVolumeClaim:
		v.claims.put(edit, o.Namespace, o.Name, o)
	case *storagev1.StorageClass:
		v.classes.put(edit, "", o.Name, o)
	case *storagev1.CSINode:
		v.csiNodes.put(edit, "", o.Name, o)
	case *storagev1.CSIDriver:
		v.drivers.put(edit, "", o.Name, o)
	case *storagev1.CSIStorageCapacity:
		v.capacities.put(edit, o.Namespace, o.Name, o)
	case *storagev1.VolumeAttachment:
		v.attachments.put(edit, "", o.Name, o)
	default:
		return false
	}
	return true
}

// remove removes an object. It returns false for any other kind.
func (v *storage) remove(edit uint64, kind, namespace, name string) bool {
	switch kind {
	case "PersistentVolume":
		v.volumes.remove(edit, "", name)
	case "PersistentVolumeClaim":
		v.claims.remove(edit, namespace, name)
	case "StorageClass":
		v.classes.remove(edit, "", name)
	case "CSINode":
		v.csiNodes.remove(edit, "", name)
	case "CSIDriver":
		v.drivers.remove(edit, "", name)
	case "CSIStorageCapacity":
		v.capacities.remove(edit, namespace, name)
	case "VolumeAttachment":
		v.attachments.remove(edit, "", name)
	default:
		return false
	}
	return true
}

// PersistentVolume finds one; nil without.
func (s *State) PersistentVolume(name string) *corev1.PersistentVolume {
	return s.storage.volumes.get("", name)
}

// PersistentVolumes lists them by name.
func (s *State) PersistentVolumes() []*corev1.PersistentVolume { return s.storage.volumes.all() }

// PersistentVolumeClaim finds one; nil without.
func (s *State) PersistentVolumeClaim(namespace, name string) *corev1.PersistentVolumeClaim {
	return s.storage.claims.get(namespace, name)
}

// StorageClass finds one; nil without.
func (s *State) StorageClass(name string) *storagev1.StorageClass {
	return s.storage.classes.get("", name)
}

// CSINode finds the CSINode of a node; nil without.
func (s *State) CSINode(node string) *storagev1.CSINode { return s.storage.csiNodes.get("", node) }

// CSIDriver finds one; nil without.
func (s *State) CSIDriver(name string) *storagev1.CSIDriver { return s.storage.drivers.get("", name) }

// CSIStorageCapacities lists them by namespace and name.
func (s *State) CSIStorageCapacities() []*storagev1.CSIStorageCapacity {
	return s.storage.capacities.all()
}

// VolumeAttachments lists them by name.
func (s *State) VolumeAttachments() []*storagev1.VolumeAttachment { return s.storage.attachments.all() }
