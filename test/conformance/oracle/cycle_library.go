//go:build library

package oracle

import (
	"context"
	"fmt"

	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"sigs.k8s.io/scheduler-library/pkg/upstreamsync"
)

// cycle runs the cycle of one pod as sigs.k8s.io/scheduler-library does, by its profiles over the
// same stores and snapshot. Reserve is part of it; what it reserves is given back.
func (cl *cluster) cycle(ctx context.Context, state fwk.CycleState, pod *framework.PodInfo) (scheduler.ScheduleResult, error) {
	own, err := cl.ofLibrary(ctx)
	if err != nil {
		return scheduler.ScheduleResult{}, err
	}
	s := upstreamsync.NewScheduler(cl.snapshot, 0, 0, int32(cl.snapshot.NumNodesInPlacement()))
	r, undo := s.SchedulePod(ctx, own.framework, &upstreamsync.PendingPod{PodInfo: pod, CycleState: state})
	if undo != nil {
		undo()
	}
	return r.ScheduleResult, r.Status.AsError()
}

// ofLibrary is the cluster with the profile that the library builds.
func (cl *cluster) ofLibrary(ctx context.Context) (*cluster, error) {
	nominator, ok := cl.sched.SchedulingQueue.(fwk.PodNominator)
	if !ok {
		return nil, fmt.Errorf("a %T nominates no pods", cl.sched.SchedulingQueue)
	}
	profiles, err := upstreamsync.NewProfileMap(ctx, cl.framework.ClientSet(), cl.informers, noEvents, nominator, nil, nil,
		cl.snapshot, upstreamsync.WithProfiles(cl.profiles...))
	if err != nil {
		return nil, err
	}
	own := *cl
	own.framework = profiles.Map[cl.framework.ProfileName()]
	if own.plugins, err = pluginsOf(own.framework); err != nil {
		return nil, err
	}
	if err := own.sortPools(); err != nil {
		return nil, err
	}
	for _, obj := range cl.other {
		if err := own.announce(obj); err != nil {
			return nil, err
		}
	}
	return &own, own.announceAll(ctx)
}
