package podlife

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ownerOf returns the kind and name of the controller that owns a pod.
func ownerOf(p *corev1.Pod) (kind, name string) {
	if o := metav1.GetControllerOf(p); o != nil {
		return o.Kind, o.Name
	}
	return "", ""
}

// replaced says when the pod's controller makes another one: those that count
// pods do so as soon as this one does not count any more, at its deletion or its
// phase Failed; those that keep identities or nodes wait until its object is gone.
//
// Upstream: pkg/controller/controller_utils.go FilterActivePods, pkg/controller/job
// job_controller.go manageJob, pkg/controller/statefulset stateful_set_control.go
// processReplica, pkg/controller/daemon daemon_controller.go podsShouldBeOnNode.
func (w *ending) replaced(at int64) {
	kind, name := ownerOf(w.Pod)
	detail := ""
	switch kind {
	case "ReplicaSet", "ReplicationController":
		detail = "it counts neither a pod that is being deleted nor one that is over: the new pod and this one overlap"
	case "Job":
		detail = "unless its podReplacementPolicy is Failed, or it has enough failures: then later or never"
	default:
		return
	}
	w.event(at, strings.ToLower(kind)+"-controller", "replacement created", "", kind+" "+name+": "+detail)
	w.out.Timeline[len(w.out.Timeline)-1].closing = at == w.last && at > 0
}

// replacedAfter is replaced of those that wait for the object to go.
func (w *ending) replacedAfter(at int64) {
	kind, name := ownerOf(w.Pod)
	if kind != "StatefulSet" && kind != "DaemonSet" {
		return
	}
	w.closing(at, strings.ToLower(kind)+"-controller", "replacement created", kind+" "+name+": not before the object is gone")
}
