package podlife

import (
	"fmt"
	"time"
)

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
