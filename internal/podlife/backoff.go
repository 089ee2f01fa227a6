package podlife

import (
	"time"
)

// The kubelet's delays between runs of a container (pkg/kubelet/kubelet.go
// newCrashLoopBackOff, MaxCrashLoopBackOff; client-go util/flowcontrol Backoff).
const (
	firstBackoff   = 10 * time.Second
	longestBackoff = 300 * time.Second
	// steadyRun is how long a container has to run for its delays to be forgotten.
	// It does not change with the longest delay (NewMainKubelet, HasExpiredFunc).
	steadyRun = 600 * time.Second
)

// memory is what a kubelet remembers of the delays of one container.
type memory struct {
	delay time.Duration // between the end of a run and the next start; 0: none
	since time.Time     // when it was last set, at the start of the run; zero: not known
}

// remembered reads a container's memory off its status: how often it was
// restarted, and when the last or present run began. longest is the kubelet's
// maxContainerRestartPeriod, which bounds the first delay as well.
func remembered(restarts int32, began time.Time, longest time.Duration) memory {
	m := memory{since: began}
	if restarts <= 0 {
		return m
	}
	m.delay = firstBackoff
	for n := int32(1); n < restarts && m.delay < longest; n++ {
		m.delay *= 2
	}
	m.delay = min(m.delay, longest)
	return m
}

// steady reports whether a run that ends at a time has lasted for so long that
// its delays are forgotten. A run whose start is not known never has.
func (m memory) steady(end time.Time) bool {
	return !m.since.IsZero() && end.Sub(m.since) > steadyRun
}

// after is the delay from the end of a run to the next start
// (pkg/kubelet/kuberuntime/kuberuntime_manager.go doBackOff).
func (m memory) after(end time.Time) time.Duration {
	if m.steady(end) {
		return 0
	}
	return m.delay
}

// started is the memory after a container that ended was started again: the delay
// doubles, or begins anew where the kubelet has none any more. It drops those that
// were set more than ten minutes ago (Backoff.Next, Backoff.GC).
func (m memory) started(at time.Time, longest time.Duration) memory {
	next := memory{delay: min(firstBackoff, longest), since: at}
	if m.delay > 0 && !m.steady(at) {
		next.delay = min(m.delay*2, longest)
	}
	return next
}

// afterKill is when a container that the kubelet killed for a probe starts again.
// The kubelet goes on to start it in the same pass, in which it looks at the end
// of the run before: only where the delay since that one is not over does the
// container wait, and then for the whole delay from its own end. known is false
// where no run before is known, and such a start leaves the memory as it was
// (kuberuntime_manager.go SyncPod, doBackOff).
func (m memory) afterKill(before, end time.Time) (delay time.Duration, known bool) {
	if before.IsZero() {
		return 0, false
	}
	if end.Sub(before) < m.after(end) {
		return m.delay, true
	}
	return 0, true
}

// sooner says when a start may come before a back-off ends: where the kubelet
// drops its memory of the delay meanwhile. Empty where it does not.
func (m memory) sooner(at time.Time) string {
	if m.since.IsZero() || !m.steady(at) {
		return ""
	}
	return " It may start sooner, from " + m.since.Add(steadyRun).UTC().Format(time.RFC3339) + " on: ten minutes after the start of a run the kubelet drops its delay."
}
