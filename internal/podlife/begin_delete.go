package podlife

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// BeginDelete returns a pod whose graceful deletion was asked for at a time; nil where
// it goes at once, as a pod does that has no node or has ended, or where no time is
// left. A later request can only shorten the time. The argument is not written
// (pkg/registry/core/pod/strategy.go CheckGracefulDelete,
// apiserver/pkg/registry/rest/delete.go BeforeDelete).
func BeginDelete(pod *corev1.Pod, grace int64, now time.Time) *corev1.Pod {
	if pod.Spec.NodeName == "" || terminal(pod.Status.Phase) || grace == 0 {
		return nil
	}
	if grace < 0 {
		grace = 1
	}
	from := now.UTC().Truncate(time.Second)
	if at := pod.DeletionTimestamp; at != nil {
		var had int64
		if pod.DeletionGracePeriodSeconds != nil {
			had = *pod.DeletionGracePeriodSeconds
		}
		if grace >= had {
			return pod
		}
		from = at.Add(-time.Duration(had) * time.Second)
	}
	p := *pod
	ends := metav1.NewTime(from.Add(time.Duration(grace) * time.Second))
	p.DeletionTimestamp, p.DeletionGracePeriodSeconds = &ends, &grace
	return &p
}
