package podlife

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// deletion is what a DELETE makes of an object's metadata.
type deletion struct {
	period  int64
	at      time.Time // the deletion timestamp
	again   bool      // it was being deleted before
	changed bool      // the call wrote something
}

// stepFunc notes where a number comes from.
type stepFunc func(source, rule string, value int64)

// GracePeriod is what the API server writes, in seconds, when a pod that runs on
// a node is deleted without a period, as preemption does it, or has written when
// it is going already (pkg/registry/core/pod strategy.go CheckGracefulDelete). It
// does not check whether the pod has a node: the callers look for victims, which have one.
func GracePeriod(p *corev1.Pod) int64 {
	if p.DeletionTimestamp != nil && p.DeletionGracePeriodSeconds != nil {
		return max(*p.DeletionGracePeriodSeconds, 0)
	}
	return specPeriod(p, false, nil)
}

// firstDelete is the grace period of a pod that was not deleted before
// (apiserver/pkg/registry/rest/delete.go BeforeDelete, then pkg/registry/core/pod/strategy.go
// CheckGracefulDelete).
func firstDelete(p *corev1.Pod, asked *int64, force bool, note stepFunc) int64 {
	period := specPeriod(p, asked == nil && !force, note)
	switch {
	case force:
		period = 0
		note("request.force", "a forced delete is one with period 0", period)
	case asked != nil:
		period = *asked
		note("request.gracePeriodSeconds", "the delete's own period comes before the pod's", period)
		if period < 0 {
			period = 1
			note("api-server", "a negative period becomes 1", period)
		}
	}
	if p.Spec.NodeName == "" {
		period = 0
		note("pod.spec.nodeName", "a pod without a node is deleted at once", period)
	}
	if terminal(p.Status.Phase) {
		period = 0
		note("pod.status.phase", "a pod that has "+string(p.Status.Phase)+" is deleted at once", period)
	}
	return period
}

// specPeriod is the pod's own period, as the API server defaults it.
func specPeriod(p *corev1.Pod, used bool, note stepFunc) int64 {
	period, source, rule := int64(corev1.DefaultTerminationGracePeriodSeconds), "default", "terminationGracePeriodSeconds is 30 where the pod has none"
	if own := p.Spec.TerminationGracePeriodSeconds; own != nil {
		period, source, rule = *own, "pod.spec.terminationGracePeriodSeconds", "the pod's own period"
	}
	if used {
		note(source, rule, period)
	}
	if period < 0 {
		period = 1
		if used {
			note("api-server", "a negative period becomes 1", period)
		}
	}
	return period
}

// secondDelete may only shorten what is under way; without a period, or with a
// longer one, it changes nothing. A shorter one counts from the first delete, and
// is 1 where that is past already (apiserver/pkg/registry/rest/delete.go
// BeforeDelete).
func secondDelete(p *corev1.Pod, asked *int64, now time.Time, note stepFunc) deletion {
	d := deletion{at: p.DeletionTimestamp.Time, again: true}
	if p.DeletionGracePeriodSeconds == nil || *p.DeletionGracePeriodSeconds == 0 {
		note("pod.metadata.deletionGracePeriodSeconds", "a pod that is being deleted without a period is removed at once", 0)
		d.changed = true
		return d
	}
	had := *p.DeletionGracePeriodSeconds
	note("pod.metadata.deletionGracePeriodSeconds", "the pod is being deleted with this period", had)
	if had < 0 {
		had = 1
		note("api-server", "a negative period becomes 1", had)
	}
	d.period = had
	if asked == nil {
		note("api-server", "a second delete without a period changes nothing", had)
		return d
	}
	period := *asked
	note("request.gracePeriodSeconds", "the second delete's own period", period)
	if period < 0 {
		period = 1
		note("api-server", "a negative period becomes 1", period)
	}
	if period >= had {
		note("api-server", "a second delete may only shorten: the period stays", had)
		return d
	}
	d.changed, d.period = true, period
	d.at = addSeconds(addSeconds(d.at, -had), period)
	if d.at.Before(now) {
		d.at = now
		if period != 0 {
			d.period = 1
			note("api-server", "counted from the first delete the shorter period is over already: it becomes 1", d.period)
			return d
		}
	}
	note("api-server", "a shorter period counts from the first delete", d.period)
	return d
}

// addSeconds moves a time, as far as times go.
func addSeconds(t time.Time, n int64) time.Time {
	const most = int64(1 << 33) // a Duration ends at 292 years
	for ; n > most; n -= most {
		if t = t.Add(time.Duration(most) * time.Second); t.Year() > 9999 {
			return t
		}
	}
	for ; n < -most; n += most {
		if t = t.Add(-time.Duration(most) * time.Second); t.Year() < 0 {
			return t
		}
	}
	return t.Add(time.Duration(n) * time.Second)
}

// deleted is a delete through the API, by a client or by the scheduler.
func (w *ending) deleted() {
	p := w.Pod
	d := w.deletion(w.Cause, w.GracePeriodSeconds, w.Force, w.Now)
	w.followDelete(d)
	p.DeletionTimestamp, p.DeletionGracePeriodSeconds = &metav1.Time{Time: d.at}, &d.period
}

// deletion is what the API server makes of a delete at a time.
func (w *ending) deletion(cause Cause, asked *int64, force bool, now time.Time) (d deletion) {
	p := w.Pod
	if cause == CausePreempt || cause == CauseTaint {
		asked, force = nil, false
	}
	if force {
		asked = new(int64(0))
	}
	switch {
	case p.DeletionTimestamp == nil:
		d.period = firstDelete(w.asPosted(), asked, force, w.step)
		d.at, d.changed = addSeconds(now, d.period), true
	case cause == CausePreempt:
		d = deletion{period: GracePeriod(p), at: p.DeletionTimestamp.Time, again: true}
		w.step("pod.metadata.deletionGracePeriodSeconds", "the scheduler sends no second delete to a pod that is going: it keeps its period", d.period)
	default:
		d = secondDelete(p, asked, now, w.step)
	}
	w.out.GracePeriodSeconds = d.period
	w.out.DeletionTimestamp = &metav1.Time{Time: d.at.UTC().Truncate(time.Second)}
	if d.at.Year() > 9999 {
		w.out.DeletionTimestamp = nil
	}
	return d
}

// asPosted is the pod with the period that it was posted with, so that a default
// is named as one.
func (w *ending) asPosted() *corev1.Pod {
	if w.declared {
		return w.Pod
	}
	bare := *w.Pod
	bare.Spec.TerminationGracePeriodSeconds = nil
	return &bare
}

// BeginDelete returns a pod whose graceful deletion was asked for at a time; nil where
// it goes at once, as a pod does that has no node or has ended, where no time is left, or
// where it is being deleted without a period. A later request can only shorten the time.
// The argument is not written (pkg/registry/core/pod/strategy.go CheckGracefulDelete,
// apiserver/pkg/registry/rest/delete.go BeforeDelete).
func BeginDelete(pod *corev1.Pod, grace int64, now time.Time) *corev1.Pod {
	if pod.Spec.NodeName == "" || terminal(pod.Status.Phase) || grace == 0 {
		return nil
	}
	if grace < 0 {
		grace = 1
	}
	now = now.UTC().Truncate(time.Second)
	d := deletion{period: grace, at: addSeconds(now, grace), changed: true}
	if pod.DeletionTimestamp != nil {
		d = secondDelete(pod, &grace, now, func(string, string, int64) {})
	}
	switch {
	case d.period == 0:
		return nil
	case !d.changed:
		return pod
	}
	p := *pod
	p.DeletionTimestamp, p.DeletionGracePeriodSeconds = new(metav1.NewTime(d.at)), &d.period
	return &p
}

// PreemptedBy returns a pod that is deleted for one of higher priority, with the condition that
// kube-scheduler writes before the delete, and by which it knows a victim that is still on its way
// (pkg/scheduler/framework/preemption executor.go NewExecutor, PreemptPod; pkg/api/v1/pod
// UpdatePodCondition). The argument is not written.
func PreemptedBy(pod *corev1.Pod, scheduler string, now time.Time) *corev1.Pod {
	c := corev1.PodCondition{
		Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: corev1.PodReasonPreemptionByScheduler,
		Message:            scheduler + ": preempting to accommodate a higher priority pod",
		LastTransitionTime: metav1.NewTime(now.UTC().Truncate(time.Second)),
	}
	p := *pod
	p.Status.Conditions = slices.Clone(pod.Status.Conditions)
	i := slices.IndexFunc(p.Status.Conditions, func(have corev1.PodCondition) bool { return have.Type == c.Type })
	switch {
	case i < 0:
		p.Status.Conditions = append(p.Status.Conditions, c)
		return &p
	case p.Status.Conditions[i].Status == c.Status:
		c.LastTransitionTime = p.Status.Conditions[i].LastTransitionTime
	}
	p.Status.Conditions[i] = c
	return &p
}
