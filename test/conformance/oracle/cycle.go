//go:build !v1_34 && !v1_35 && !v1_37 && !library

package oracle

import (
	"context"

	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// cycle runs the scheduling cycle of one pod.
func (cl *cluster) cycle(ctx context.Context, state fwk.CycleState, pod *framework.PodInfo) (scheduler.ScheduleResult, error) {
	return cl.sched.SchedulePod(ctx, cl.framework, state, &framework.QueuedPodInfo{PodInfo: pod})
}
