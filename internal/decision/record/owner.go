package record

import (
	"encoding/json"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth/internal/jsonscan"
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
	// Of a ReplicaSet, which has a whole pod in it, no more is decoded than is needed.
	meta, between := jsonscan.Member(js, "metadata"), metav1.ObjectMeta{}
	if uid := jsonscan.Member(meta, "uid"); len(uid) < 2 || string(jsonscan.Unquote(uid)) != string(owner.UID) {
		return owner
	}
	if refs := jsonscan.Member(meta, "ownerReferences"); refs == nil || json.Unmarshal(refs, &between.OwnerReferences) != nil {
		return owner
	}
	if top := metav1.GetControllerOf(&between); top != nil {
		return top
	}
	return owner
}
