package stored

import (
	"fmt"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	policyv1 "k8s.io/api/policy/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Only what decisions depend on is validated, in an apiserver's words, and
// never more strictly than an apiserver of v1.36 would: what comes from a real
// cluster must pass.

// checkKey validates a label's key.
func checkKey(key string, path *field.Path) field.ErrorList {
	return metavalidation.ValidateLabelName(key, path)
}

// MaxUID is how many bytes a UID may have; an apiserver's have 36.
const MaxUID = 253

// ValidateMeta checks names, labels, UIDs and owners (upstream apimachinery
// pkg/api/validation, ValidateObjectMeta).
func ValidateMeta(meta *metav1.ObjectMeta, kind string, namespaced bool) field.ErrorList {
	path := field.NewPath("metadata")
	errs := apivalidation.ValidateObjectMeta(meta, namespaced, nameFunc(kind), path)
	errs = append(errs, checkTime(&meta.CreationTimestamp, path.Child("creationTimestamp"))...)
	errs = append(errs, checkTime(meta.DeletionTimestamp, path.Child("deletionTimestamp"))...)
	// An apiserver makes UIDs itself and checks none; stores take no NUL, and records hold them.
	switch uid := string(meta.UID); {
	case len(uid) > MaxUID:
		errs = append(errs, field.TooLong(path.Child("uid"), "", MaxUID))
	case strings.ContainsRune(uid, 0):
		errs = append(errs, field.Invalid(path.Child("uid"), uid, "must not hold a NUL"))
	}
	if namespaced && len(validation.IsDNS1123Label(meta.Namespace)) > 0 {
		// ValidateObjectMeta has said so already, except for what it lets pass.
		if len(errs) == 0 {
			errs = append(errs, field.Invalid(path.Child("namespace"), meta.Namespace, "must be a DNS label"))
		}
	}
	return errs
}

func nameFunc(kind string) apivalidation.ValidateNameFunc {
	switch kind {
	case "Namespace", "Service":
		return apivalidation.NameIsDNSLabel
	}
	return apivalidation.NameIsDNSSubdomain
}

// Validate returns what no API server would have stored in an object, beside its metadata.
func Validate(o runtime.Object) field.ErrorList {
	switch x := o.(type) {
	case *corev1.Node:
		return validateNode(x)
	case *corev1.Pod:
		return validatePod(x)
	case *corev1.Service:
		return validateService(x)
	case *appsv1.ReplicaSet:
		return requireSelector(x.Spec.Selector)
	case *appsv1.StatefulSet:
		return requireSelector(x.Spec.Selector)
	case *appsv1.Deployment:
		return validateDeployment(x)
	case *appsv1.DaemonSet:
		return requireSelector(x.Spec.Selector)
	case *batchv1.Job:
		return validateJob(x)
	case *batchv1.CronJob:
		return validateCronJob(x)
	case *schedulingv1.PriorityClass:
		return validateClassFields(x)
	case *policyv1.PodDisruptionBudget:
		return validatePDB(x)
	case *corev1.PersistentVolume:
		return validatePV(x)
	case *corev1.PersistentVolumeClaim:
		return validatePVC(x)
	case *storagev1.StorageClass:
		return validateStorageClass(x)
	case *storagev1.CSINode:
		return validateCSINode(x)
	case *storagev1.CSIStorageCapacity:
		return validateCSICapacity(x)
	case *storagev1.VolumeAttachment:
		return validateAttachment(x)
	case *resourcev1.ResourceClaim:
		return validateClaim(x)
	case *resourcev1.ResourceClaimTemplate:
		return validateClaimTemplate(x)
	case *resourcev1.ResourceSlice:
		return validateSlice(x)
	case *nodev1.RuntimeClass:
		return validateRuntimeClass(x)
	}
	return nil
}

// checkTime refuses times that RFC 3339 cannot write in UTC: a year of 9999 in
// another zone may be 10000 here.
func checkTime(t *metav1.Time, path *field.Path) field.ErrorList {
	if t == nil || t.IsZero() {
		return nil
	}
	if year := t.UTC().Year(); year < 0 || year > 9999 {
		return field.ErrorList{field.Invalid(path, t.UTC().Format(time.RFC3339), "year must be within 0 and 9999")}
	}
	return nil
}

func checkSelector(s *metav1.LabelSelector, path *field.Path) field.ErrorList {
	return metavalidation.ValidateLabelSelector(s, metavalidation.LabelSelectorValidationOptions{}, path)
}

func checkNotNegative(v int64, path *field.Path) field.ErrorList {
	return apivalidation.ValidateNonnegativeField(v, path)
}

// checkOptionalEnum refuses values outside a closed set; an empty value passes.
func checkOptionalEnum[T ~string](v T, path *field.Path, allowed ...T) field.ErrorList {
	if v == "" {
		return nil
	}
	for _, a := range allowed {
		if v == a {
			return nil
		}
	}
	return field.ErrorList{field.NotSupported(path, v, allowed)}
}

// validateNode follows upstream ValidateNode, whose path for taints is
// metadata.taints, not spec.taints.
func validateNode(n *corev1.Node) field.ErrorList {
	errs := checkTaints(n.Spec.Taints, field.NewPath("metadata", "taints"))
	status := field.NewPath("status")
	errs = append(errs, checkQuantities(n.Status.Capacity, func(r string) *field.Path { return field.NewPath("status", "capacity", r) })...)
	errs = append(errs, checkQuantities(n.Status.Allocatable, func(r string) *field.Path { return field.NewPath("status", "allocatable", r) })...)
	for i, image := range n.Status.Images {
		errs = append(errs, checkNotNegative(image.SizeBytes, status.Child("images").Index(i).Child("sizeBytes"))...)
	}
	return errs
}

func checkTaints(taints []corev1.Taint, path *field.Path) (errs field.ErrorList) {
	seen := map[corev1.Taint]bool{}
	for i, t := range taints {
		at := path.Index(i)
		errs = append(errs, checkKey(t.Key, at.Child("key"))...)
		for _, msg := range validation.IsValidLabelValue(t.Value) {
			errs = append(errs, field.Invalid(at.Child("value"), t.Value, msg))
		}
		if t.Effect == "" {
			errs = append(errs, field.Required(at.Child("effect"), ""))
		}
		errs = append(errs, checkOptionalEnum(t.Effect, at.Child("effect"), taintEffects...)...)
		id := corev1.Taint{Key: t.Key, Effect: t.Effect}
		if seen[id] {
			dup := field.Duplicate(at, fmt.Sprintf("%s:%s", t.Key, t.Effect))
			dup.Detail = "taints must be unique by key and effect pair"
			errs = append(errs, dup)
		}
		seen[id] = true
	}
	return errs
}

var taintEffects = []corev1.TaintEffect{
	corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectNoExecute,
}

// checkQuantities validates each amount of a list.
func checkQuantities(list corev1.ResourceList, path func(name string) *field.Path) (errs field.ErrorList) {
	for name, q := range list {
		errs = append(errs, validateQuantity(name, q, path(string(name)))...)
	}
	sortErrors(errs)
	return errs
}

// sortErrors puts errors that were found by ranging over a map in the order of their fields.
func sortErrors(errs field.ErrorList) {
	slices.SortStableFunc(errs, func(a, b *field.Error) int { return strings.Compare(a.Field, b.Field) })
}
