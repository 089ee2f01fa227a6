package apiserver

import (
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/kubernetes/pkg/apis/core"
	corev1internal "k8s.io/kubernetes/pkg/apis/core/v1"
	corevalidation "k8s.io/kubernetes/pkg/apis/core/validation"
	nodev1internal "k8s.io/kubernetes/pkg/apis/node/v1"
	nodevalidation "k8s.io/kubernetes/pkg/apis/node/validation"
	"k8s.io/kubernetes/pkg/apis/policy"
	policyv1internal "k8s.io/kubernetes/pkg/apis/policy/v1"
	policyvalidation "k8s.io/kubernetes/pkg/apis/policy/validation"
	resourcev1internal "k8s.io/kubernetes/pkg/apis/resource/v1"
	resourcevalidation "k8s.io/kubernetes/pkg/apis/resource/validation"
	schedulingv1internal "k8s.io/kubernetes/pkg/apis/scheduling/v1"
	schedulingvalidation "k8s.io/kubernetes/pkg/apis/scheduling/validation"
	"k8s.io/kubernetes/pkg/apis/storage"
	storagev1internal "k8s.io/kubernetes/pkg/apis/storage/v1"
	storagevalidation "k8s.io/kubernetes/pkg/apis/storage/validation"
)

// kinds are the judges of all kinds but Pod, as upstream's strategies call the same functions
// (pkg/registry/<group>/<kind>/strategy.go Validate, ValidateUpdate). What a strategy makes of the
// object that is there is not here: ValidateUpdate takes what it has as it is.
var kinds = map[string]judge{
	"Node": of(corev1internal.SetObjectDefaults_Node, corev1internal.Convert_v1_Node_To_core_Node,
		corevalidation.ValidateNode, corevalidation.ValidateNodeUpdate),
	"Namespace": of(corev1internal.SetObjectDefaults_Namespace,
		corev1internal.Convert_v1_Namespace_To_core_Namespace,
		corevalidation.ValidateNamespace, corevalidation.ValidateNamespaceUpdate),
	"Service": prepared(corev1internal.SetObjectDefaults_Service,
		corev1internal.Convert_v1_Service_To_core_Service, listAddress,
		corevalidation.ValidateServiceCreate, corevalidation.ValidateServiceUpdate),
	"ResourceQuota": of(corev1internal.SetObjectDefaults_ResourceQuota,
		corev1internal.Convert_v1_ResourceQuota_To_core_ResourceQuota,
		corevalidation.ValidateResourceQuota, corevalidation.ValidateResourceQuotaUpdate),
	"LimitRange": of(corev1internal.SetObjectDefaults_LimitRange,
		corev1internal.Convert_v1_LimitRange_To_core_LimitRange,
		corevalidation.ValidateLimitRange, asNew(corevalidation.ValidateLimitRange)),
	"PersistentVolume": of(corev1internal.SetObjectDefaults_PersistentVolume,
		corev1internal.Convert_v1_PersistentVolume_To_core_PersistentVolume,
		validateVolume, updateVolume),
	"PersistentVolumeClaim": of(corev1internal.SetObjectDefaults_PersistentVolumeClaim,
		corev1internal.Convert_v1_PersistentVolumeClaim_To_core_PersistentVolumeClaim,
		validateClaim, updateClaim),

	"ReplicationController": replicationController,
	"ReplicaSet":            replicaSet,
	"Deployment":            deployment,
	"StatefulSet":           statefulSet,
	"DaemonSet":             daemonSet,
	"Job":                   job,
	"CronJob":               cronJob,

	"PodDisruptionBudget": of(nil,
		policyv1internal.Convert_v1_PodDisruptionBudget_To_policy_PodDisruptionBudget,
		validateBudget, asNew(validateBudget)),
	"PriorityClass": of(schedulingv1internal.SetObjectDefaults_PriorityClass,
		schedulingv1internal.Convert_v1_PriorityClass_To_scheduling_PriorityClass,
		schedulingvalidation.ValidatePriorityClass, schedulingvalidation.ValidatePriorityClassUpdate),
	"RuntimeClass": of(nil, nodev1internal.Convert_v1_RuntimeClass_To_node_RuntimeClass,
		nodevalidation.ValidateRuntimeClass, nodevalidation.ValidateRuntimeClassUpdate),

	"StorageClass": prepared(storagev1internal.SetObjectDefaults_StorageClass,
		storagev1internal.Convert_v1_StorageClass_To_storage_StorageClass, checkTopologies,
		storagevalidation.ValidateStorageClass, storagevalidation.ValidateStorageClassUpdate),
	"CSINode": prepared(nil, storagev1internal.Convert_v1_CSINode_To_storage_CSINode, checkDrivers,
		storagevalidation.ValidateCSINode, storagevalidation.ValidateCSINodeUpdate),
	"CSIDriver": of(storagev1internal.SetObjectDefaults_CSIDriver,
		storagev1internal.Convert_v1_CSIDriver_To_storage_CSIDriver,
		storagevalidation.ValidateCSIDriver, storagevalidation.ValidateCSIDriverUpdate),
	"CSIStorageCapacity": of(nil,
		storagev1internal.Convert_v1_CSIStorageCapacity_To_storage_CSIStorageCapacity,
		validateCapacity, storagevalidation.ValidateCSIStorageCapacityUpdate),
	"VolumeAttachment": of(storagev1internal.SetObjectDefaults_VolumeAttachment,
		storagev1internal.Convert_v1_VolumeAttachment_To_storage_VolumeAttachment,
		storagevalidation.ValidateVolumeAttachment, storagevalidation.ValidateVolumeAttachmentUpdate),

	"ResourceClaim": prepared(resourcev1internal.SetObjectDefaults_ResourceClaim,
		resourcev1internal.Convert_v1_ResourceClaim_To_resource_ResourceClaim, checkClaim,
		resourcevalidation.ValidateResourceClaim, resourcevalidation.ValidateResourceClaimUpdate),
	"ResourceClaimTemplate": prepared(resourcev1internal.SetObjectDefaults_ResourceClaimTemplate,
		resourcev1internal.Convert_v1_ResourceClaimTemplate_To_resource_ResourceClaimTemplate,
		checkClaimTemplate, resourcevalidation.ValidateResourceClaimTemplate,
		resourcevalidation.ValidateResourceClaimTemplateUpdate),
	"ResourceSlice": of(resourcev1internal.SetObjectDefaults_ResourceSlice,
		resourcev1internal.Convert_v1_ResourceSlice_To_resource_ResourceSlice,
		resourcevalidation.ValidateResourceSlice, resourcevalidation.ValidateResourceSliceUpdate),
	// The same in all versions.
	"DeviceTaintRule": of(resourcev1internal.SetObjectDefaults_DeviceTaintRule,
		resourcev1internal.Convert_v1_DeviceTaintRule_To_resource_DeviceTaintRule,
		resourcevalidation.ValidateDeviceTaintRule, resourcevalidation.ValidateDeviceTaintRuleUpdate),
	"DeviceClass": prepared(nil, resourcev1internal.Convert_v1_DeviceClass_To_resource_DeviceClass,
		checkDeviceClass, resourcevalidation.ValidateDeviceClass, resourcevalidation.ValidateDeviceClassUpdate),
}

// asNew is the update of a kind that is judged as a new object is.
func asNew[I any](create func(*I) field.ErrorList) func(now, old *I) field.ErrorList {
	return func(now, _ *I) field.ErrorList { return create(now) }
}

// listAddress lists the address of a service that gives one alone (pkg/registry/core/service
// strategy.go, NormalizeClusterIPs of an object that is created).
func listAddress(s *core.Service) field.ErrorList {
	if s.Spec.ClusterIP != "" && len(s.Spec.ClusterIPs) == 0 {
		s.Spec.ClusterIPs = []string{s.Spec.ClusterIP}
	}
	return nil
}

func validateVolume(v *core.PersistentVolume) field.ErrorList {
	opts := corevalidation.ValidationOptionsForPersistentVolume(v, nil)
	return corevalidation.ValidatePersistentVolume(v, opts)
}

func updateVolume(now, old *core.PersistentVolume) field.ErrorList {
	opts := corevalidation.ValidationOptionsForPersistentVolume(now, old)
	return corevalidation.ValidatePersistentVolumeUpdate(now, old, opts)
}

func validateClaim(c *core.PersistentVolumeClaim) field.ErrorList {
	opts := corevalidation.ValidationOptionsForPersistentVolumeClaim(c, nil)
	return corevalidation.ValidatePersistentVolumeClaim(c, opts)
}

func updateClaim(now, old *core.PersistentVolumeClaim) field.ErrorList {
	opts := corevalidation.ValidationOptionsForPersistentVolumeClaim(now, old)
	return corevalidation.ValidatePersistentVolumeClaimUpdate(now, old, opts)
}

func validateBudget(b *policy.PodDisruptionBudget) field.ErrorList {
	opts := policyvalidation.PodDisruptionBudgetValidationOptions{}
	return policyvalidation.ValidatePodDisruptionBudget(b, opts)
}

func validateCapacity(c *storage.CSIStorageCapacity) field.ErrorList {
	opts := storagevalidation.CSIStorageCapacityValidateOptions{}
	return storagevalidation.ValidateCSIStorageCapacity(c, opts)
}
