package podlife

import (
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
