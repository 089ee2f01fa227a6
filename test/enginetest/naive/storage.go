package naive

import (
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
)

// storage is the cluster's objects about volumes, in plain lists.
type storage struct {
	claims      []*corev1.PersistentVolumeClaim
	volumes     []*corev1.PersistentVolume
	classes     []*storagev1.StorageClass
	csiNodes    []*storagev1.CSINode
	attachments []*storagev1.VolumeAttachment
	drivers     []*storagev1.CSIDriver
	pools       []*storagev1.CSIStorageCapacity
}

func (s *storage) add(o any) {
	switch o := o.(type) {
	case *corev1.PersistentVolumeClaim:
		s.claims = append(s.claims, o)
	case *corev1.PersistentVolume:
		s.volumes = append(s.volumes, o)
	case *storagev1.StorageClass:
		s.classes = append(s.classes, o)
	case *storagev1.CSINode:
		s.csiNodes = append(s.csiNodes, o)
	case *storagev1.CSIDriver:
		s.drivers = append(s.drivers, o)
	case *storagev1.CSIStorageCapacity:
		s.pools = append(s.pools, o)
	case *storagev1.VolumeAttachment:
		s.attachments = append(s.attachments, o)
	}
}

func (s *storage) claim(namespace, name string) *corev1.PersistentVolumeClaim {
	for _, c := range s.claims {
		if c.Namespace == namespace && c.Name == name {
			return c
		}
	}
	return nil
}

func (s *storage) volume(name string) *corev1.PersistentVolume {
	for _, v := range s.volumes {
		if v.Name == name {
			return v
		}
	}
	return nil
}

func (s *storage) class(name string) *storagev1.StorageClass {
	for _, c := range s.classes {
		if c.Name == name {
			return c
		}
	}
	return nil
}

func (s *storage) csiNode(name string) *storagev1.CSINode {
	for _, n := range s.csiNodes {
		if n.Name == name {
			return n
		}
	}
	return nil
}
