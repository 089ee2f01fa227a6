package handlers

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	schedulingv1 "k8s.io/api/scheduling/v1"

	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"berth/internal/access"
	"berth/internal/config"
	"berth/internal/decision"
	"berth/internal/decision/admit"
	"berth/internal/decision/bind"
	"berth/internal/decision/record"
	"berth/internal/engine"
	"berth/internal/engine/state"
	"berth/internal/kube/object"
	"berth/internal/memory"
	"berth/internal/revision"
	"berth/internal/store"
)

// Clusters is what the API needs of the clusters' revisions; *revision.Manager is one.
type Clusters interface {
	View(ctx context.Context, cluster string, rev int64) (*revision.View, error)
	CatchUp(ctx context.Context, v *revision.View) (*revision.View, error)
	UploadResolved(ctx context.Context, cluster string, read object.Reader, stored revision.Classes, mayEmpty bool) (v *revision.View, created bool, err error)
	// Change takes objects as they stand.
	Change(ctx context.Context, cluster string, parent int64, apply []object.Object, del []object.Key) (*revision.View, error)
	admit.Updater
	List(ctx context.Context, cluster string, before int64, limit int) ([]*store.Revision, error)
	Delete(ctx context.Context, cluster string, rev int64) error
	DeleteCluster(ctx context.Context, cluster string) error
	Clusters(ctx context.Context, f store.ClusterFilter) ([]store.ClusterInfo, error)
	Count(ctx context.Context) (int, error)
	// Held lists the newest states that are in memory.
	Held() []*revision.View
}

// Decisions is what the API needs of the decision log; *record.Log is one.
type Decisions interface {
	Decide(ctx context.Context, q decision.Question) (*decision.Answer, error)
	Evaluate(ctx context.Context, q decision.Question) (*record.Entry, error)
	Write(ctx context.Context, e *record.Entry) (spooled bool, err error)
	Get(ctx context.Context, id string) (*record.Recorded, error)
	List(ctx context.Context, f store.DecisionFilter) ([]*record.Row, error)
	Follow(ctx context.Context, cluster string, after int64, limit int) ([]*record.Row, error)
	History(ctx context.Context, cluster string, since, until time.Time, most int, progress func(done int)) (list []record.Asked, more bool, err error)
	Started(ctx context.Context, cluster string, since, until time.Time) (rev int64, err error)
	Replay(ctx context.Context, id string, o record.Overrides) (*record.Replay, error)
	Record(ctx context.Context, id string) (*store.Decision, error)
	Preempted(ctx context.Context, cluster string, pods []object.Key) ([]record.Preempted, error)
	// Gone reports that a cluster was deleted with everything in it.
	Gone(cluster string)
	Queue(ctx context.Context, v *revision.View, runs state.Runs, class func(name string) *schedulingv1.PriorityClass, when record.When) (*record.Queue, error)
}

// Binder is what the API needs to bind pods; *bind.Binder is one.
type Binder interface {
	Decide(ctx context.Context, q decision.Question) (*decision.Answer, error)
	Bind(ctx context.Context, cluster string, pod decision.PodRef, node string) (bind.Bound, error)
	// Unserved returns why a pod that names a scheduler is not bound in a cluster; "" where that is
	// no reason.
	Unserved(cluster string, pod decision.PodRef, scheduler string) string
}

// Check is one thing that has to be right for the server to be ready.
type Check struct {
	Name  string
	Probe func(context.Context) error
	// Warn only names what is wrong: the server is ready all the same, since it
	// answers for everything else.
	Warn bool
}

// WarningError is what a Check's probe gives where this time, too, the server is ready
// all the same.
type WarningError struct{ Err error }

// Error implements error.
func (w *WarningError) Error() string { return w.Err.Error() }

// Unwrap returns what is wrong.
func (w *WarningError) Unwrap() error { return w.Err }

// Note names a state that people should know of, of a server that is ready all the same.
type Note struct {
	Name string
	Text func() string // "" where there is nothing to say
}

// Options are what an API is made of. Clusters, Decisions, Binder, Replays, Simulations,
// PriorityClasses and ParseProfiles are needed; the rest has defaults.
type Options struct {
	Clusters  Clusters
	Decisions Decisions
	Binder    Binder
	Replays   Replays
	// Simulations are the jobs that RunSimulation works on.
	Simulations Simulations
	// Capacities keeps what is measured for the gauges of capacity; nil: nothing of it is stored.
	Capacities store.Capacities
	// Queries runs the ready queries; nil: none is run.
	Queries store.Queries
	// Seals are the hash chains of the log.
	Seals store.Seals
	// CursorKey is what the cursors of lists are sealed with, the same in all replicas; one of this
	// process if nil.
	CursorKey []byte
	// PriorityClasses are those stored beside the snapshots.
	PriorityClasses PriorityClasses
	// TolerationSeconds has pods that the ledger stores admitted with DefaultTolerationSeconds.
	TolerationSeconds bool
	// ParseProfiles reads a KubeSchedulerConfiguration in JSON or YAML. ignored says, a sentence
	// each, what of it has no effect, with the path of the field first.
	ParseProfiles func(raw []byte) (list []*engine.Profile, ignored []string, err error)
	// Profiles are the server's configuration, whose pods are for it to place; upstream's default
	// one if nil.
	Profiles []*engine.Profile
	// Callers identifies who sends a request; nil: there are no tokens.
	Callers *access.Authenticator
	// AccessLog is the log of changes of access; nil: there is none.
	AccessLog store.Access
	// Followed reports whether a cluster's state comes from its apiserver, and from no other
	// caller; nil: none does.
	Followed func(cluster string) bool
	// Hold keeps rejections back about clusters that are followed; nil: none is.
	Hold Hold
	// Hosts are the names, beside those of loopback, under which the server answers; without any
	// only requests that reach a loopback address are held to a name.
	Hosts []string
	// Origins are those whose pages may call the API from a browser (CheckOrigin).
	Origins []string
	// Pages reports whether pages are served beside the API, which log lines then link to.
	Pages bool
	// Checks are asked by /readyz.
	Checks []Check
	// Notes are shown by /readyz.
	Notes  []Note
	Limits Limits // zero: DefaultLimits
	// Budget bounds the memory of all that the process does; one of its own with
	// Limits.MemoryBudget if nil.
	Budget *memory.Budget
	Log    *slog.Logger
	Meter  metric.Meter
	Tracer trace.TracerProvider
	// Metrics answers /metrics; without it the path is not found.
	Metrics http.Handler
}

// API answers HTTP. It is safe for concurrent use.
type API struct {
	clusters        Clusters
	ledger          *admit.Ledger
	decisions       Decisions
	told            storyLog
	binder          Binder
	strangers       strangers
	batches         Replays
	simulations     Simulations
	priorityClasses PriorityClasses
	queries         store.Queries
	profiles        func(raw []byte) ([]*engine.Profile, []string, error)
	configured      []*engine.Profile
	pages           bool
	admission       admit.Options
	checks          []Check
	notes           []Note
	limits          Limits
	log             *slog.Logger
	metrics         *metrics
	tracer          trace.TracerProvider
	scrape          http.Handler
	callers         *access.Authenticator
	accessLog       store.Access

	filterCalls, nodesCalls, bindCalls, snapshotCalls *callClass
	decisionCalls, replayCalls, readCalls             *callClass
	scenarioCalls, queryCalls                         *callClass
	// passCalls is for calls of shadows that were not admitted to be judged.
	passCalls *callClass
	budget    *memory.Budget

	callerLimits *callerLimits

	followed func(cluster string) bool
	hold     Hold
	// schedules reports whether a pod of this scheduler is for us to place, and whether it waits
	// for its gates.
	schedules  state.Runs
	hosts      []string
	origins    []string
	waits      waitCounts
	capacities capacities
	seals      store.Seals
	cursorKey  []byte

	// pods and scheduledPods decode the pods of decisions and of the extender's calls.
	pods, scheduledPods *object.RequestPods

	seldom   seldom
	denials  denials
	sample   *decisionSample
	names    nameTables
	nodes    nodeCaches
	draining atomic.Bool

	// withDeadline is context.WithDeadline, but in tests of who looks at a context.
	withDeadline func(parent context.Context, until time.Time) (context.Context, context.CancelFunc)
}

// New makes an API.
func New(o Options) (*API, error) {
	if o.Limits == (Limits{}) {
		o.Limits = DefaultLimits()
	}
	if err := o.Limits.Validate(); err != nil {
		return nil, err
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	a := &API{
		binder: guardedBinder{o.Binder}, batches: guardReplays(o.Replays),
		simulations: guardSimulations(o.Simulations), queries: o.Queries, callers: o.Callers, accessLog: o.AccessLog,
		profiles: o.ParseProfiles, checks: o.Checks, notes: o.Notes,
		withDeadline: context.WithDeadline,
		limits:       o.Limits, log: o.Log, tracer: o.Tracer, scrape: o.Metrics,
		sample: newDecisionSample(), pages: o.Pages,
		seldom:     seldom{every: 10 * time.Second, last: map[string]time.Time{}},
		names:      newNameTables(),
		capacities: capacities{kept: o.Capacities},
		seals:      o.Seals,
		nodes:      newNodeCaches(int64(o.Limits.NodesCacheBytes)),
		pods:       object.NewRequestPods(o.Limits.objects(), false), scheduledPods: object.NewRequestPods(o.Limits.objects(), true),
	}
	if o.Clusters != nil {
		a.clusters = guardedClusters{o.Clusters}
	}
	if o.Decisions != nil {
		a.decisions, a.told = guardedDecisions{o.Decisions}, storyLog{guardedDecisions{o.Decisions}}
	}
	admitted := admit.Options{TolerationSeconds: o.TolerationSeconds, Limits: o.Limits.objects()}
	if o.PriorityClasses != nil {
		admitted.Classes, a.priorityClasses = o.PriorityClasses, guardedClasses{o.PriorityClasses}
	}
	a.admission = admitted // of forks, about which nothing was decided
	if o.Decisions != nil {
		admitted.Preempted = preempted(a.decisions)
	}
	a.ledger = admit.New(a.clusters, admitted)
	if a.callers == nil {
		a.callers = &access.Authenticator{}
	}
	if a.configured = o.Profiles; a.configured == nil {
		a.configured = config.Default()
	}
	if a.followed = o.Followed; a.followed == nil {
		a.followed = func(string) bool { return false }
	}
	if a.hold = o.Hold; a.hold == nil {
		a.hold = neverHeld
	}
	var err error
	if a.metrics, err = newMetrics(o.Meter); err != nil {
		return nil, err
	}
	a.schedules, a.origins = decision.RunsOf(a.configured), o.Origins
	for _, name := range o.Hosts {
		a.hosts = append(a.hosts, strings.ToLower(name))
	}
	if err := errors.Join(a.watchQueue(o.Meter), a.watchCapacity(o.Meter)); err != nil {
		return nil, err
	}
	a.classes()
	a.callerLimits = newCallerLimits(&a.limits)
	if a.cursorKey = o.CursorKey; a.cursorKey == nil {
		a.cursorKey = make([]byte, sha256.Size)
		_, _ = rand.Read(a.cursorKey) // it never fails
	}
	if a.budget = o.Budget; a.budget == nil {
		a.budget = memory.New(int64(o.Limits.MemoryBudget))
	}
	a.budget.OnPressure(a.pods.Forget)
	a.budget.OnPressure(a.scheduledPods.Forget)
	return a, nil
}

// Drain makes the server not ready, so that no new requests are sent to it while it shuts down.
// Requests are still answered.
func (a *API) Drain() {
	a.draining.Store(true)
}
