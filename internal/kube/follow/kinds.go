package follow

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	policyv1 "k8s.io/api/policy/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
)

// Kind is a kind of object that is followed.
type Kind struct {
	Kind     string
	Group    schema.GroupVersion
	Resource string
	// Optional kinds may be missing in a cluster: they, or their group, are not served
	// everywhere.
	Optional bool
	object   runtime.Object
}

// kinds are those that decisions read, and those of object.ReadLater. Adding one takes a line
// here, and one in the manifests' ClusterRole.
var kinds = []Kind{
	{"Node", corev1.SchemeGroupVersion, "nodes", false, &corev1.Node{}},
	{"Pod", corev1.SchemeGroupVersion, "pods", false, &corev1.Pod{}},
	{"Namespace", corev1.SchemeGroupVersion, "namespaces", false, &corev1.Namespace{}},
	{"Service", corev1.SchemeGroupVersion, "services", false, &corev1.Service{}},
	{"ReplicationController", corev1.SchemeGroupVersion, "replicationcontrollers", false, &corev1.ReplicationController{}},
	{"PersistentVolume", corev1.SchemeGroupVersion, "persistentvolumes", false, &corev1.PersistentVolume{}},
	{"PersistentVolumeClaim", corev1.SchemeGroupVersion, "persistentvolumeclaims", false, &corev1.PersistentVolumeClaim{}},
	{"ReplicaSet", appsv1.SchemeGroupVersion, "replicasets", false, &appsv1.ReplicaSet{}},
	{"StatefulSet", appsv1.SchemeGroupVersion, "statefulsets", false, &appsv1.StatefulSet{}},
	{"PodDisruptionBudget", policyv1.SchemeGroupVersion, "poddisruptionbudgets", false, &policyv1.PodDisruptionBudget{}},
	{"PriorityClass", schedulingv1.SchemeGroupVersion, "priorityclasses", false, &schedulingv1.PriorityClass{}},
	{"StorageClass", storagev1.SchemeGroupVersion, "storageclasses", false, &storagev1.StorageClass{}},
	{"CSINode", storagev1.SchemeGroupVersion, "csinodes", false, &storagev1.CSINode{}},
	{"CSIDriver", storagev1.SchemeGroupVersion, "csidrivers", false, &storagev1.CSIDriver{}},
	{"CSIStorageCapacity", storagev1.SchemeGroupVersion, "csistoragecapacities", false, &storagev1.CSIStorageCapacity{}},
	{"VolumeAttachment", storagev1.SchemeGroupVersion, "volumeattachments", false, &storagev1.VolumeAttachment{}},
	{"ResourceClaim", resourcev1.SchemeGroupVersion, "resourceclaims", true, &resourcev1.ResourceClaim{}},
	{"ResourceClaimTemplate", resourcev1.SchemeGroupVersion, "resourceclaimtemplates", true, &resourcev1.ResourceClaimTemplate{}},
	{"ResourceSlice", resourcev1.SchemeGroupVersion, "resourceslices", true, &resourcev1.ResourceSlice{}},
	{"DeviceClass", resourcev1.SchemeGroupVersion, "deviceclasses", true, &resourcev1.DeviceClass{}},
	{"Deployment", appsv1.SchemeGroupVersion, "deployments", true, &appsv1.Deployment{}},
	{"DaemonSet", appsv1.SchemeGroupVersion, "daemonsets", true, &appsv1.DaemonSet{}},
	{"Job", batchv1.SchemeGroupVersion, "jobs", true, &batchv1.Job{}},
	{"CronJob", batchv1.SchemeGroupVersion, "cronjobs", true, &batchv1.CronJob{}},
	{"RuntimeClass", nodev1.SchemeGroupVersion, "runtimeclasses", true, &nodev1.RuntimeClass{}},
	{"LimitRange", corev1.SchemeGroupVersion, "limitranges", true, &corev1.LimitRange{}},
	{"ResourceQuota", corev1.SchemeGroupVersion, "resourcequotas", true, &corev1.ResourceQuota{}},
	{"Workload", schedulingv1beta1.SchemeGroupVersion, "workloads", true, &schedulingv1beta1.Workload{}},
	{"PodGroup", schedulingv1beta1.SchemeGroupVersion, "podgroups", true, &schedulingv1beta1.PodGroup{}},
	{"DeviceTaintRule", resourcev1.SchemeGroupVersion, "devicetaintrules", true, &resourcev1.DeviceTaintRule{}},
}

// older are the versions in which clusters of older releases serve a kind, newest first. They are
// read as JSON: the newest types may not have them.
var older = map[string][]string{
	"Workload": {"v1alpha2"}, "PodGroup": {"v1alpha2"},
	"DeviceTaintRule": {"v1beta2", "v1alpha3"},
}

// asJSON has the groups of those versions.
var asJSON = map[schema.GroupVersion]bool{}

// versions returns the kind in each version that it is followed in, newest first.
func (k Kind) versions() []Kind {
	list := []Kind{k}
	for _, version := range older[k.Kind] {
		k.Group.Version, k.object = version, &unstructured.Unstructured{}
		list = append(list, k)
	}
	return list
}

// Verbs are what following, and finding out what became of a bind, ask for.
func (k Kind) Verbs() []string {
	if k.Kind == "Pod" {
		return []string{"get", "list", "watch"}
	}
	return []string{"list", "watch"}
}

// Kinds lists the kinds that are followed.
func Kinds() []Kind { return slices.Clone(kinds) }

// scheme knows the groups of the kinds and no others, which spares the program
// the rest of client-go's.
var scheme = func() *runtime.Scheme {
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		authenticationv1.AddToScheme, corev1.AddToScheme, appsv1.AddToScheme, batchv1.AddToScheme, nodev1.AddToScheme, policyv1.AddToScheme, schedulingv1.AddToScheme, storagev1.AddToScheme, resourcev1.AddToScheme,
		schedulingv1beta1.AddToScheme, metav1.AddMetaToScheme,
	} {
		utilruntime.Must(add(s))
	}
	for _, k := range kinds {
		for _, o := range k.versions()[1:] {
			s.AddKnownTypeWithName(o.Group.WithKind(o.Kind), &unstructured.Unstructured{})
			s.AddKnownTypeWithName(o.Group.WithKind(o.Kind+"List"), &unstructured.UnstructuredList{})
			metav1.AddToGroupVersion(s, o.Group)
			asJSON[o.Group] = true
		}
	}
	return s
}()
