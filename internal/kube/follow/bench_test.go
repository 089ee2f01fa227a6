package follow

import (
	"fmt"
	"log/slog"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// BenchmarkHeardPod is what a watch's event of a pod costs that was just bound, of a workload of
// which ten pods are bound a second.
func BenchmarkHeardPod(b *testing.B) {
	m := newWatchCache(slog.New(slog.DiscardHandler), time.Now)
	s := m.store(kinds[1], func() {})
	seconds := int64(30)
	request := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m"), corev1.ResourceMemory: resource.MustParse("128Mi")}
	now := time.Unix(1_790_000_000, 0)
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		n++
		at := metav1.NewTime(now.Add(time.Duration(n/10) * time.Second))
		err := s.Update(&corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("web-", n), Namespace: "shop", UID: types.UID(fmt.Sprint("uid-", n)), Labels: map[string]string{"app": "web"}, CreationTimestamp: at},
			Spec: corev1.PodSpec{
				NodeName: fmt.Sprint("node-", n%100), RestartPolicy: corev1.RestartPolicyAlways, SchedulerName: corev1.DefaultSchedulerName, DNSPolicy: corev1.DNSClusterFirst,
				TerminationGracePeriodSeconds: &seconds, ServiceAccountName: "default", SecurityContext: &corev1.PodSecurityContext{},
				Containers: []corev1.Container{{Name: "c", Image: "registry.invalid/web", Resources: corev1.ResourceRequirements{Requests: request}, ImagePullPolicy: corev1.PullAlways}},
			},
			Status: corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionTrue, LastTransitionTime: at}}},
		})
		if err != nil {
			b.Fatal(err)
		}
		if n%1000 == 0 {
			m.take()
		}
	}
}
