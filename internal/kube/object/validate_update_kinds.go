package object

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// ValidateKindUpdate returns what an API server refuses in an object of a kind other than Pod and
// PriorityClass that is to replace another of its kind and name: changes of immutable fields, as
// far as they are kept, and what ValidateKindCreate refuses, unless the other has such a fault too:
// a snapshot is taken as it is. Neither is written (upstream
// pkg/apis/{apps,batch,core,node,resource,storage}/validation, Validate…Update).
func ValidateKindUpdate(now, old Object) field.ErrorList {
	errs := validateImmutable(now, old)
	if faults := ValidateKindCreate(now, nil); len(faults) > 0 && len(ValidateKindCreate(old, nil)) == 0 {
		errs = append(faults, errs...)
	}
	return errs
}

func validateImmutable(now, old Object) field.ErrorList {
	switch o := now.Value.(type) {
	case *appsv1.ReplicaSet:
		return immutable(o.Spec.Selector, old.Value.(*appsv1.ReplicaSet).Spec.Selector, "spec", "selector")
	case *appsv1.StatefulSet:
		return immutable(o.Spec.Selector, old.Value.(*appsv1.StatefulSet).Spec.Selector, "spec", "selector")
	case *appsv1.Deployment:
		return immutable(o.Spec.Selector, old.Value.(*appsv1.Deployment).Spec.Selector, "spec", "selector")
	case *appsv1.DaemonSet:
		return immutable(o.Spec.Selector, old.Value.(*appsv1.DaemonSet).Spec.Selector, "spec", "selector")
	case *batchv1.Job:
		s, was := &o.Spec, &old.Value.(*batchv1.Job).Spec
		return slices.Concat(immutable(s.Selector, was.Selector, "spec", "selector"),
			immutable(s.CompletionMode, was.CompletionMode, "spec", "completionMode"),
			immutable(s.PodFailurePolicy, was.PodFailurePolicy, "spec", "podFailurePolicy"),
			immutable(s.BackoffLimitPerIndex, was.BackoffLimitPerIndex, "spec", "backoffLimitPerIndex"),
			immutable(s.ManagedBy, was.ManagedBy, "spec", "managedBy"),
			immutable(s.SuccessPolicy, was.SuccessPolicy, "spec", "successPolicy"))
	case *nodev1.RuntimeClass:
		return immutable(o.Handler, old.Value.(*nodev1.RuntimeClass).Handler, "handler")
	case *corev1.PersistentVolume:
		return validatePVUpdate(&o.Spec, &old.Value.(*corev1.PersistentVolume).Spec)
	case *corev1.PersistentVolumeClaim:
		return validatePVCUpdate(o, old.Value.(*corev1.PersistentVolumeClaim))
	case *storagev1.StorageClass:
		was := old.Value.(*storagev1.StorageClass)
		return append(immutable(o.Provisioner, was.Provisioner, "provisioner"),
			immutable(o.VolumeBindingMode, was.VolumeBindingMode, "volumeBindingMode")...)
	case *storagev1.CSINode:
		return validateCSINodeUpdate(o, old.Value.(*storagev1.CSINode))
	case *storagev1.CSIDriver:
		return immutable(o.Spec.AttachRequired, old.Value.(*storagev1.CSIDriver).Spec.AttachRequired, "spec", "attachRequired")
	case *storagev1.CSIStorageCapacity:
		was := old.Value.(*storagev1.CSIStorageCapacity)
		return append(immutable(o.NodeTopology, was.NodeTopology, "nodeTopology"),
			immutable(o.StorageClassName, was.StorageClassName, "storageClassName")...)
	case *storagev1.VolumeAttachment:
		return immutable(o.Spec, old.Value.(*storagev1.VolumeAttachment).Spec, "spec")
	case *resourcev1.ResourceClaim:
		return immutable(o.Spec, old.Value.(*resourcev1.ResourceClaim).Spec, "spec")
	case *resourcev1.ResourceClaimTemplate:
		return immutable(o.Spec, old.Value.(*resourcev1.ResourceClaimTemplate).Spec, "spec")
	case *resourcev1.ResourceSlice:
		s, was := &o.Spec, &old.Value.(*resourcev1.ResourceSlice).Spec
		return slices.Concat(immutable(s.Pool.Name, was.Pool.Name, "spec", "pool", "name"),
			immutable(s.Driver, was.Driver, "spec", "driver"), immutable(s.NodeName, was.NodeName, "spec", "nodeName"))
	}
	return nil
}

// immutable refuses a change of a field.
func immutable(now, old any, name string, more ...string) field.ErrorList {
	if apiequality.Semantic.DeepEqual(now, old) {
		return nil
	}
	return field.ErrorList{field.Invalid(field.NewPath(name, more...), field.OmitValueType{}, apivalidation.FieldImmutableErrorMsg)}
}

// validatePVUpdate is ValidatePersistentVolumeUpdate.
func validatePVUpdate(now, old *corev1.PersistentVolumeSpec) field.ErrorList {
	spec := field.NewPath("spec")
	var errs field.ErrorList
	if !apiequality.Semantic.DeepEqual(now.PersistentVolumeSource, old.PersistentVolumeSource) {
		errs = append(errs, field.Forbidden(spec.Child("persistentvolumesource"), "spec.persistentvolumesource is immutable after creation"))
	}
	errs = append(errs, immutable(now.VolumeMode, old.VolumeMode, "spec", "volumeMode")...)
	if old.NodeAffinity != nil && !sameButGA(now.NodeAffinity, old.NodeAffinity) {
		errs = append(errs, field.Invalid(spec.Child("nodeAffinity"), field.OmitValueType{}, apivalidation.FieldImmutableErrorMsg+", except for updating from beta label to GA"))
	}
	if old.VolumeAttributesClassName != nil && now.VolumeAttributesClassName == nil {
		errs = append(errs, field.Forbidden(spec.Child("volumeAttributesClassName"), "update from non-nil value to nil is forbidden"))
	}
	return errs
}

// gaLabels are the labels of nodes that have taken the place of beta ones.
var gaLabels = map[string]string{
	corev1.LabelFailureDomainBetaZone: corev1.LabelTopologyZone, corev1.LabelFailureDomainBetaRegion: corev1.LabelTopologyRegion,
	corev1.LabelInstanceType: corev1.LabelInstanceTypeStable, "beta.kubernetes.io/os": corev1.LabelOSStable, "beta.kubernetes.io/arch": corev1.LabelArchStable,
}

// sameButGA reports whether node affinities are the same but for beta labels of the old one
// (getMaskNodeSelectorLabelChangeEqualities).
func sameButGA(now, old *corev1.VolumeNodeAffinity) bool {
	if now == nil || now.Required == nil || old.Required == nil || len(now.Required.NodeSelectorTerms) != len(old.Required.NodeSelectorTerms) {
		return apiequality.Semantic.DeepEqual(now, old)
	}
	old = old.DeepCopy()
	for i, term := range old.Required.NodeSelectorTerms {
		list := now.Required.NodeSelectorTerms[i].MatchExpressions
		for k := range min(len(list), len(term.MatchExpressions)) {
			if at := &term.MatchExpressions[k]; gaLabels[at.Key] == list[k].Key {
				at.Key = list[k].Key
			}
		}
	}
	return apiequality.Semantic.DeepEqual(now, old)
}

// validatePVCUpdate is ValidatePersistentVolumeClaimUpdate. A claim may shrink, since the capacity
// that it has reached is not kept.
func validatePVCUpdate(now, old *corev1.PersistentVolumeClaim) field.ErrorList {
	s, was := now.Spec.DeepCopy(), &old.Spec
	if was.VolumeName == "" {
		s.VolumeName = ""
	}
	class, annotated := old.Annotations[corev1.BetaStorageClassAnnotation]
	if was.StorageClassName == nil && s.StorageClassName != nil && (!annotated || *s.StorageClassName == class) {
		s.StorageClassName = nil
	}
	if old.Status.Phase == corev1.ClaimBound {
		if size, ok := was.Resources.Requests[corev1.ResourceStorage]; ok && s.Resources.Requests != nil {
			s.Resources.Requests[corev1.ResourceStorage] = size
		}
		s.VolumeAttributesClassName = was.VolumeAttributesClassName
	}
	if apiequality.Semantic.DeepEqual(*s, *was) {
		return nil
	}
	return field.ErrorList{field.Forbidden(field.NewPath("spec"), "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims")}
}

// validateCSINodeUpdate refuses changes of a driver but of how many volumes it takes.
func validateCSINodeUpdate(now, old *storagev1.CSINode) field.ErrorList {
	keys := make(map[string][]string, len(old.Spec.Drivers))
	for _, d := range old.Spec.Drivers {
		keys[d.Name] = d.TopologyKeys
	}
	for _, d := range now.Spec.Drivers {
		if was, ok := keys[d.Name]; ok {
			if errs := immutable(d.TopologyKeys, was, "spec", "drivers"); errs != nil {
				return errs
			}
		}
	}
	return nil
}
