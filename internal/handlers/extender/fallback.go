package extender

import (
	"net/http"
	"sync"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/decision"
	"berth/internal/handlers/exchange"
)

// strangers are what a server keeps of pods whose schedulerName no profile has: in which clusters
// kube-scheduler binds through berth.
type strangers struct {
	mu    sync.Mutex
	binds map[string]bool
}

// bound notes that a call wants to bind in a cluster.
func (s *strangers) bound(cluster string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.binds == nil {
		s.binds = map[string]bool{}
	}
	s.binds[cluster] = true
}

func (s *strangers) bindsIn(cluster string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.binds[cluster]
}

// unserved refuses to filter for a pod that /bind will refuse for its scheduler, so that
// kube-scheduler reserves no node for it.
func (a *API) unserved(cluster string, pod *corev1.Pod) error {
	if !a.strangers.bindsIn(cluster) {
		return nil
	}
	refusal := a.binder.Unserved(cluster, decision.PodRef{Namespace: pod.Namespace, Name: pod.Name, UID: string(pod.UID)}, pod.Spec.SchedulerName)
	if refusal == "" {
		return nil
	}
	return &exchange.Error{Status: http.StatusConflict, Kind: "conflict", Detail: refusal}
}
