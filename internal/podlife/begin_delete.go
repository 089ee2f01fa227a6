package podlife

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

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
