package podlife

import (
	"time"

	corev1 "k8s.io/api/core/v1"
)

// ruleDeadline is the rule of a pod that was active for too long.
const ruleDeadline = "phase/deadline-exceeded"

// deadline is when the pod has been active for its activeDeadlineSeconds, counted
// from the time at which the kubelet took it over; nil without the one or the
// other (pkg/kubelet/active_deadline.go pastActiveDeadline).
func (r *reading) deadline() *time.Time {
	seconds, began := r.pod.Spec.ActiveDeadlineSeconds, r.pod.Status.StartTime
	if seconds == nil || began.IsZero() {
		return nil
	}
	at := addSeconds(began.UTC(), *seconds)
	return &at
}

// deadlineAhead is the deadline of a pod that has not ended.
func (r *reading) deadlineAhead(phase corev1.PodPhase) *time.Time {
	at := r.deadline()
	if at == nil || terminal(phase) {
		return nil
	}
	return inYears(*at)
}
