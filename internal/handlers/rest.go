package handlers

import (
	"crypto/rand"
	"crypto/sha256"
	"errors"

	"berth/internal/config"
	"berth/internal/decision"
	ledger "berth/internal/decision/admit"
	"berth/internal/engine"
	"berth/internal/engine/state"
	"berth/internal/kube/object"
	"berth/internal/store"
)

// restAPI answers the calls below /v1. It is safe for concurrent use.
type restAPI struct {
	*admission
	clusters        Clusters
	ledger          *ledger.Ledger
	decisions       Decisions
	stories         storyLog
	binder          Binder
	batches         Replays
	simulations     Simulations
	priorityClasses PriorityClasses
	queries         store.Queries
	profiles        func(raw []byte) ([]*engine.Profile, []string, error)
	configured      []*engine.Profile
	forks           ledger.Options // of them, about which nothing was decided
	accessLog       store.Access
	followed        func(cluster string) bool
	// schedules reports whether a pod of this scheduler is for us to place, and whether it waits
	// for its gates.
	schedules  state.Runs
	waits      waitCounts
	capacities capacities
	seals      store.Seals
	cursorKey  []byte
	pods       *object.RequestPods
	gone       func(cluster string)
}

// newREST makes the API below /v1. gone is told of clusters that were deleted.
func newREST(a *admission, o Options, gone func(cluster string)) (*restAPI, error) {
	r := &restAPI{
		admission: a, queries: o.Queries, profiles: o.ParseProfiles, configured: o.Profiles, accessLog: o.AccessLog,
		followed: o.Followed, capacities: capacities{kept: o.Capacities},
		seals: o.Seals, cursorKey: o.CursorKey, pods: object.NewRequestPods(a.limits.objects(), false), gone: gone,
	}
	stored := ledger.Options{TolerationSeconds: o.TolerationSeconds, Limits: a.limits.objects()}
	if o.PriorityClasses != nil {
		stored.Classes = o.PriorityClasses
	}
	r.forks = stored
	r.stories = logOfStories(o.Decisions)
	o = guard(o)
	r.clusters, r.decisions, r.binder, r.priorityClasses = o.Clusters, o.Decisions, o.Binder, o.PriorityClasses
	r.batches, r.simulations = o.Replays, o.Simulations
	if o.Decisions != nil {
		stored.Preempted = preempted(o.Decisions)
	}
	r.ledger = ledger.New(r.clusters, stored)
	if r.configured == nil {
		r.configured = config.Default()
	}
	r.schedules = decision.RunsOf(r.configured)
	if r.followed == nil {
		r.followed = func(string) bool { return false }
	}
	if r.cursorKey == nil {
		r.cursorKey = make([]byte, sha256.Size)
		_, _ = rand.Read(r.cursorKey) // it never fails
	}
	a.budget.OnPressure(r.pods.Forget)
	return r, errors.Join(r.watchQueue(o.Meter), r.watchCapacity(o.Meter))
}
