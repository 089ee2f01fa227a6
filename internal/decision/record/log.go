package record

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/decision"
	"berth/internal/engine/state"
	"berth/internal/revision"
	"berth/internal/store"
)

// Options tune a Log. Zero fields take the defaults.
type Options struct {
	Clock func() time.Time
	// TopScores is how many of the best nodes a record keeps for SQL; 3 if zero.
	TopScores int
	// PoolLabel is the label of nodes by whose values records count rejected nodes; empty: by none.
	PoolLabel string
	// Stale returns for how long the state of a cluster that is followed may have missed changes;
	// ok is false for one that is not followed.
	Stale func(cluster string) (stale time.Duration, ok bool)
	// Guarded reports whether binds in a cluster need a decision on record; nil: none do.
	Guarded func(cluster string) bool
	// MaxSteps bounds the work of a decision, except in a replay; 0: no bound.
	MaxSteps int64
	// Backoff is the server's configuration of the queue; upstream's defaults where it is zero.
	Backoff state.Backoff
	// Classes are the stored priority classes; none where it is nil.
	Classes decision.Classes
	// TolerationSeconds is decision.Scheduler.TolerationSeconds.
	TolerationSeconds bool
}

// Log evaluates questions and keeps their records. It is safe for concurrent use.
type Log struct {
	m         *revision.Manager
	st        store.Store
	scheduler *decision.Scheduler
	o         Options

	profiles profileCache
	agreed   recent[agreement]
	passed   recent[passage]
	attempts attempts
	judged   judgedPods
}

// New makes a log over a manager and its store, under the server's configuration.
func New(m *revision.Manager, st store.Store, c *decision.Configuration, o Options) *Log {
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.TopScores <= 0 {
		o.TopScores = 3
	}
	if o.Backoff == (state.Backoff{}) {
		o.Backoff = state.DefaultBackoff()
	}
	return &Log{
		m: m, st: st, o: o, profiles: newProfileCache(st, c.All()), agreed: newRecent[agreement](maxRecent), passed: newRecent[passage](maxRecent), judged: newJudgedPods(),
		attempts:  newAttempts(maxRecent),
		scheduler: &decision.Scheduler{Configuration: c, Classes: o.Classes, TolerationSeconds: o.TolerationSeconds, MaxSteps: o.MaxSteps},
	}
}

func (l *Log) now() time.Time { return l.o.Clock().UTC().Truncate(time.Microsecond) }

// Configured is the server's configuration.
func (l *Log) Configured() *decision.Configuration { return l.scheduler.Configuration }

// Configuration returns the configuration that records name by this digest; store.ErrNotFound
// where neither the server nor a record has it.
func (l *Log) Configuration(ctx context.Context, digest string) (*store.Profile, error) {
	return l.profiles.kept(ctx, digest)
}

// Priority is decision.Scheduler.Priority.
func (l *Log) Priority(v *revision.View, namespace, name string, pod *corev1.Pod) (int32, error) {
	return l.scheduler.Priority(v, namespace, name, pod)
}

// Normalize fills in a question's defaults by the log's clock.
func (l *Log) Normalize(q decision.Question) (decision.Question, error) {
	return q.Normalize(l.o.Clock)
}

// Gone forgets what is in memory of a cluster that was deleted.
func (l *Log) Gone(cluster string) {
	l.scheduler.Gone(cluster)
	l.judged.gone(cluster)
}

// Replaced forgets what a store had that another one took the place of: records and profiles may be
// missing there.
func (l *Log) Replaced() {
	l.agreed.Purge()
	l.passed.Purge()
	l.judged.Purge()
	for _, pods := range l.attempts {
		pods.Purge()
	}
	l.profiles.replaced()
}

// List lists decisions, newest first.
func (l *Log) List(ctx context.Context, f store.DecisionFilter) ([]*Row, error) {
	list, err := l.st.ListDecisions(ctx, f)
	if err != nil {
		return nil, fmt.Errorf("list decisions: %w", err)
	}
	return rowsOf(list), nil
}

// Follow lists the decisions of a cluster that were recorded after place after
// in its log, in the order of their places, up to limit.
func (l *Log) Follow(ctx context.Context, cluster string, after int64, limit int) ([]*Row, error) {
	list, err := l.st.FollowDecisions(ctx, cluster, after, limit)
	if err != nil {
		return nil, fmt.Errorf("follow decisions: %w", err)
	}
	return rowsOf(list), nil
}

// Record returns a record as it is stored, nothing of it worked out again.
func (l *Log) Record(ctx context.Context, id string) (*store.Decision, error) {
	d, err := l.st.Decision(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("decision %s: %w", id, err)
	}
	return d, nil
}
