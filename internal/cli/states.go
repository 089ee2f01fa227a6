package cli

import (
	"context"
	"slices"
	"time"

	schedulingv1 "k8s.io/api/scheduling/v1"

	"berth/internal/apiclient"
	"berth/internal/config"
	"berth/internal/decision"
	"berth/internal/decision/record"
	"berth/internal/engine"
	"berth/internal/handlers"
	"berth/internal/handlers/admit"
	"berth/internal/handlers/limits"
	"berth/internal/report"
	"berth/internal/revision"
	"berth/internal/scenario"
	"berth/internal/store"
)

// inMemory is the name of the cluster that states in memory are of.
const inMemory = "snapshot"

// newStates returns a client of a server's own handlers in this process, over the states of one
// cluster in memory, from revision 1 on.
func newStates(list []*engine.Profile, views ...*revision.View) (*states, error) {
	s := &states{views: views, profiles: list, judged: func() {}}
	for i, v := range views {
		v.Revision = int64(i + 1)
	}
	api, err := handlers.New(admit.Options{
		Clusters: s, Decisions: unlogged{Unlogged: s.decide}, PriorityClasses: noClasses{},
		ParseProfiles: config.Parse, Configuration: &decision.Configuration{Profiles: list}, Limits: limits.Unbounded(),
	})
	if err != nil {
		return nil, err
	}
	s.client = apiclient.InProcess(api.InProcess())
	return s, nil
}

// states are what a server's handlers need of clusters, as far as they only read.
type states struct {
	writing
	client   *apiclient.Client
	views    []*revision.View
	profiles []*engine.Profile
	// judged is called for each decision.
	judged func()
}

// writing are the methods of admit.Clusters that no question here comes to.
type writing interface{ admit.Clusters }

// View returns a revision, 0 for the newest.
func (s *states) View(_ context.Context, name string, rev int64) (*revision.View, error) {
	if rev == 0 {
		rev = int64(len(s.views))
	}
	if name != inMemory || rev < 1 || int(rev) > len(s.views) {
		return nil, &revision.InvalidError{Field: "snapshot", Detail: "it is not in memory", Absent: true}
	}
	return s.views[rev-1], nil
}

// List returns the states as the revisions of one history, the newest first.
func (s *states) List(_ context.Context, _ string, before int64, _ int) (list []*store.Revision, err error) {
	for _, v := range slices.Backward(s.views) {
		if before == 0 || v.Revision < before {
			list = append(list, &store.Revision{Cluster: inMemory, Number: v.Revision, CreatedAt: v.CreatedAt})
		}
	}
	return list, nil
}

// WalkApart walks through the states, which lack a pod.
func (s *states) WalkApart(_ context.Context, _, namespace, name string) (*revision.Walk, error) {
	return revision.WalkViews(s.views, namespace, name), nil
}

// CatchUp finds nothing newer.
func (*states) CatchUp(context.Context, *revision.View) (*revision.View, error) { return nil, nil }

func (s *states) decide(ctx context.Context, q decision.Question) (*decision.Answer, error) {
	s.judged()
	v, err := s.View(ctx, q.Cluster, q.Revision)
	if err != nil {
		return nil, err
	}
	return decision.Preview(ctx, v, s.profiles, q, time.Now)
}

// unlogged are what handlers need of the decision log, where none is written.
type unlogged struct {
	reads
	report.Unlogged
}

// reads are the methods that unlogged does not have of its own.
type reads struct{ admit.Decisions }

// Started implements admit.Decisions.
func (unlogged) Started(context.Context, string, time.Time, time.Time) (int64, error) {
	return 0, scenario.ErrNoLog
}

// History implements admit.Decisions.
func (unlogged) History(context.Context, string, time.Time, time.Time, int, func(int)) ([]record.Asked, bool, error) {
	return nil, false, scenario.ErrNoLog
}

// noClasses are the stored priority classes, of which there are none.
type noClasses struct{ admit.PriorityClasses }

// Class implements admit.PriorityClasses.
func (noClasses) Class(string, string) *schedulingv1.PriorityClass { return nil }

// List implements admit.PriorityClasses.
func (noClasses) List(context.Context, string) (*schedulingv1.PriorityClassList, error) {
	return &schedulingv1.PriorityClassList{}, nil
}
