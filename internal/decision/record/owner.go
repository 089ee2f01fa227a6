package record

import (
	"encoding/json"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth/internal/kube/object"
	"berth/internal/revision"
)

// topOwner returns a pod's controller, or the controller of that where the state has it, as a
// Deployment is that of a ReplicaSet; nil without one.
func topOwner(view *revision.View, pod *corev1.Pod) *metav1.OwnerReference {
	owner := metav1.GetControllerOf(pod)
	if owner == nil {
		return nil
	}
	key := object.Key{Kind: owner.Kind, Namespace: pod.Namespace, Name: owner.Name}
	js, ok := view.Object(key)
	if !ok {
		return owner
	}
	var between struct {
		Metadata metav1.ObjectMeta `json:"metadata"`
	}
	if json.Unmarshal(js, &between) != nil || between.Metadata.UID != owner.UID {
		return owner
	}
	if top := metav1.GetControllerOf(&between.Metadata); top != nil {
		return top
	}
	return owner
}
