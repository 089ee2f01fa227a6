package object

import (
	"reflect"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	policyv1 "k8s.io/api/policy/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"berth/internal/kube/object/stored"
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
	goType     reflect.Type                         // of what alloc gives
	validate   func(runtime.Object) field.ErrorList // beside metadata
	prefix     string                               // of the name of an object without one; empty: it has none
	// later kinds are read by no decision of any release. Other versions of them are
	// left out and not refused, as all versions were before they were kept.
	later bool
	// older are the kind in versions that clusters of older releases serve. An object is kept in
	// the version that it came in.
	older []*kind
}

// define returns a kind of a Go type.
func define[T any, P interface {
	*T
	typed
}](name, apiVersion string, namespaced bool, k keep,
) *kind {
	return &kind{
		name: name, apiVersion: apiVersion, namespaced: namespaced, keep: compile(k),
		alloc: func() typed { return P(new(T)) }, goType: reflect.TypeFor[P](),
		validate: stored.Validate,
	}
}

// kinds lists every kind that is kept. Adding one takes a line here and its
// allow-list.
var kinds = byName(
	define[corev1.Node]("Node", "v1", false, keepNode),
	define[corev1.Pod]("Pod", "v1", true, keepPod),
	define[corev1.Namespace]("Namespace", "v1", false, keepNamespace),
	define[corev1.Service]("Service", "v1", true, keepService),
	define[corev1.ReplicationController]("ReplicationController", "v1", true, keepController),
	define[appsv1.ReplicaSet]("ReplicaSet", "apps/v1", true, keepReplicaSet),
	define[appsv1.StatefulSet]("StatefulSet", "apps/v1", true, keepStatefulSet),
	define[schedulingv1.PriorityClass]("PriorityClass", "scheduling.k8s.io/v1", false, keepPriorityClass),
	define[policyv1.PodDisruptionBudget]("PodDisruptionBudget", "policy/v1", true, keepPDB),
	define[corev1.PersistentVolume]("PersistentVolume", "v1", false, keepPV),
	define[corev1.PersistentVolumeClaim]("PersistentVolumeClaim", "v1", true, keepPVC),
	define[storagev1.StorageClass]("StorageClass", "storage.k8s.io/v1", false, keepStorageClass),
	define[storagev1.CSINode]("CSINode", "storage.k8s.io/v1", false, keepCSINode),
	define[storagev1.CSIDriver]("CSIDriver", "storage.k8s.io/v1", false, keepCSIDriver),
	define[storagev1.CSIStorageCapacity]("CSIStorageCapacity", "storage.k8s.io/v1", true, keepCSICapacity),
	define[storagev1.VolumeAttachment]("VolumeAttachment", "storage.k8s.io/v1", false, keepAttachment),
	define[resourcev1.ResourceClaim]("ResourceClaim", "resource.k8s.io/v1", true, keepResourceClaim),
	define[resourcev1.ResourceClaimTemplate]("ResourceClaimTemplate", "resource.k8s.io/v1", true, keepClaimTemplate),
	define[resourcev1.ResourceSlice]("ResourceSlice", "resource.k8s.io/v1", false, keepResourceSlice),
	define[resourcev1.DeviceClass]("DeviceClass", "resource.k8s.io/v1", false, keepDeviceClass),
	later(define[appsv1.Deployment]("Deployment", "apps/v1", true, keepDeployment)),
	later(define[appsv1.DaemonSet]("DaemonSet", "apps/v1", true, keepDaemonSet)),
	later(define[batchv1.Job]("Job", "batch/v1", true, keepJob)),
	later(define[batchv1.CronJob]("CronJob", "batch/v1", true, keepCronJob)),
	later(define[nodev1.RuntimeClass]("RuntimeClass", "node.k8s.io/v1", false, keepRuntimeClass)),
	later(define[corev1.LimitRange]("LimitRange", "v1", true, keepLimitRange)),
	later(define[corev1.ResourceQuota]("ResourceQuota", "v1", true, keepResourceQuota)),
	later(define[schedulingv1beta1.Workload]("Workload", "scheduling.k8s.io/v1beta1", true, keepWorkload),
		define[oldWorkload]("Workload", "scheduling.k8s.io/v1alpha2", true, keepOldWorkload)),
	later(define[schedulingv1beta1.PodGroup]("PodGroup", "scheduling.k8s.io/v1beta1", true, keepPodGroup),
		define[oldPodGroup]("PodGroup", "scheduling.k8s.io/v1alpha2", true, keepOldPodGroup)),
	// Its fields are the same in all versions.
	define[resourcev1.DeviceTaintRule]("DeviceTaintRule", "resource.k8s.io/v1", false, keepDeviceTaintRule).or(
		define[resourcev1.DeviceTaintRule]("DeviceTaintRule", "resource.k8s.io/v1beta2", false, keepDeviceTaintRule),
		define[resourcev1.DeviceTaintRule]("DeviceTaintRule", "resource.k8s.io/v1alpha3", false, keepDeviceTaintRule)),
)

func later(k *kind, older ...*kind) *kind {
	k.later = true
	return k.or(older...)
}

// or adds the kind in versions of older releases.
func (k *kind) or(older ...*kind) *kind {
	k.older = older
	return k
}

// at returns the kind in one of its versions; nil where it is not kept in it.
func (k *kind) at(apiVersion string) *kind {
	if k == nil || k.apiVersion == apiVersion {
		return k
	}
	for _, o := range k.older {
		if o.apiVersion == apiVersion {
			return o
		}
	}
	return nil
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

// Resource returns the name of a kept kind in the paths of the API, with its group:
// poddisruptionbudgets of policy.
func Resource(kindName string) schema.GroupResource {
	k := kinds[kindName]
	version, err := schema.ParseGroupVersion(k.apiVersion)
	if err != nil {
		panic(err) // of a constant
	}
	plural, _ := meta.UnsafeGuessKindToResource(version.WithKind(k.name))
	return plural.GroupResource()
}

// ReadLater reports whether a kept kind is read only by releases after those that are known.
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

// setDefaults brings an object to the form in which an apiserver would hand it
// out. Doing it twice is doing it once.
func (k *kind) setDefaults(v typed) {
	v.GetObjectKind().SetGroupVersionKind(schema.FromAPIVersionAndKind(k.apiVersion, k.name))
	switch {
	case !k.namespaced:
		v.SetNamespace("")
	case v.GetNamespace() == "":
		v.SetNamespace(metav1.NamespaceDefault)
	}
	if v.GetName() == "" && k.prefix != "" {
		v.SetName(GenerateName(k.prefix))
	}
	if v.GetUID() == "" && v.GetName() != "" {
		v.SetUID(DerivedUID(Key{Kind: k.name, Namespace: v.GetNamespace(), Name: v.GetName()}))
	}
	stored.Default(v)
}

// maxUID is how many bytes a UID may have.
const maxUID = stored.MaxUID

func (k *kind) validateMeta(v typed) field.ErrorList {
	return stored.ValidateMeta(metaOf(v), k.name, k.namespaced)
}

func metaOf(v typed) *metav1.ObjectMeta {
	return v.(metav1.ObjectMetaAccessor).GetObjectMeta().(*metav1.ObjectMeta)
}
