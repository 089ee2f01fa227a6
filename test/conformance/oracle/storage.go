package oracle

import (
	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/tools/cache"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"k8s.io/kubernetes/pkg/apis/core"
	"k8s.io/kubernetes/pkg/apis/core/validation"
	"k8s.io/kubernetes/pkg/apis/storage"
	storagevalidation "k8s.io/kubernetes/pkg/apis/storage/validation"

	_ "k8s.io/kubernetes/pkg/apis/storage/install"
)

// isStorage reports whether an object is of a kind that rules about volumes read.
func isStorage(obj runtime.Object) bool {
	switch obj.(type) {
	case *v1.PersistentVolume, *v1.PersistentVolumeClaim, *storagev1.StorageClass, *storagev1.CSINode,
		*storagev1.CSIDriver, *storagev1.CSIStorageCapacity, *storagev1.VolumeAttachment:
		return true
	}
	return false
}

// isGlobal reports whether objects of the kind have no namespace.
func isGlobal(obj runtime.Object) bool {
	switch obj.(type) {
	case *v1.PersistentVolume, *storagev1.StorageClass, *storagev1.CSINode, *storagev1.CSIDriver, *storagev1.VolumeAttachment:
		return true
	}
	return false
}

// storageStore is the informer's store for a kind of storage; nil for others.
// The assume caches of VolumeBinding's binder stand on these very stores and
// hear of events only to forget what they assumed, so filling the stores is all
// that they need (volumebinding/passive_assume_cache.go newAssumeCache).
func (cl *cluster) storageStore(obj runtime.Object) cache.Store {
	core, storage := cl.informers.Core().V1(), cl.informers.Storage().V1()
	switch obj.(type) {
	case *v1.PersistentVolume:
		return core.PersistentVolumes().Informer().GetStore()
	case *v1.PersistentVolumeClaim:
		return core.PersistentVolumeClaims().Informer().GetStore()
	case *storagev1.StorageClass:
		return storage.StorageClasses().Informer().GetStore()
	case *storagev1.CSINode:
		return storage.CSINodes().Informer().GetStore()
	case *storagev1.CSIDriver:
		return storage.CSIDrivers().Informer().GetStore()
	case *storagev1.CSIStorageCapacity:
		return storage.CSIStorageCapacities().Informer().GetStore()
	case *storagev1.VolumeAttachment:
		return storage.VolumeAttachments().Informer().GetStore()
	}
	return nil
}

// invalidStorage runs upstream's validation of a kind of storage.
func invalidStorage(obj runtime.Object) (field.ErrorList, error) {
	convert := func(into any) error { return legacyscheme.Scheme.Convert(obj, into, nil) }
	switch obj.(type) {
	case *v1.PersistentVolume:
		var in core.PersistentVolume
		err := convert(&in)
		return validation.ValidatePersistentVolume(&in, validation.ValidationOptionsForPersistentVolume(&in, nil)), err
	case *v1.PersistentVolumeClaim:
		var in core.PersistentVolumeClaim
		err := convert(&in)
		return validation.ValidatePersistentVolumeClaim(&in, validation.ValidationOptionsForPersistentVolumeClaim(&in, nil)), err
	case *storagev1.StorageClass:
		var in storage.StorageClass
		err := convert(&in)
		return storagevalidation.ValidateStorageClass(&in), err
	case *storagev1.CSINode:
		var in storage.CSINode
		err := convert(&in)
		return invalidCSINode(&in), err
	case *storagev1.CSIDriver:
		var in storage.CSIDriver
		err := convert(&in)
		return storagevalidation.ValidateCSIDriver(&in), err
	case *storagev1.CSIStorageCapacity:
		var in storage.CSIStorageCapacity
		err := convert(&in)
		return storagevalidation.ValidateCSIStorageCapacity(&in, storagevalidation.CSIStorageCapacityValidateOptions{}), err
	case *storagev1.VolumeAttachment:
		var in storage.VolumeAttachment
		err := convert(&in)
		return storagevalidation.ValidateVolumeAttachment(&in), err
	}
	return nil, nil
}
