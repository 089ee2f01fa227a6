package kubetest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
)

type listKind struct{ kind, version string }

// emptyLists name what a list without items is of.
var emptyLists = map[string]listKind{
	"nodes": {"NodeList", "v1"}, "pods": {"PodList", "v1"}, "namespaces": {"NamespaceList", "v1"}, "services": {"ServiceList", "v1"},
	"replicationcontrollers": {"ReplicationControllerList", "v1"}, "persistentvolumes": {"PersistentVolumeList", "v1"},
	"persistentvolumeclaims": {"PersistentVolumeClaimList", "v1"},
	"replicasets":            {"ReplicaSetList", "apps/v1"}, "statefulsets": {"StatefulSetList", "apps/v1"},
	"poddisruptionbudgets": {"PodDisruptionBudgetList", "policy/v1"}, "priorityclasses": {"PriorityClassList", "scheduling.k8s.io/v1"},
	"storageclasses": {"StorageClassList", "storage.k8s.io/v1"}, "csinodes": {"CSINodeList", "storage.k8s.io/v1"},
	"csidrivers": {"CSIDriverList", "storage.k8s.io/v1"}, "csistoragecapacities": {"CSIStorageCapacityList", "storage.k8s.io/v1"},
	"volumeattachments": {"VolumeAttachmentList", "storage.k8s.io/v1"},
	"resourceclaims":    {"ResourceClaimList", "resource.k8s.io/v1"}, "resourceclaimtemplates": {"ResourceClaimTemplateList", "resource.k8s.io/v1"},
	"deployments": {"DeploymentList", "apps/v1"}, "daemonsets": {"DaemonSetList", "apps/v1"},
	"jobs": {"JobList", "batch/v1"}, "cronjobs": {"CronJobList", "batch/v1"}, "runtimeclasses": {"RuntimeClassList", "node.k8s.io/v1"},
	"limitranges": {"LimitRangeList", "v1"}, "resourcequotas": {"ResourceQuotaList", "v1"},
	"workloads": {"WorkloadList", "scheduling.k8s.io/v1beta1"}, "podgroups": {"PodGroupList", "scheduling.k8s.io/v1beta1"},
	"devicetaintrules": {"DeviceTaintRuleList", "resource.k8s.io/v1"},
	"resourceslices":   {"ResourceSliceList", "resource.k8s.io/v1"}, "deviceclasses": {"DeviceClassList", "resource.k8s.io/v1"},
}

// resources lists what a group has.
func resources(group string) metav1.APIResourceList {
	list := metav1.APIResourceList{
		TypeMeta:     metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"},
		GroupVersion: group,
	}
	for name, k := range emptyLists {
		if k.version == group {
			list.APIResources = append(list.APIResources, metav1.APIResource{Name: name})
		}
	}
	return list
}

// decode reads a body in either of the forms that clients send.
func decode(r *http.Request, into *corev1.Binding) error {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	if r.Header.Get("Content-Type") != "application/vnd.kubernetes.protobuf" {
		return json.Unmarshal(body, into)
	}
	scheme := runtime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		return err
	}
	obj, _, err := protobuf.NewSerializer(scheme, scheme).Decode(body, nil, into)
	if err != nil {
		return err
	}
	if obj != runtime.Object(into) {
		return fmt.Errorf("the body is a %T", obj)
	}
	return nil
}
