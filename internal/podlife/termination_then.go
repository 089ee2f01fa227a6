package podlife

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// What may happen while a pod ends, beside other causes.
const (
	// CauseKubeletRestart is a restart of the kubelet, which begins anew with the
	// whole period.
	CauseKubeletRestart Cause = "kubelet-restart"
	// CauseRuntimeRestart is one of the container runtime: the kubelet's call fails,
	// and it begins anew with the whole period.
	CauseRuntimeRestart Cause = "runtime-restart"
)

// laterCauses are those of Following.
var laterCauses = []Cause{
	CauseDelete, CausePreempt, CauseAPIEviction, CauseEvictSoft, CauseEvictHard, CauseKubeletPreempt, CauseShutdown,
	CauseKubeletRestart, CauseRuntimeRestart,
}

// Following is what happens to a pod that is ending already.
type Following struct {
	// Cause is one that ends a pod, except for those of probes and taints, or
	// kubelet-restart or runtime-restart.
	Cause Cause `json:"cause" swaggertype:"string" enums:"delete,preempt,api-eviction,evict-soft,evict-hard,kubelet-preempt,shutdown,kubelet-restart,runtime-restart"`
	// AfterSeconds is when, counted from the first cause.
	AfterSeconds int64 `json:"afterSeconds"`
	// GracePeriodSeconds is the delete's option, or the node's share of a shutdown.
	GracePeriodSeconds *int64 `json:"gracePeriodSeconds,omitempty"`
	// Force is a delete with period 0.
	Force bool `json:"force,omitempty"`
} // @name TerminationFollowing

func (e *Ending) checkThen() (errs field.ErrorList) {
	if len(e.Then) == 0 {
		return nil
	}
	if e.Cause.ofProbe() || e.Cause == CauseTaint {
		return field.ErrorList{field.Forbidden(field.NewPath("then"), "nothing can follow "+string(e.Cause)+"; give as cause what ends the pod as a whole")}
	}
	if e.nodeState() != NodeHealthy {
		return field.ErrorList{field.Forbidden(field.NewPath("then"), "nothing follows on a node that does not answer")}
	}
	deleted, before := e.Cause.throughAPI() || e.Pod.DeletionTimestamp != nil, int64(0)
	for i := range e.Then {
		f, at := &e.Then[i], field.NewPath("then").Index(i)
		if !slices.Contains(laterCauses, f.Cause) {
			errs = append(errs, field.NotSupported(at.Child("cause"), f.Cause, laterCauses))
		}
		if f.AfterSeconds < before {
			errs = append(errs, field.Invalid(at.Child("afterSeconds"), f.AfterSeconds, "must be in order of time, counted from the first cause"))
		}
		if f.Cause == CauseKubeletRestart && !deleted {
			errs = append(errs, field.Invalid(at.Child("cause"), f.Cause, "a kubelet that restarts knows only of deletes; its own evictions it forgets"))
		}
		if f.Cause == CauseShutdown && f.GracePeriodSeconds != nil && *f.GracePeriodSeconds < 0 {
			errs = append(errs, field.Invalid(at.Child("gracePeriodSeconds"), *f.GracePeriodSeconds, "the node's share must not be negative"))
		}
		deleted, before = deleted || f.Cause.throughAPI(), f.AfterSeconds
	}
	return errs
}

// Involves reports whether a cause is the first or a later one.
func (e *Ending) Involves(cause Cause) bool {
	return e.Cause == cause || slices.ContainsFunc(e.Then, func(f Following) bool { return f.Cause == cause })
}

// follow plays what happens later. The kubelet's period can only become shorter;
// where it does, it breaks off and begins anew (pkg/kubelet/pod_workers.go
// UpdatePod, calculateEffectiveGracePeriod).
func (w *ending) follow() {
	for i := range w.Then {
		f := &w.Then[i]
		if f.AfterSeconds >= w.last {
			w.out.Notes = append(w.out.Notes, fmt.Sprintf("then[%d] (%s) plays no part: nothing of the pod runs any more after %d seconds", i, f.Cause, w.last))
			continue
		}
		w.next(f)
	}
	if len(w.Then) > 0 && w.period != 0 {
		w.close()
	}
}

// next plays one of them.
func (w *ending) next(f *Following) {
	t := f.AfterSeconds
	switch f.Cause {
	case CauseKubeletRestart, CauseRuntimeRestart:
		period := w.period
		if f.Cause == CauseKubeletRestart {
			w.kill = nil
			period = effective(0, w.Pod.DeletionGracePeriodSeconds, nil, w.spec(), w.step)
			w.event(t, actorKubelet, "kubelet restarted", "", "it begins anew with the whole period, hooks included")
		} else {
			w.event(t, actorRuntime, "container runtime restarted", "", "the kubelet's calls fail; it tries again 10 to 15 seconds after that, with the whole period, hooks included")
		}
		w.anew(t, period)
	case CauseEvictSoft, CauseEvictHard, CauseKubeletPreempt, CauseShutdown:
		if w.spared(t, f.Cause) {
			return
		}
		var override *int64
		var k *kill
		if f.Cause == CauseShutdown {
			override, k = w.shutdownKill(f.GracePeriodSeconds)
			w.event(t, actorKubelet, "node shutdown", "", "its turn among the priorities has come")
		} else {
			override, k = w.kubeletKill(f.Cause)
			w.killEvent(t, f.Cause)
			w.waitFor(override)
		}
		if w.shorten(t, effective(w.period, w.Pod.DeletionGracePeriodSeconds, override, w.spec(), w.step)) {
			w.kill = k
		}
	default:
		w.deletedThen(f)
	}
}

// deletedThen is a delete through the API while the pod ends.
func (w *ending) deletedThen(f *Following) {
	t := f.AfterSeconds
	if w.removed || f.Cause == CauseAPIEviction && !w.permitted(t) {
		return
	}
	again := w.Pod.DeletionTimestamp != nil
	d := w.deletion(f.Cause, f.GracePeriodSeconds, f.Force, addSeconds(w.Now, t))
	w.disrupted(t, f.Cause, again)
	if !d.changed {
		w.event(t, actorAPI, EventUnchanged, "", "a second delete may only shorten")
		return
	}
	w.event(t, actorAPI, "deletion requested", "", fmt.Sprintf("deletionGracePeriodSeconds %d", d.period))
	if !again {
		w.event(t, actorSlices, "endpoints terminating", "", "ready false, terminating true")
		w.replaced(t)
	}
	w.out.Endpoints.Ready, w.out.Endpoints.Terminating = false, true
	w.Pod.DeletionTimestamp, w.Pod.DeletionGracePeriodSeconds = &metav1.Time{Time: d.at}, &d.period
	if d.period == 0 && len(w.Pod.Finalizers) == 0 {
		w.removed = true
		w.event(t, actorAPI, "object removed", "", "at once: the API server does not wait for the node")
		w.event(t, actorSlices, "endpoints removed", "", "with the object")
	}
	w.shorten(t, effective(w.period, &d.period, nil, w.spec(), w.step))
}

// shorten lets the kubelet begin anew where the period is another one.
func (w *ending) shorten(t, period int64) bool {
	if period == w.period {
		return false
	}
	w.anew(t, period)
	return true
}

// anew breaks off what the kubelet does and begins again, with what still runs.
func (w *ending) anew(t, period int64) {
	if w.period == 0 {
		return // it has not begun: the pod has no node, or one that does not answer
	}
	var kept []Stop
	for i := range w.out.Containers {
		s := &w.out.Containers[i]
		if s.end <= t {
			kept, w.done[s.Name] = append(kept, *s), true
			continue
		}
		delete(w.exited, s.Name)
		w.stopEvents(s, t)
	}
	w.out.Containers, w.out.NotRunning, w.last = kept, nil, t
	w.stopAll(period)
}

// close writes the pod's end after all that happened.
func (w *ending) close() {
	w.out.Timeline = slices.DeleteFunc(w.out.Timeline, func(e Event) bool { return e.closing })
	w.out.LeftRunning, w.out.PhaseIfAllExitZero, w.out.Reason, w.out.Message = nil, "", "", ""
	if !w.removed {
		w.out.GracePeriodSeconds = w.period
	}
	switch {
	case w.removed:
		w.out.Phase = phaseNow(w.Pod)
		w.leave()
	case w.kill != nil:
		w.failed(*w.kill)
	default:
		w.out.Phase = ""
		w.ended()
		w.removal(w.last)
	}
}

// expected is what an answer with real exits has beside the slowest one.
func (t *Termination) expected() *ExpectedEnd {
	out := &ExpectedEnd{GoneAfterSeconds: t.GoneAfterSeconds, Phase: t.Phase, Reason: t.Reason, Timeline: t.Timeline, Containers: []ExpectedStop{}}
	for _, s := range t.Containers {
		out.Containers = append(out.Containers, ExpectedStop{s.Name, s.SignalAt, s.end, s.code})
	}
	return out
}

// ownerOf returns the kind and name of the controller that owns a pod.
func ownerOf(p *corev1.Pod) (kind, name string) {
	if o := metav1.GetControllerOf(p); o != nil {
		return o.Kind, o.Name
	}
	return "", ""
}

// replaced says when the pod's controller makes another one: those that count
// pods do so as soon as this one does not count any more, at its deletion or its
// phase Failed; those that keep identities or nodes wait until its object is gone.
//
// Upstream: pkg/controller/controller_utils.go FilterActivePods, pkg/controller/job
// job_controller.go manageJob, pkg/controller/statefulset stateful_set_control.go
// processReplica, pkg/controller/daemon daemon_controller.go podsShouldBeOnNode.
func (w *ending) replaced(at int64) {
	kind, name := ownerOf(w.Pod)
	detail := ""
	switch kind {
	case "ReplicaSet", "ReplicationController":
		detail = "it counts neither a pod that is being deleted nor one that is over: the new pod and this one overlap"
	case "Job":
		detail = "unless its podReplacementPolicy is Failed, or it has enough failures: then later or never"
	default:
		return
	}
	w.event(at, strings.ToLower(kind)+"-controller", "replacement created", "", kind+" "+name+": "+detail)
	w.out.Timeline[len(w.out.Timeline)-1].closing = at == w.last && at > 0
}

// replacedAfter is replaced of those that wait for the object to go.
func (w *ending) replacedAfter(at int64) {
	kind, name := ownerOf(w.Pod)
	if kind != "StatefulSet" && kind != "DaemonSet" {
		return
	}
	w.closing(at, strings.ToLower(kind)+"-controller", "replacement created", kind+" "+name+": not before the object is gone")
}
