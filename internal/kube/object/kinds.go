package object

import (
	"reflect"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	resourcev1beta2 "k8s.io/api/resource/v1beta2"
	schedulingv1alpha2 "k8s.io/api/scheduling/v1alpha2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// typed is what every kept kind's Go type offers.
type typed interface {
	runtime.Object
	metav1.Object
}

// kind is one kept kind: how it is pruned, defaulted and validated.
type kind struct {
	name       string
	apiVersion string
	namespaced bool
	keep       *trie
	alloc      func() typed
	goType     reflect.Type                // of what alloc gives
	normalize  func(typed)                 // nil: nothing to default
	validate   func(typed) field.ErrorList // nil: metadata only
	prefix     string                      // of the name of an object without one; empty: it has none
	// later kinds are read by no decision of this release. Other versions of them are
	// left out and not refused, as all versions were before they were kept.
	later bool
}

// define wires one kind's typed functions; either may be nil.
func define[T any, P interface {
	*T
	typed
}](name, apiVersion string, namespaced bool, k keep, normalize func(P), validate func(P) field.ErrorList) *kind {
	d := &kind{
		name: name, apiVersion: apiVersion, namespaced: namespaced, keep: compile(k),
		alloc: func() typed { return P(new(T)) }, goType: reflect.TypeFor[P](),
	}
	if normalize != nil {
		d.normalize = func(o typed) { normalize(o.(P)) }
	}
	if validate != nil {
		d.validate = func(o typed) field.ErrorList { return validate(o.(P)) }
	}
	return d
}

// kinds lists every kind that is kept. Adding one takes a line here and its
// allow-list.
var kinds = byName(
	define("Node", "v1", false, keepNode, defaultNode, validateNode),
	define("Pod", "v1", true, keepPod, defaultPod, validatePod),
	define[corev1.Namespace]("Namespace", "v1", false, keepNamespace, defaultNamespace, nil),
	define("Service", "v1", true, keepService, nil, validateService),
	define[corev1.ReplicationController]("ReplicationController", "v1", true, keepController, defaultController, nil),
	define("ReplicaSet", "apps/v1", true, keepReplicaSet, nil, validateReplicaSet),
	define("StatefulSet", "apps/v1", true, keepStatefulSet, nil, validateStatefulSet),
	define("PriorityClass", "scheduling.k8s.io/v1", false, keepPriorityClass, DefaultClass, validateClassFields),
	define("PodDisruptionBudget", "policy/v1", true, keepPDB, nil, validatePDB),
	define("PersistentVolume", "v1", false, keepPV, defaultPV, validatePV),
	define("PersistentVolumeClaim", "v1", true, keepPVC, defaultPVC, validatePVC),
	define("StorageClass", "storage.k8s.io/v1", false, keepStorageClass, defaultStorageClass, validateStorageClass),
	define("CSINode", "storage.k8s.io/v1", false, keepCSINode, nil, validateCSINode),
	define("CSIDriver", "storage.k8s.io/v1", false, keepCSIDriver, defaultCSIDriver, nil),
	define("CSIStorageCapacity", "storage.k8s.io/v1", true, keepCSICapacity, nil, validateCSICapacity),
	define("VolumeAttachment", "storage.k8s.io/v1", false, keepAttachment, nil, validateAttachment),
	define("ResourceClaim", "resource.k8s.io/v1", true, keepResourceClaim, defaultClaim, validateClaim),
	define("ResourceClaimTemplate", "resource.k8s.io/v1", true, keepClaimTemplate, defaultClaimTemplate, validateClaimTemplate),
	define("ResourceSlice", "resource.k8s.io/v1", false, keepResourceSlice, nil, validateSlice),
	define[resourcev1.DeviceClass]("DeviceClass", "resource.k8s.io/v1", false, keepDeviceClass, nil, nil),
	later(define("Deployment", "apps/v1", true, keepDeployment, nil, validateDeployment)),
	later(define("DaemonSet", "apps/v1", true, keepDaemonSet, nil, validateDaemonSet)),
	later(define("Job", "batch/v1", true, keepJob, nil, validateJob)),
	later(define("CronJob", "batch/v1", true, keepCronJob, nil, validateCronJob)),
	later(define("RuntimeClass", "node.k8s.io/v1", false, keepRuntimeClass, nil, validateRuntimeClass)),
	later(define[corev1.LimitRange]("LimitRange", "v1", true, keepLimitRange, nil, nil)),
	later(define[corev1.ResourceQuota]("ResourceQuota", "v1", true, keepResourceQuota, nil, nil)),
	later(define[schedulingv1alpha2.Workload]("Workload", "scheduling.k8s.io/v1alpha2", true, keepWorkload, nil, nil)),
	later(define[schedulingv1alpha2.PodGroup]("PodGroup", "scheduling.k8s.io/v1alpha2", true, keepPodGroup, nil, nil)),
	later(define[resourcev1beta2.DeviceTaintRule]("DeviceTaintRule", "resource.k8s.io/v1beta2", false, keepDeviceTaintRule, nil, nil)),
)

func later(k *kind) *kind {
	k.later = true
	return k
}

func byName(list ...*kind) map[string]*kind {
	m := make(map[string]*kind, len(list))
	for _, k := range list {
		m[k.name] = k
	}
	return m
}

// Namespaced reports whether objects of a kept kind live in a namespace; known is
// false for a kind that isn't kept.
func Namespaced(kindName string) (namespaced, known bool) {
	k := kinds[kindName]
	return k != nil && k.namespaced, k != nil
}

// ReadLater reports whether a kept kind is read only by releases after this one.
func ReadLater(kindName string) bool {
	k := kinds[kindName]
	return k != nil && k.later
}

// foreign reports whether an apiVersion is of a group that Kubernetes doesn't own: a
// custom resource may bear the name of a kept kind, such as Knative's Service.
func foreign(apiVersion string) bool {
	group, _, hasGroup := strings.Cut(apiVersion, "/")
	return hasGroup && strings.Contains(group, ".") && !strings.HasSuffix(group, ".k8s.io")
}
