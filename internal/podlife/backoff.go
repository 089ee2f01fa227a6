package podlife

import (
	"time"

	corev1 "k8s.io/api/core/v1"
)

// The kubelet's delays between runs of a container (pkg/kubelet/kubelet.go
// MaxCrashLoopBackOff; client-go util/flowcontrol Backoff).
const (
	firstBackoff   = 10 * time.Second
	longestBackoff = 300 * time.Second
	// steadyRun is how long a container has to run for its delays to be
	// forgotten.
	steadyRun = 2 * longestBackoff
)

// backoff gives the delay from the end of a run to the next start, of a
// container that was restarted so often before. The first restart is at once.
// Steady says that it would be longer, had the container not run for so long.
// A run whose start is not known does not count as long
// (pkg/kubelet/kuberuntime/kuberuntime_manager.go doBackOff).
func backoff(restarts int32, end *corev1.ContainerStateTerminated) (delay time.Duration, steady bool) {
	if restarts <= 0 {
		return 0, false
	}
	if !end.StartedAt.IsZero() && end.FinishedAt.Sub(end.StartedAt.Time) > steadyRun {
		return 0, true
	}
	delay = firstBackoff
	for n := int32(1); n < restarts && delay < longestBackoff; n++ {
		delay *= 2
	}
	return min(delay, longestBackoff), false
}
