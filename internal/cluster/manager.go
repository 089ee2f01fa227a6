package cluster

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/singleflight"

	"berth/internal/store"
)

// Committer writes entries durably, many at a time: what the group committer
// offers. Submit keeps the order of its calls; wait says when the entry is
// durable, or why it is not.
type Committer interface {
	Submit(ctx context.Context, e *store.Entry) (wait func(context.Context) error, err error)
}

// Options tune a Manager. Zero fields take the defaults.
type Options struct {
	// CheckpointEvery is the number of changes after which a whole state is
	// written; 500 unless told. Loading a revision applies at most so many.
	CheckpointEvery int
	// KeepViews bounds how many older revisions, and how many clusters' newest,
	// are held in memory; 8 unless told.
	KeepViews int
	// KeepObjects bounds the objects of all clusters' newest states together; of those beyond,
	// the least recently used ones are read from the store when they are asked for.
	KeepObjects int
	// Poll is how often the store is asked for revisions that other processes
	// wrote; 0: never, for a store of one process.
	Poll  time.Duration
	Clock func() time.Time
	Log   *slog.Logger
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

// Manager keeps the clusters. It is safe for concurrent use.
type Manager struct {
	st store.Store
	g  Committer
	o  Options

	mu    sync.Mutex
	lines map[string]*line
	gone  uint64 // how many clusters were deleted, so that a load can tell

	following following
	views     viewCache
	loads     singleflight.Group
	ticks     atomic.Int64

	ctx  context.Context // of the work in the background
	stop context.CancelFunc
	work sync.WaitGroup
}

// line is one cluster's chain of revisions.
type line struct {
	name   string
	writer chan struct{} // holds a token while somebody writes
	used   atomic.Int64

	mu      sync.Mutex
	head    *View   // newest, perhaps not durable yet; nil: to be read
	durable *View   // newest that is known to be stored; nil: to be read
	recent  []*View // durable ones before, newest first
	epoch   uint64  // grows when head is given up
	flying  int     // writes on their way
	race    race
	// checkpoint is the newest one's number; saving says that one is being made.
	checkpoint int64
	saving     bool
	asking     bool          // somebody finds out what became of writes without an answer
	newer      chan struct{} // closed when durable gets newer; nil: nobody waits
}

// Open makes a manager over a store. Clusters are read when they are asked for.
// Close it before the store.
func Open(ctx context.Context, st store.Store, g Committer, o Options) (*Manager, error) {
	if err := st.Ping(ctx); err != nil {
		return nil, fmt.Errorf("open clusters: %w", err)
	}
	m := &Manager{st: st, g: g, o: o.withDefaults(), lines: map[string]*line{}}
	m.views.keep, m.views.heavy = m.o.KeepViews, min(heavy, m.o.KeepObjects)
	m.ctx, m.stop = context.WithCancel(context.WithoutCancel(ctx))
	m.following.begin(m.now())
	if m.o.Poll > 0 {
		m.work.Go(m.keepUp)
	}
	return m, nil
}

// Close ends the work in the background and waits for the writes on their way.
func (m *Manager) Close() error {
	m.stop()
	m.work.Wait()
	return nil
}

func (m *Manager) now() time.Time { return m.o.Clock().UTC().Truncate(time.Microsecond) }

// line finds a cluster's line; where there is none yet, one is made only if the
// store knows the cluster or create is set, so that asking for names costs
// nothing.
func (m *Manager) line(ctx context.Context, cluster string, create bool) (*line, error) {
	m.mu.Lock()
	l := m.lines[cluster]
	m.mu.Unlock()
	if l == nil && !create {
		if _, err := m.st.Newest(ctx, cluster); err != nil {
			return nil, fmt.Errorf("%s: %w", FormatID(cluster, 0), err)
		}
	}
	if l == nil {
		m.mu.Lock()
		if l = m.lines[cluster]; l == nil {
			l = &line{name: cluster, writer: make(chan struct{}, 1)}
			m.lines[cluster] = l
		}
		m.mu.Unlock()
	}
	l.used.Store(m.ticks.Add(1))
	return l, nil
}

func (l *line) lock(ctx context.Context) error {
	select {
	case l.writer <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (l *line) unlock() { <-l.writer }

// View gives a revision of a cluster, 0 for the newest that is stored. An
// unknown one is store.ErrNotFound with the id asked for.
func (m *Manager) View(ctx context.Context, cluster string, revision int64) (*View, error) {
	l, err := m.line(ctx, cluster, false)
	if err != nil {
		if revision != 0 && errors.Is(err, store.ErrNotFound) {
			return nil, fmt.Errorf("%s: %w", FormatID(cluster, revision), store.ErrNotFound)
		}
		return nil, err
	}
	if v := l.held(revision); v != nil {
		return v, nil
	}
	if revision == 0 {
		return m.newest(ctx, l)
	}
	if v := m.views.get(cluster, revision); v != nil {
		return v, nil
	}
	return m.shared(ctx, l, revision)
}

// held gives a durable view that the line has in memory.
func (l *line) held(revision int64) *View {
	l.mu.Lock()
	defer l.mu.Unlock()
	if d := l.durable; d != nil && (revision == 0 || d.Revision == revision) {
		return d
	}
	for _, v := range l.recent {
		if v.Revision == revision {
			return v
		}
	}
	return nil
}

// newest reads a cluster's newest revision and remembers it.
func (m *Manager) newest(ctx context.Context, l *line) (*View, error) {
	l.mu.Lock()
	epoch := l.epoch
	l.mu.Unlock()
	r, err := m.st.Newest(ctx, l.name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", FormatID(l.name, 0), err)
	}
	v, err := m.shared(ctx, l, r.Number)
	m.following.judge(l.name, err)
	if err != nil {
		return nil, err
	}
	v = m.arrive(l, epoch, v)
	m.trim(l)
	return v, nil
}

// shared loads a revision once for all who ask for it at the same time.
func (m *Manager) shared(ctx context.Context, l *line, revision int64) (*View, error) {
	ch := m.loads.DoChan(FormatID(l.name, revision), func() (any, error) {
		// Whoever gives up waiting must not spoil it for the others.
		return m.load(m.ctx, l, revision)
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

// trim lets go of the least recently used clusters' states beyond KeepViews or KeepObjects,
// those with writes on their way excepted.
func (m *Manager) trim(but *line) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for {
		var oldest *line
		n, objects := 0, 0
		for _, l := range m.lines {
			l.mu.Lock()
			held, idle := l.durable != nil || l.head != nil, l.flying == 0 && !l.saving
			if l.durable != nil {
				objects += l.durable.inv.n
			}
			l.mu.Unlock()
			if !held {
				continue
			}
			n++
			if l != but && idle && (oldest == nil || l.used.Load() < oldest.used.Load()) {
				oldest = l
			}
		}
		if n <= m.o.KeepViews && objects <= m.o.KeepObjects || oldest == nil || !oldest.letGo() {
			return
		}
	}
}

// letGo drops the states of a line that nobody writes to.
func (l *line) letGo() bool {
	select {
	case l.writer <- struct{}{}:
	default:
		return false
	}
	defer l.unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.flying > 0 || l.saving {
		return false
	}
	l.head, l.durable, l.recent = nil, nil, nil
	return true
}

// Record writes a decision that makes no revision, and returns when it is
// durable. The profile goes with it where it may not be stored yet.
func (m *Manager) Record(ctx context.Context, d *store.Decision, p *store.Profile) error {
	_, err := m.RecordEntry(ctx, d, p)
	return err
}

// RecordEntry is Record that says, too, whether the record is durable on the
// local disk only and the store does not have it yet.
func (m *Manager) RecordEntry(ctx context.Context, d *store.Decision, p *store.Profile) (spooled bool, err error) {
	e := &store.Entry{Decision: d, Profile: p}
	wait, err := m.g.Submit(ctx, e)
	if err == nil {
		err = wait(ctx)
	}
	if err == nil {
		err = e.Err
	}
	if err != nil {
		return false, fmt.Errorf("record decision %s: %w", d.ID, err)
	}
	return e.Spooled, nil
}
