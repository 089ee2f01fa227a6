package handlers

import (
	"context"
	"log/slog"
	"net/http"
	"sync"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/decision"
)

// strangers are what a server keeps of pods whose schedulerName no profile has: which names were
// logged, and in which clusters kube-scheduler binds through berth.
type strangers struct {
	mu     sync.Mutex
	logged map[string]bool
	binds  map[string]bool
}

// maxStrangers is how many names are logged. A client may send any number.
const maxStrangers = 1000

// fresh reports whether a name is to be logged.
func (s *strangers) fresh(scheduler string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.logged[scheduler] || len(s.logged) >= maxStrangers {
		return false
	}
	if s.logged == nil {
		s.logged = map[string]bool{}
	}
	s.logged[scheduler] = true
	return true
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

// fellBack counts a decision about a pod whose schedulerName no profile has, and logs the first for
// each name.
func (a *API) fellBack(ctx context.Context, verb, cluster, scheduler, profile string) {
	a.metrics.fellBack(ctx, verb, profile)
	if a.strangers.fresh(scheduler) {
		a.log.LogAttrs(ctx, slog.LevelWarn, "no profile has the schedulerName of a pod, so the first one judges it: "+
			"give the configuration a profile of that name, or keep such pods from this server", slog.String("scheduler", clipped(scheduler, maxDetail)),
			slog.String("profile", profile), slog.String("verb", verb), slog.String("cluster", cluster))
	}
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
	return &Error{Status: http.StatusConflict, Kind: "conflict", Detail: refusal}
}
