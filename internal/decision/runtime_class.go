package decision

import (
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/kube/object"
	"berth/internal/revision"
)

// UnappliedClass returns the RuntimeClass that a pod names, unless admission wrote its overhead
// into the pod; empty: none.
func UnappliedClass(pod *corev1.Pod) string {
	if pod.Spec.RuntimeClassName == nil || len(pod.Spec.Overhead) > 0 {
		return ""
	}
	return *pod.Spec.RuntimeClassName
}

// RuntimeNote is what is to be known of a RuntimeClass that admission has not applied to a pod:
// that a snapshot lacks it, or what of it is not applied. It is empty for one that changes no pod
// (plugin/pkg/admission/runtimeclass admission.go setOverhead, setScheduling).
func RuntimeNote(v *revision.View, name string) string {
	if name == "" {
		return ""
	}
	js, there := v.Object(object.Key{Kind: "RuntimeClass", Name: name})
	if !there {
		return fmt.Sprintf("there is no RuntimeClass %s, which the pod names: its overhead and its nodes are not counted", name)
	}
	var c struct {
		Overhead struct {
			Fixed map[string]json.RawMessage `json:"podFixed"`
		} `json:"overhead"`
		Scheduling struct {
			Nodes       map[string]string `json:"nodeSelector"`
			Tolerations []json.RawMessage `json:"tolerations"`
		} `json:"scheduling"`
	}
	if json.Unmarshal(js, &c) != nil {
		return ""
	}
	what := ""
	switch nodes := len(c.Scheduling.Nodes)+len(c.Scheduling.Tolerations) > 0; {
	case len(c.Overhead.Fixed) > 0 && nodes:
		what = "overhead and nodes"
	case len(c.Overhead.Fixed) > 0:
		what = "overhead"
	case nodes:
		what = "nodes"
	default:
		return ""
	}
	return fmt.Sprintf("RuntimeClass %s has %s of its own, which an API server writes into the pod and berth does not: they are not counted", name, what)
}
