package admit

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"

	"berth/internal/access"
	"berth/internal/decision"
	ledger "berth/internal/decision/admit"
	"berth/internal/decision/bind"
	"berth/internal/decision/record"
	"berth/internal/engine"
	"berth/internal/engine/state"
	"berth/internal/handlers/limits"
	"berth/internal/jobs/replays"
	"berth/internal/jobs/simulations"
	"berth/internal/kube/object"
	"berth/internal/memory"
	"berth/internal/revision"
	"berth/internal/semantics"
	"berth/internal/store"
)

// Clusters is what the API needs of the clusters' revisions; *revision.Manager is one.
type Clusters interface {
	View(ctx context.Context, cluster string, rev int64) (*revision.View, error)
	CatchUp(ctx context.Context, v *revision.View) (*revision.View, error)
	UploadResolved(ctx context.Context, cluster string, read object.Reader, stored revision.Classes, mayEmpty bool) (v *revision.View, created bool, err error)
	// Copy begins a cluster with the content of a revision of another one.
	Copy(ctx context.Context, cluster, source string, rev int64) (*revision.View, error)
	// Change takes objects as they stand.
	Change(ctx context.Context, cluster string, parent int64, apply []object.Object, del []object.Key) (*revision.View, error)
	ledger.Updater
	List(ctx context.Context, cluster string, before int64, limit int) ([]*store.Revision, error)
	// WalkApart walks through the revisions, whose states lack a pod.
	WalkApart(ctx context.Context, cluster, namespace, name string) (*revision.Walk, error)
	Delete(ctx context.Context, cluster string, rev int64) error
	DeleteCluster(ctx context.Context, cluster string) error
	Clusters(ctx context.Context, f store.ClusterFilter) ([]store.ClusterInfo, error)
	Count(ctx context.Context) (int, error)
	// Hold and ListHolds read holds, and EndHold commits or releases one.
	Hold(ctx context.Context, id string) (*store.Hold, error)
	ListHolds(ctx context.Context, f store.HoldFilter) ([]*store.Hold, error)
	EndHold(ctx context.Context, id string, commit bool) (*store.Hold, error)
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
	Configuration(ctx context.Context, digest string) (*store.Profile, error)
	// Gone reports that a cluster was deleted with everything in it.
	Gone(cluster string)
	Queue(ctx context.Context, v *revision.View, runs state.Runs, class func(name string) *schedulingv1.PriorityClass, when record.When) (*record.Queue, error)
}

// Binder is what the API needs to bind pods; *bind.Binder is one.
type Binder interface {
	Decide(ctx context.Context, q decision.Question) (*decision.Answer, error)
	Bind(ctx context.Context, cluster string, pod decision.PodRef, node string) (bind.Bound, error)
	// Place decides and binds many pods, and Try does on a view what Place would.
	Place(ctx context.Context, p *decision.Placement) (*decision.PlacementAnswer, error)
	Try(ctx context.Context, p *decision.Placement, v *revision.View) (*decision.PlacementAnswer, error)
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
	// Calls keeps the answers of calls with an Idempotency-Key; nil: keys have no effect.
	Calls store.KeyedCalls
	// Events is what the events of clusters are read from; nil: there are none.
	Events EventLog
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
	ParseProfiles func(raw []byte, under *semantics.Release) (list []*engine.Profile, ignored []string, err error)
	// Configuration is the server's, whose pods are for it to place; upstream's default one if nil.
	Configuration *decision.Configuration
	// Callers identifies who sends a request; nil: there are no tokens.
	Callers *access.Authenticator
	// AccessLog is the log of changes of access; nil: there is none.
	AccessLog store.Access
	// Denials keeps how many calls were refused, as by the process that Instance names; nil: they
	// are not counted.
	Denials  store.Denials
	Instance string
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
	Limits limits.Limits // zero: DefaultLimits
	// Budget bounds the memory of all that the process does; one of its own with
	// Limits.MemoryBudget if nil.
	Budget *memory.Budget
	Log    *slog.Logger
	Meter  metric.Meter
	Tracer trace.TracerProvider
	// Metrics answers /metrics; without it the path is not found.
	Metrics http.Handler
}

// PriorityClasses is what the API needs of the stored classes; *priorityclass.Registry is one.
type PriorityClasses interface {
	List(ctx context.Context, cluster string) (*schedulingv1.PriorityClassList, error)
	Get(ctx context.Context, cluster, name string) (*schedulingv1.PriorityClass, error)
	Create(ctx context.Context, cluster string, c *schedulingv1.PriorityClass) (*schedulingv1.PriorityClass, error)
	Update(ctx context.Context, cluster, name string, c *schedulingv1.PriorityClass) (*schedulingv1.PriorityClass, error)
	Delete(ctx context.Context, cluster, name string) (*schedulingv1.PriorityClass, error)
	// Count returns the number of stored classes of a cluster and of all clusters, from memory.
	Count(cluster string) (inCluster, inAll int)
	// Class answers from memory, for decisions; the default class for "".
	Class(cluster, name string) *schedulingv1.PriorityClass
	// Gone reports that a cluster was deleted with everything in it.
	Gone(ctx context.Context, cluster string)
}

// Replays is what the API needs of batch replays; *replays.Jobs is one.
type Replays interface {
	jobCalls[replays.Request, *replays.Job]
	Differences(ctx context.Context, id string, after store.ReplayCursor, limit int) ([]*replays.Difference, error)
}

// Simulations is what the API needs of the jobs of questions about what comes next;
// *simulations.Jobs is one.
type Simulations interface {
	jobCalls[*simulations.Question, *simulations.Job]
	// Question returns what a job was made of.
	Question(ctx context.Context, id string) ([]byte, error)
}

// Hold keeps a rejection back until the state is as new as what kube-scheduler acted on;
// follow.Holder has one.
type Hold func(ctx context.Context, cluster string, pod func() *corev1.Pod, try func(final bool) (rejects bool, err error)) error

// EventLog is what the events of clusters are read from; store.Store is one.
type EventLog interface {
	SealHeads(ctx context.Context, cluster string) ([]store.SealHead, error)
	ListSeals(ctx context.Context, cluster string, after int64, limit int, removals bool) ([]*store.Seal, error)
	RevisionsAfter(ctx context.Context, cluster string, after int64, limit int) ([]*store.Revision, error)
	FollowDecisions(ctx context.Context, cluster string, after int64, limit int) ([]*store.Decision, error)
	store.Attempts
}
