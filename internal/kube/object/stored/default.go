package stored

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Default sets the defaults of an object's kind. Doing it twice is doing it once.
func Default(o runtime.Object) {
	switch x := o.(type) {
	case *corev1.Node:
		defaultNode(x)
	case *corev1.Pod:
		defaultPod(x)
	case *corev1.Namespace:
		defaultNamespace(x)
	case *corev1.ReplicationController:
		defaultController(x)
	case *schedulingv1.PriorityClass:
		DefaultClass(x)
	case *corev1.PersistentVolume:
		defaultPV(x)
	case *corev1.PersistentVolumeClaim:
		defaultPVC(x)
	case *storagev1.StorageClass:
		defaultStorageClass(x)
	case *storagev1.CSIDriver:
		defaultCSIDriver(x)
	case *resourcev1.ResourceClaim:
		defaultDevices(&x.Spec.Devices)
	case *resourcev1.ResourceClaimTemplate:
		defaultDevices(&x.Spec.Spec.Devices)
	}
}

// defaultNode takes allocatable, which the scheduler reads, from capacity where it is missing
// as a whole (upstream SetDefaults_NodeStatus): a resource that an allocatable leaves out is one
// that the node does not offer. An empty list is missing too, for an API server stores none.
func defaultNode(n *corev1.Node) {
	roundUp(n.Status.Capacity)
	roundUp(n.Status.Allocatable)
	if len(n.Status.Allocatable) == 0 {
		addMissing(&n.Status.Allocatable, n.Status.Capacity)
	}
}

// defaultNamespace sets the label that namespace selectors rely on (upstream
// SetDefaults_Namespace).
func defaultNamespace(n *corev1.Namespace) {
	if n.Name == "" {
		return
	}
	if n.Labels == nil {
		n.Labels = map[string]string{}
	}
	n.Labels[corev1.LabelMetadataName] = n.Name
}

// defaultController takes the selector from the template's labels, as
// SetDefaults_ReplicationController does.
func defaultController(c *corev1.ReplicationController) {
	if t := c.Spec.Template; t != nil && len(c.Spec.Selector) == 0 {
		c.Spec.Selector = maps.Clone(t.Labels)
	}
}

func defaultPV(v *corev1.PersistentVolume) {
	roundUp(v.Spec.Capacity)
	if v.Spec.VolumeMode == nil {
		v.Spec.VolumeMode = new(corev1.PersistentVolumeFilesystem)
	}
	if v.Status.Phase == "" {
		v.Status.Phase = corev1.VolumePending
	}
	defaultAzureDisk(v.Spec.AzureDisk)
}

// defaultAzureDisk is upstream's SetDefaults_AzureDiskVolumeSource, of which only
// the kind is kept.
func defaultAzureDisk(d *corev1.AzureDiskVolumeSource) {
	if d != nil && d.Kind == nil {
		d.Kind = new(corev1.AzureSharedBlobDisk)
	}
}

func defaultPVC(c *corev1.PersistentVolumeClaim) {
	defaultClaimSpec(&c.Spec)
	if c.Status.Phase == "" {
		c.Status.Phase = corev1.ClaimPending
	}
}

func defaultClaimSpec(s *corev1.PersistentVolumeClaimSpec) {
	roundUp(s.Resources.Requests)
	if s.VolumeMode == nil {
		s.VolumeMode = new(corev1.PersistentVolumeFilesystem)
	}
}

func defaultStorageClass(c *storagev1.StorageClass) {
	if c.VolumeBindingMode == nil {
		c.VolumeBindingMode = new(storagev1.VolumeBindingImmediate)
	}
}

func defaultCSIDriver(d *storagev1.CSIDriver) {
	if d.Spec.AttachRequired == nil {
		d.Spec.AttachRequired = new(true)
	}
	if d.Spec.StorageCapacity == nil {
		d.Spec.StorageCapacity = new(false)
	}
}

// defaultDevices is upstream pkg/apis/resource/v1/defaults.go: one device,
// counted exactly.
func defaultDevices(c *resourcev1.DeviceClaim) {
	set := func(mode *resourcev1.DeviceAllocationMode, count *int64) {
		if *mode == "" {
			*mode = resourcev1.DeviceAllocationModeExactCount
		}
		if *mode == resourcev1.DeviceAllocationModeExactCount && *count == 0 {
			*count = 1
		}
	}
	for i := range c.Requests {
		r := &c.Requests[i]
		if r.Exactly != nil {
			set(&r.Exactly.AllocationMode, &r.Exactly.Count)
		}
		for j := range r.FirstAvailable {
			set(&r.FirstAvailable[j].AllocationMode, &r.FirstAvailable[j].Count)
		}
	}
}
