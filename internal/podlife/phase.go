package podlife

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// phase is what the kubelet writes: a phase in which a pod has ended stays, a
// pod past its deadline has failed, and any other phase is computed from the
// containers (pkg/kubelet/kubelet_pods.go generateAPIPodStatus).
func (r *reading) phase() (corev1.PodPhase, Rule) {
	if p := r.pod.Status.Phase; terminal(p) {
		return p, Rule{"phase/terminal-stays", fmt.Sprintf("The pod has ended as %s; no container changes that any more.", p)}
	}
	if at := r.deadline(); at != nil && !r.now.Before(*at) {
		return corev1.PodFailed, Rule{ruleDeadline, fmt.Sprintf("The pod has been active for more than its activeDeadlineSeconds (%d), so the kubelet fails it and stops what runs.", *r.pod.Spec.ActiveDeadlineSeconds)}
	}
	return r.computedPhase()
}

// tally sorts containers, by name, as the phase looks at them.
type tally struct {
	initPending, initFailed, sidecarPending   []string
	unknown, waits, runs, stopped, restarting []string
	succeeded                                 int
}

func (r *reading) tally() (t tally) {
	for i := range r.inits {
		s := &r.inits[i]
		switch name := s.c.Name; {
		case s.kind == KindInit && s.is != exited:
			t.initPending = append(t.initPending, name)
		case s.kind == KindInit:
			if s.end.ExitCode != 0 && !r.restartable(s) {
				t.initFailed = append(t.initFailed, name)
			}
		case s.is == unseen:
			t.unknown = append(t.unknown, name)
		case s.is == blank:
			t.sidecarPending, t.unknown = append(t.sidecarPending, name), append(t.unknown, name)
		case s.is == waiting:
			t.sidecarPending, t.waits = append(t.sidecarPending, name), append(t.waits, name)
		case s.is == running:
			if !s.started() {
				t.sidecarPending = append(t.sidecarPending, name)
			}
			t.runs = append(t.runs, name)
		} // a sidecar that stopped does not count, whatever its exit code
	}
	for i := range r.mains {
		s := &r.mains[i]
		switch name := s.c.Name; s.is {
		case unseen, blank:
			t.unknown = append(t.unknown, name)
		case waiting:
			t.waits = append(t.waits, name)
		case running:
			t.runs = append(t.runs, name)
		case exited:
			t.stopped = append(t.stopped, name)
			if r.restartable(s) {
				t.restarting = append(t.restarting, name)
			}
			if s.status.State.Terminated != nil && s.end.ExitCode == 0 {
				t.succeeded++
			}
		}
	}
	return t
}

// computedPhase is the phase that the containers' statuses amount to
// (pkg/kubelet/kubelet_pods.go getPhase).
func (r *reading) computedPhase() (corev1.PodPhase, Rule) {
	t := r.tally()
	allWell := len(t.stopped) == t.succeeded
	switch {
	case len(t.initFailed) > 0:
		return corev1.PodFailed, Rule{"phase/init-failed", fmt.Sprintf("Init container %s failed and may not run again, which fails the pod whatever else runs.", strings.Join(t.initFailed, ", "))}
	case len(t.initPending) > 0:
		return corev1.PodPending, Rule{"phase/init-pending", fmt.Sprintf("Init container %s %s not done.", strings.Join(t.initPending, ", "), plural(t.initPending, "is", "are"))}
	case len(t.sidecarPending) > 0 && !r.mainRan():
		return corev1.PodPending, Rule{"phase/sidecar-pending", fmt.Sprintf("Sidecar %s %s not started, and no main container has ever run.", strings.Join(t.sidecarPending, ", "), plural(t.sidecarPending, "has", "have"))}
	case len(t.waits) > 0:
		return corev1.PodPending, Rule{"phase/waiting", fmt.Sprintf("%s %s and never ran, so the pod is Pending even if others run.", called(t.waits), plural(t.waits, "waits", "wait"))}
	case len(t.unknown) > 0:
		return corev1.PodPending, Rule{"phase/unknown-container", fmt.Sprintf("Nothing is known of %s.", strings.ToLower(called(t.unknown)[:1])+called(t.unknown)[1:])}
	case len(t.runs) > 0:
		return corev1.PodRunning, Rule{"phase/running", fmt.Sprintf("%s %s, and all others have run.", called(t.runs), plural(t.runs, "runs", "run"))}
	case len(t.stopped) == 0:
		return corev1.PodPending, Rule{"phase/no-container", "No main container has run."}
	case r.deleted() && !isStatic(r.pod) && allWell:
		return corev1.PodSucceeded, Rule{"phase/deleted-succeeded", "The pod is being deleted, so nothing runs again, and every main container ended with exit code 0."}
	case r.deleted() && !isStatic(r.pod):
		return corev1.PodFailed, Rule{"phase/deleted-failed", "The pod is being deleted, so nothing runs again, and not every main container ended with exit code 0."}
	case len(t.restarting) > 0:
		return corev1.PodRunning, Rule{"phase/restarting", fmt.Sprintf("%s %s stopped and may run again, so the pod counts as Running.", called(t.restarting), plural(t.restarting, "has", "have"))}
	case allWell:
		return corev1.PodSucceeded, Rule{"phase/succeeded", "Every main container ended with exit code 0 and may not run again."}
	}
	return corev1.PodFailed, Rule{"phase/failed", "Every main container has stopped for good, and not every one with exit code 0."}
}

// The rule of a pod that was active for too long, and what its status says of it.
const (
	ruleDeadline     = "phase/deadline-exceeded"
	deadlineExceeded = "DeadlineExceeded"
	pastDeadline     = "Pod was active on the node longer than the specified deadline"
)

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
