package revision

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/singleflight"

	"berth/internal/engine"
	"berth/internal/memory"
	"berth/internal/span"
	"berth/internal/store"
)

// Committer writes entries durably, many at a time. Submit keeps the order of its calls. wait
// returns when the entry is durable, or the reason why it is not.
type Committer interface {
	Submit(ctx context.Context, e *store.Entry) (wait func(context.Context) error, err error)
}

// Options tune a Manager. Zero fields take the defaults.
type Options struct {
	// CheckpointEvery is the number of changes after which a whole state is written. The default is
	// 500. A state of more than four times as many objects is written after a quarter of their
	// number, up to ten times CheckpointEvery. Loading a revision applies at most that many.
	CheckpointEvery int
	// KeepViews bounds how many older revisions, and how many clusters' newest, are held in memory.
	// The default is 8.
	KeepViews int
	// KeepObjects bounds the objects of all clusters' newest states together; of those beyond,
	// the least recently used ones are read from the store when they are needed.
	KeepObjects int
	// Budget bounds the memory of loading; nil: nothing does.
	Budget *memory.Budget
	// Poll is the interval at which the revisions that other processes wrote are read from the
	// store. 0 is never, for a store of one process.
	Poll time.Duration
	// ProfileOf returns the profile of a scheduler's name in a cluster, nil for one that is not the
	// server's.
	// Its plugins' hints find the pods that a revision may have helped; nil: it is not known which.
	ProfileOf func(cluster, scheduler string) *engine.Profile
	Clock     func() time.Time
	Log       *slog.Logger
}

func (o Options) withDefaults() Options {
	if o.CheckpointEvery <= 0 {
		o.CheckpointEvery = 500
	}
	if o.KeepViews <= 0 {
		o.KeepViews = 8
	}
	if o.KeepObjects <= 0 {
		o.KeepObjects = 1_000_000
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o
}

// Store is what a Manager needs of a store.
type Store interface {
	store.Revisions
	store.Holds
	store.Origins
	store.Sharing
	ReplayChanges(ctx context.Context, cluster string, after int64, limit int) ([]*store.ReplayChange, error)
	Ping(ctx context.Context) error
}

// Manager keeps the clusters. It is safe for concurrent use.
type Manager struct {
	st Store
	g  Committer
	o  Options

	chains sync.Map   // *chain by name; stored and deleted with mu held
	mu     sync.Mutex // of chains' users
	gone   uint64     // number of clusters deleted, by which a load notices a deletion

	following following
	views     viewCache
	holds     holds
	loads     singleflight.Group
	looks     looks
	epochs    epochs
	large     chan struct{} // holds a token while a large checkpoint is read or made in the background
	ticks     atomic.Int64

	ctx  context.Context // of the background goroutines
	stop context.CancelFunc
	work background
}

// Open returns a manager over a store. Clusters are read when they are needed. Close it before the
// store.
func Open(ctx context.Context, st Store, g Committer, o Options) (*Manager, error) {
	if err := st.Ping(ctx); err != nil {
		return nil, fmt.Errorf("open clusters: %w", err)
	}
	m := &Manager{st: st, g: g, o: o.withDefaults(), large: make(chan struct{}, 1)}
	m.epochs.kick = make(chan struct{}, 1)
	m.views.keep, m.views.heavy = m.o.KeepViews, min(heavy, m.o.KeepObjects)
	m.ctx, m.stop = context.WithCancel(context.WithoutCancel(ctx))
	m.following.begin(m.now())
	if m.o.Poll > 0 {
		m.work.Go(m.keepUp)
	}
	return m, nil
}

// Close ends the background goroutines and waits for the writes in flight.
func (m *Manager) Close() error {
	m.stop()
	m.work.Wait()
	return nil
}

func (m *Manager) now() time.Time { return m.o.Clock().UTC().Truncate(time.Microsecond) }

// View returns a revision of a cluster, 0 for the newest that is stored, once the holds whose time
// is over have gone from it. For an unknown one the error wraps store.ErrNotFound and names the id.
func (m *Manager) View(ctx context.Context, cluster string, revision int64) (*View, error) {
	v, err := m.view(ctx, cluster, revision)
	if err == nil && revision == 0 {
		return m.withoutDue(ctx, v)
	}
	return v, err
}

func (m *Manager) view(ctx context.Context, cluster string, revision int64) (*View, error) {
	if l := m.chainInMemory(cluster); l != nil {
		if v := l.held(revision); v != nil {
			l.used.Store(m.ticks.Add(1))
			return v, nil
		}
	}
	l, err := m.chain(ctx, cluster, false)
	if err != nil {
		if err = m.absent(cluster, err); revision != 0 && errors.Is(err, store.ErrNotFound) {
			return nil, fmt.Errorf("%s: %w", FormatID(cluster, revision), store.ErrNotFound)
		}
		return nil, err
	}
	defer m.leave(l)
	if v := l.held(revision); v != nil {
		return v, nil
	}
	if revision == 0 {
		v, err := m.newest(ctx, l)
		return v, m.absent(cluster, err)
	}
	if v := m.views.get(cluster, revision); v != nil {
		return v, nil
	}
	v, err := m.shared(ctx, l, revision)
	if err != nil {
		return nil, err
	}
	return v, m.holds.hold(ctx, v)
}

// newest reads a cluster's newest revision and publishes it.
func (m *Manager) newest(ctx context.Context, l *chain) (*View, error) {
	epoch := l.state.Load().epoch
	r, err := m.st.Newest(ctx, l.name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", FormatID(l.name, 0), err)
	}
	v, err := m.shared(ctx, l, r.Number)
	m.following.judge(l.name, err)
	if err != nil {
		return nil, err
	}
	v = m.publish(l, epoch, v)
	m.trim(l)
	return v, m.holds.hold(ctx, v)
}

// shared loads a revision once for all calls that need it at the same time.
func (m *Manager) shared(ctx context.Context, l *chain, revision int64) (v *View, err error) {
	_, part := span.Start(ctx, span.Load)
	defer func() { part.End(err) }()
	claim, key := memory.Of(ctx), FormatID(l.name, revision)
	if claim.Urgent() {
		key += " urgent" // it does not wait for a load that can wait
	}
	ch := m.loads.DoChan(key, func() (any, error) {
		// The context of one call must not end the load for the others.
		return m.load(m.ctx, l, revision, claim)
	})
	select {
	case res := <-ch:
		if res.Err != nil {
			return nil, res.Err
		}
		return res.Val.(*View), nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Record writes a decision that makes no revision, and returns when it is durable. The profile is
// written with it unless it is known to be stored.
func (m *Manager) Record(ctx context.Context, d *store.Decision, p *store.Profile) error {
	_, err := m.RecordEntry(ctx, d, p)
	return err
}

// RecordEntry is Record that also reports whether the record is durable on the local disk only, and
// not in the store yet.
func (m *Manager) RecordEntry(ctx context.Context, d *store.Decision, p *store.Profile) (spooled bool, err error) {
	return m.record(ctx, &store.Entry{Decision: d, Profile: p, Fresh: true})
}

// record writes decisions that make no revision.
func (m *Manager) record(ctx context.Context, e *store.Entry) (spooled bool, err error) {
	var first *store.Decision
	for d := range e.Decisions() {
		if d.Asked = store.AskedOf(ctx); first == nil {
			first = d
		}
	}
	e.Call = store.KeyedOf(ctx).Claim(pathOf(e))
	ctx, part := span.Start(ctx, span.Record)
	defer func() { part.End(err, span.Spooled.Bool(spooled)) }()
	wait, err := m.g.Submit(ctx, e)
	if err == nil {
		err = wait(ctx)
	}
	if err == nil {
		err = e.Err
	}
	if err != nil {
		return false, fmt.Errorf("record decision %s: %w", first.ID, m.reread(first, err))
	}
	return e.Spooled, nil
}

// pathOf is where the API has what an entry writes.
func pathOf(e *store.Entry) string {
	switch {
	case e.Decision != nil:
		return "/v1/decisions/" + e.Decision.ID
	case len(e.Placed) > 0:
		return "/v1/decisions?placement=" + e.Placed[0].Placement
	}
	return "/v1/snapshots/" + FormatID(e.Revision.Cluster, e.Revision.Number)
}
