package spool

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"berth/internal/store"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// liar is a directory in memory that forgets what was not synced when the power
// goes, and fails when it is told to.
type liar struct {
	mu    sync.Mutex
	files map[string]*lie // as processes see them
	disk  map[string]*lie // names that would survive
	ops   int
	fail  func(op int, what string) error // nil: all goes well
	locks int
}

// lie is a file: what was written, and how much of it is on disk. A sync that
// failed leaves bytes that pass for synced and are not, as Linux does.
type lie struct {
	data   []byte
	safe   []byte
	synced int // up to where a sync would find nothing to do
}

func newLiar() *liar { return &liar{files: map[string]*lie{}, disk: map[string]*lie{}} }

func (l *liar) op(what string) error {
	l.ops++
	if l.fail == nil {
		return nil
	}
	return l.fail(l.ops, what)
}

func (l *liar) Names() ([]string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Sorted(maps.Keys(l.files)), l.op("names")
}

func (l *liar) Create(name string) (File, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.op("create"); err != nil {
		return nil, err
	}
	if l.files[name] != nil {
		return nil, fs.ErrExist
	}
	l.files[name] = &lie{}
	return &handle{l, l.files[name]}, nil
}

func (l *liar) Open(name string) (File, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.op("open"); err != nil {
		return nil, err
	}
	if l.files[name] == nil {
		return nil, fs.ErrNotExist
	}
	return &handle{l, l.files[name]}, nil
}

func (l *liar) Rename(from, to string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.op("rename"); err != nil {
		return err
	}
	l.files[to] = l.files[from]
	delete(l.files, from)
	return nil
}

func (l *liar) Remove(name string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.files[name] == nil {
		return fs.ErrNotExist
	}
	if err := l.op("remove"); err != nil {
		return err
	}
	delete(l.files, name)
	return nil
}

func (l *liar) SyncDir() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.op("syncdir"); err != nil {
		return err
	}
	l.disk = maps.Clone(l.files)
	return nil
}

func (l *liar) Close() error { return nil }

// powerLoss gives the directory after a power cut: synced bytes under synced
// names. keep says how much of each file's unsynced bytes happens to survive;
// tear may spoil it.
func (l *liar) powerLoss(keep func(unsynced []byte) []byte) *liar {
	l.mu.Lock()
	defer l.mu.Unlock()
	after := newLiar()
	for name, f := range l.disk {
		data := slices.Clone(f.safe)
		if rest := f.data[min(len(f.safe), len(f.data)):]; keep != nil && len(rest) > 0 {
			data = append(data, keep(slices.Clone(rest))...)
		}
		after.files[name] = &lie{data: data, safe: data, synced: len(data)}
	}
	after.disk = maps.Clone(after.files)
	return after
}

// killed gives the directory after kill -9: all that was written is there.
func (l *liar) killed() *liar {
	l.mu.Lock()
	defer l.mu.Unlock()
	after := newLiar()
	for name, f := range l.files {
		c := *f
		c.data, c.safe = slices.Clone(f.data), slices.Clone(f.safe)
		after.files[name] = &c
	}
	for name, f := range l.disk {
		for other, have := range l.files {
			if have == f {
				after.disk[name] = after.files[other]
			}
		}
		if after.disk[name] == nil {
			after.disk[name] = f
		}
	}
	return after
}

type handle struct {
	l *liar
	f *lie
}

func (h *handle) Write(b []byte) (int, error) {
	h.l.mu.Lock()
	defer h.l.mu.Unlock()
	if err := h.l.op("write"); err != nil {
		half := b[:len(b)/2] // a disk that is full has taken some
		h.f.data = append(h.f.data, half...)
		return len(half), err
	}
	h.f.data = append(h.f.data, b...)
	return len(b), nil
}

func (h *handle) ReadAt(b []byte, off int64) (int, error) {
	h.l.mu.Lock()
	defer h.l.mu.Unlock()
	if off >= int64(len(h.f.data)) {
		return 0, io.EOF
	}
	n := copy(b, h.f.data[off:])
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

func (h *handle) Sync() error {
	h.l.mu.Lock()
	defer h.l.mu.Unlock()
	if err := h.l.op("sync"); err != nil {
		h.f.synced = len(h.f.data) // the next sync finds nothing to do
		return err
	}
	if h.f.synced < len(h.f.data) {
		if len(h.f.safe) == h.f.synced {
			h.f.safe = slices.Clone(h.f.data)
		}
		h.f.synced = len(h.f.data)
	}
	return nil
}

func (h *handle) Size() (int64, error) {
	h.l.mu.Lock()
	defer h.l.mu.Unlock()
	return int64(len(h.f.data)), nil
}

func (h *handle) Close() error { return nil }

// database is a store in memory that can be away, hang, refuse, and lose the
// answer to a commit. What it does not have panics.
type database struct {
	store.Store
	mu       sync.Mutex
	away     bool
	hang     chan struct{} // calls wait for it; nil: they do not
	late     bool          // a call that hung takes effect although nobody waits any more
	lose     int           // answers to commits that get lost
	poison   string        // an id that spoils its batch with an error of no known kind
	missing  map[string]bool
	ids      map[string]*store.Decision
	order    []string
	gaps     map[string]*store.Gap
	profiles map[string]bool
	batches  int
	closed   bool
}

func newDatabase() *database {
	return &database{ids: map[string]*store.Decision{}, gaps: map[string]*store.Gap{}, profiles: map[string]bool{}, missing: map[string]bool{}}
}

// enter waits as long as the database hangs.
func (d *database) enter(ctx context.Context) error {
	d.mu.Lock()
	hang, late := d.hang, d.late
	d.mu.Unlock()
	if hang != nil {
		if late {
			<-hang
		} else {
			select {
			case <-hang:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.away {
		return fmt.Errorf("%w: connection refused", store.ErrUnavailable)
	}
	return nil
}

func (d *database) Ping(ctx context.Context) error {
	d.mu.Lock()
	hang := d.hang
	d.mu.Unlock()
	if hang != nil {
		select {
		case <-hang:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.away {
		return fmt.Errorf("%w: connection refused", store.ErrUnavailable)
	}
	return nil
}

var errPoison = errors.New("invalid byte sequence")

func (d *database) Append(ctx context.Context, entries []*store.Entry) error {
	if err := d.enter(ctx); err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, e := range entries {
		if e.Decision != nil && d.poison != "" && e.Decision.ID == d.poison {
			return errPoison
		}
	}
	d.batches++
	for _, e := range entries {
		if e.Err = e.Validate(); e.Err != nil {
			continue
		}
		if e.Decision != nil && d.missing[e.Decision.ID] {
			e.Err = fmt.Errorf("decision on c@9: %w", store.ErrNotFound)
			continue
		}
		if e.Profile != nil {
			d.profiles[e.Profile.Digest] = true
		}
		if g := e.Gap; g != nil {
			d.gaps[g.ID] = g
		}
		if dec := e.Decision; dec != nil && d.ids[dec.ID] == nil {
			d.ids[dec.ID] = dec
			d.order = append(d.order, dec.ID)
		}
	}
	if d.lose > 0 {
		d.lose--
		return fmt.Errorf("%w: connection reset after COMMIT", store.ErrUnavailable)
	}
	return nil
}

func (d *database) Decision(ctx context.Context, id string) (*store.Decision, error) {
	if err := d.enter(ctx); err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if dec := d.ids[id]; dec != nil {
		return dec, nil
	}
	return nil, store.ErrNotFound
}

func (d *database) Newest(ctx context.Context, _ string) (*store.Revision, error) {
	return &store.Revision{Number: 1}, d.enter(ctx)
}

func (d *database) DeleteRevision(ctx context.Context, _ string, _ int64) error { return d.enter(ctx) }

func (d *database) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
	return nil
}

func (d *database) set(f func(d *database)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f(d)
}

func (d *database) has() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.order)
}

var began = time.Date(2026, 2, 28, 23, 59, 58, 123456000, time.UTC)

func decision(cluster string, n int) *store.Entry {
	return &store.Entry{Decision: &store.Decision{
		ID: fmt.Sprintf("%s-%06d", cluster, n), Cluster: cluster, Verb: "filter", CreatedAt: began.Add(time.Duration(n) * time.Second),
		Now: began, Outcome: "Scheduled", Message: "0/5 nodes \"ü\u2028<&>\"", ProfileDigest: "sha256:p", Input: bytes.Repeat([]byte{0, 0xff, '{'}, 20),
		Scores: []store.Score{{Rank: 1, Node: "n", Total: 1<<53 + 1, Plugins: []byte(`[{"plugin":"a"}]`)}},
	}}
}

// recordsOf encodes decisions n..m of a cluster.
func recordsOf(t testing.TB, cluster string, from, to int) []record {
	t.Helper()
	var recs []record
	for n := from; n < to; n++ {
		r, err := encodeRecord(&entry{Decision: decision(cluster, n).Decision})
		if err != nil {
			t.Fatal(err)
		}
		recs = append(recs, r)
	}
	return recs
}

// idsIn gives the ids of what a journal would hand over, in order.
func idsIn(t testing.TB, j *journal) (ids []string) {
	t.Helper()
	for _, s := range slices.Clone(j.segs) {
		sc, err := j.read(s)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range sc.records {
			ids = append(ids, r.id)
		}
	}
	return ids
}

// within says whether all of want are in got, in that order.
func within(want, got []string) error {
	i := 0
	for _, id := range got {
		if i < len(want) && id == want[i] {
			i++
		}
	}
	if i < len(want) {
		return fmt.Errorf("%s was acknowledged and is missing, or not in its place; %d of %d are there", want[i], i, len(want))
	}
	return nil
}
