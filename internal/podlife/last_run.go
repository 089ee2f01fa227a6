package podlife

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// LastRun is how a container's last run that is over ended: state.terminated, or
// lastState.terminated of one that runs again or waits to.
type LastRun struct {
	ExitCode int32 `json:"exitCode" example:"137"`
	// Signal is what ended it; runtimes rarely report it.
	Signal int32 `json:"signal,omitempty"`
	// Reason is in the runtime's words, such as OOMKilled, Error or Completed.
	Reason string `json:"reason,omitempty" example:"OOMKilled"`
	// Message is what the container wrote as its last; snapshots do not keep it.
	Message    string     `json:"message,omitempty"`
	StartedAt  *time.Time `json:"startedAt,omitempty"`
	FinishedAt *time.Time `json:"finishedAt,omitempty"`
} // @name PodLifeLastRun

// String returns reason and exit code, such as "OOMKilled (137)".
func (l *LastRun) String() string {
	code := fmt.Sprint(l.ExitCode)
	if l.Signal != 0 {
		code += fmt.Sprintf(", signal %d", l.Signal)
	}
	return cmp.Or(l.Reason, "ended") + " (" + code + ")"
}

// lastRun returns the last run that is over; nil where none is known.
func (s *seen) lastRun() *LastRun {
	if s.status == nil {
		return nil
	}
	t := cmp.Or(s.status.State.Terminated, s.status.LastTerminationState.Terminated)
	if t == nil {
		return nil
	}
	return &LastRun{t.ExitCode, t.Signal, t.Reason, t.Message, shownTime(t.StartedAt), shownTime(t.FinishedAt)}
}

// statusAfter returns how the last run ended of the first container whose wait is
// the status, as in CrashLoopBackOff or Init:CrashLoopBackOff.
func (l *Life) statusAfter() string {
	for i := range l.Containers {
		c := &l.Containers[i]
		if c.State == "waiting" && c.LastRun != nil && c.Reason != "" && strings.TrimPrefix(l.Status, "Init:") == c.Reason {
			return c.LastRun.String()
		}
	}
	return ""
}

// messageOf returns the message of a state; "" of one that has none.
func messageOf(s *corev1.ContainerState) string {
	switch {
	case s.Running != nil:
		return ""
	case s.Terminated != nil:
		return s.Terminated.Message
	case s.Waiting != nil:
		return s.Waiting.Message
	}
	return ""
}
