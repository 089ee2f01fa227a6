package decisionlog

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/cluster"
	"berth/internal/engine"
	"berth/internal/engine/rules"
	"berth/internal/engine/state"
	"berth/internal/store"
)

// Options tune a Log. Zero fields take the defaults.
type Options struct {
	Clock func() time.Time
	Log   *slog.Logger
	// TopScores is how many of the best nodes a record keeps for SQL; 3 unless
	// told.
	TopScores int
	// Stale tells for how long the state of a cluster that is followed may have
	// missed what happened; ok is false for one that is not followed.
	Stale func(cluster string) (stale time.Duration, ok bool)
	// Binder gives what binds the pods of a cluster; nil for one whose ledger is
	// all there is.
	Binder func(cluster string) Binder
	// BindProfiles are asked once more, on the newest revision and for the one
	// node, before a pod is bound through a Binder; nil: nobody is.
	BindProfiles []*engine.Profile
	// BindUnasked lets pods be bound through a Binder without a decision on record
	// that let the node pass, and pods of other schedulers.
	BindUnasked bool
	// Hold keeps refusals to bind back until the state is as new as what the caller
	// acted on: it calls try again until it does not refuse, or final is set. nil:
	// nothing is kept back.
	Hold func(ctx context.Context, cluster string, pod func() *corev1.Pod, try func(final bool) (refuses bool, err error)) error
	// MaxSteps bounds the work of a decision that is asked for, not of a replay; 0: no bound.
	MaxSteps int64
	// Backoff is the server's configuration of the queue; upstream's defaults where it
	// is zero.
	Backoff state.Backoff
	// Classes gives the stored priority classes; none where it is nil.
	Classes Classes
	// TolerationSeconds admits pods that are decided on with the plugin
	// DefaultTolerationSeconds.
	TolerationSeconds bool
}

// maxProfiles bounds the profiles that are remembered: as built from the store,
// and as known to be stored.
const maxProfiles = 256

// Log answers questions and keeps their records. It is safe for concurrent use.
type Log struct {
	m        *cluster.Manager
	st       store.Store
	profiles []*engine.Profile
	o        Options

	mu       sync.Mutex
	stored   map[string]struct{}        // digests of profiles that the store has
	restored map[string]*engine.Profile // by digest
	overlays overlayCache
	agreed   recent[agreement]
	passed   recent[passage]
}

// New makes a log over a manager and its store. Profiles are the server's
// configuration, at least one.
func New(m *cluster.Manager, st store.Store, profiles []*engine.Profile, o Options) *Log {
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.TopScores <= 0 {
		o.TopScores = 3
	}
	if o.Backoff == (state.Backoff{}) {
		o.Backoff = state.DefaultBackoff()
	}
	return &Log{m: m, st: st, profiles: profiles, o: o, stored: map[string]struct{}{}, restored: map[string]*engine.Profile{}}
}

// stale is what a record says of it.
func (l *Log) stale(cluster string) *int64 {
	if l.o.Stale == nil {
		return nil
	}
	d, ok := l.o.Stale(cluster)
	if !ok {
		return nil
	}
	ms := d.Milliseconds()
	return &ms
}

// binder is nil where the ledger is all there is.
func (l *Log) binder(cluster string) Binder {
	if l.o.Binder == nil {
		return nil
	}
	return l.o.Binder(cluster)
}

func (l *Log) now() time.Time { return l.o.Clock().UTC().Truncate(time.Microsecond) }

func formatID(c string, revision int64) string { return cluster.FormatID(c, revision) }

// unstored gives the profile to write with a record; nil where the store is
// known to have it.
func (l *Log) unstored(p *engine.Profile) *store.Profile {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, ok := l.stored[p.Digest]; ok {
		return nil
	}
	return &store.Profile{Digest: p.Digest, Name: p.Name, Payload: p.Payload}
}

// noteStored remembers that a profile was written.
func (l *Log) noteStored(p *store.Profile) {
	if p == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.stored) >= maxProfiles {
		clear(l.stored) // writing one again does no harm
	}
	l.stored[p.Digest] = struct{}{}
}

// profile gives the profile that a record names.
func (l *Log) profile(ctx context.Context, digest string) (*engine.Profile, error) {
	for _, p := range l.profiles {
		if p.Digest == digest {
			return p, nil
		}
	}
	l.mu.Lock()
	p := l.restored[digest]
	l.mu.Unlock()
	if p != nil {
		return p, nil
	}
	kept, err := l.st.Profile(ctx, digest)
	if err != nil {
		return nil, fmt.Errorf("profile %s: %w", digest, err)
	}
	if p, err = rules.Restore(kept.Payload); err != nil {
		return nil, fmt.Errorf("profile %s: %w (%w)", digest, cluster.ErrCorrupt, err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.restored) >= maxProfiles {
		clear(l.restored)
	}
	l.restored[digest] = p
	return p, nil
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

func rowsOf(list []*store.Decision) []*Row {
	out := make([]*Row, 0, len(list))
	for _, d := range list {
		out = append(out, rowOf(d))
	}
	return out
}

// Record gives a record as it is stored, nothing of it worked out again.
func (l *Log) Record(ctx context.Context, id string) (*store.Decision, error) {
	d, err := l.st.Decision(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("decision %s: %w", id, err)
	}
	return d, nil
}
