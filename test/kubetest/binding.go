package kubetest

import (
	"encoding/json"
	"fmt"
	"net/http"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// binding binds a pod as the apiserver does
// (pkg/registry/core/pod/storage assignPod).
func (s *Server) binding(w http.ResponseWriter, r *http.Request, namespace, name string) {
	var b corev1.Binding
	if err := decode(r, &b); err != nil {
		fail(w, apierrors.NewBadRequest(err.Error()))
		return
	}
	b.Namespace, b.Name = namespace, name
	s.mu.Lock()
	before := s.bind
	s.mu.Unlock()
	if before != nil {
		if err := before(&b); err != nil {
			fail(w, err)
			return
		}
	}
	pods := schema.GroupResource{Resource: "pods"}
	pod, ok := s.Pod(namespace, name)
	switch {
	case !ok:
		fail(w, apierrors.NewNotFound(pods, name))
	case b.UID != "" && b.UID != pod.UID:
		fail(w, apierrors.NewConflict(pods, name, fmt.Errorf("UID in precondition: %s, UID in object meta: %s", b.UID, pod.UID)))
	case pod.DeletionTimestamp != nil:
		fail(w, apierrors.NewConflict(pods, name, fmt.Errorf("pod %s is being deleted, cannot be assigned to a host", name)))
	case pod.Spec.NodeName != "":
		fail(w, apierrors.NewConflict(pods, name, fmt.Errorf("pod %s is already assigned to node %q", name, pod.Spec.NodeName)))
	default:
		pod.Spec.NodeName = b.Target.Name
		s.mu.Lock()
		err := s.put("pods", namespace+"/"+name, pod)
		s.mu.Unlock()
		if err != nil {
			fail(w, err)
			return
		}
		answer(w, http.StatusCreated, metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusSuccess})
	}
}

func answer(w http.ResponseWriter, code int, v any) {
	js, err := json.Marshal(v)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_, _ = w.Write(js)
}

func fail(w http.ResponseWriter, err error) {
	status := metav1.Status{Status: metav1.StatusFailure, Code: http.StatusInternalServerError, Message: err.Error()}
	if s, ok := err.(apierrors.APIStatus); ok {
		status = s.Status()
	}
	status.Kind, status.APIVersion = "Status", "v1"
	answer(w, int(status.Code), status)
}
