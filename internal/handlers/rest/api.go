// Package rest answers the calls below /v1, one file a subject.
package rest

import (
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"sync"

	"berth/internal/config"
	"berth/internal/decision"
	ledger "berth/internal/decision/admit"
	"berth/internal/engine"
	"berth/internal/engine/state"
	"berth/internal/handlers/admit"
	"berth/internal/kube/object"
	"berth/internal/kube/object/apiserver"
	"berth/internal/semantics"
	"berth/internal/store"
)

// API answers the calls below /v1. It is safe for concurrent use.
type API struct {
	*admit.Admission
	clusters        admit.Clusters
	ledger          *ledger.Ledger
	decisions       admit.Decisions
	stories         admit.StoryLog
	binder          admit.Binder
	batches         admit.Replays
	simulations     admit.Simulations
	priorityClasses admit.PriorityClasses
	queries         store.Queries
	viewColumns     sync.Map // the columns of views, by name
	profiles        func(raw []byte, under *semantics.Release) ([]*engine.Profile, []string, error)
	configured      *decision.Configuration
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
	warned     apiserver.WarningCache
	gone       func(cluster string)
	apart      apartViews
}

// New makes the API below /v1. gone is told of clusters that were deleted.
func New(a *admit.Admission, o admit.Options, gone func(cluster string)) (*API, error) {
	r := &API{
		Admission: a, queries: o.Queries, profiles: o.ParseProfiles, configured: o.Configuration, accessLog: o.AccessLog,
		followed: o.Followed, capacities: capacities{kept: o.Capacities},
		seals: o.Seals, cursorKey: o.CursorKey, pods: object.NewRequestPods(a.Limits.Objects(), false), gone: gone,
	}
	stored := ledger.Options{TolerationSeconds: o.TolerationSeconds, Limits: a.Limits.Objects()}
	if o.PriorityClasses != nil {
		stored.Classes = o.PriorityClasses
	}
	r.forks = stored
	r.stories = admit.LogOfStories(o.Decisions)
	o = admit.Guard(o)
	r.clusters, r.decisions, r.binder, r.priorityClasses = o.Clusters, o.Decisions, o.Binder, o.PriorityClasses
	r.batches, r.simulations = o.Replays, o.Simulations
	if o.Decisions != nil {
		stored.Preempted = preempted(o.Decisions)
	}
	r.ledger = ledger.New(r.clusters, stored)
	if r.configured == nil {
		r.configured = &decision.Configuration{Profiles: config.Default(semantics.Default())}
	}
	r.schedules = decision.RunsOf(r.configured.Profiles)
	if r.followed == nil {
		r.followed = func(string) bool { return false }
	}
	if r.cursorKey == nil {
		r.cursorKey = make([]byte, sha256.Size)
		_, _ = rand.Read(r.cursorKey) // it never fails
	}
	a.Budget.OnPressure(r.pods.Forget)
	a.Budget.OnPressure(func() { r.apart.forget("") })
	return r, errors.Join(r.watchQueue(o.Meter), r.watchCapacity(o.Meter))
}
