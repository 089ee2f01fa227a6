package podlife

import (
	"fmt"
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

// Crash is what it would cost a running container to end now with exit code 1.
type Crash struct {
	// Restarts reports whether it would be started again.
	Restarts bool `json:"restarts"`
	// BackoffSeconds is how long after its end; 0 is at once.
	BackoffSeconds int64 `json:"backoffSeconds"`
	// ResetAt is when it has run for ten minutes, after which its delays begin anew.
	// It may be past; absent where there is no delay to forget.
	ResetAt *time.Time `json:"resetAt,omitempty"`
	Rule    Rule       `json:"rule"`
} // @name PodLifeCrash

// crash says it of a container that runs in a pod that goes on
// (pkg/kubelet/kuberuntime/kuberuntime_manager.go doBackOff).
func (r *reading) crash(s *seen) *Crash {
	if s.is != running || s.kind == KindEphemeral || r.node != NodeHealthy || r.deleted() || terminal(r.pod.Status.Phase) {
		return nil
	}
	if yes, why := mayRestart(&r.pod.Spec, s.c, 1); !yes {
		return &Crash{Rule: Rule{"crash/not-restarted", "If it ended now with exit code 1 it would not run again: " + why + "."}}
	}
	m := r.memory(s)
	out := &Crash{Restarts: true, BackoffSeconds: seconds(m.after(r.now))}
	if m.delay > 0 && !m.since.IsZero() {
		out.ResetAt = inYears(m.since.Add(steadyRun))
	}
	switch {
	case m.delay == 0:
		out.Rule = Rule{"crash/first", "If it ended now it would be started again at once: it has never been restarted."}
	case m.steady(r.now):
		out.Rule = Rule{"crash/reset", fmt.Sprintf("If it ended now it would be started again at once: it has run for more than 10 minutes, so its delay of %d s is forgotten and the next one is %d s.", seconds(m.delay), seconds(min(firstBackoff, r.longest)))}
	default:
		out.Rule = Rule{"crash/backoff", fmt.Sprintf("If it ended now it would be started again after %d s; the delay is forgotten once it has run for more than 10 minutes.", out.BackoffSeconds)}
	}
	return out
}

// seconds is a duration in whole seconds.
func seconds(d time.Duration) int64 { return int64(d / time.Second) }
