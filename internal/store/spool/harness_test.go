package spool

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"berth/internal/store"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// database is a store in memory that can be away, hang, refuse, and lose the
// answer to a commit. What it does not have panics.
type database struct {
	store.Store
	gate     store.Gate
	mu       sync.Mutex
	away     bool
	full     bool          // its disk: writes are refused
	hang     chan struct{} // calls wait for it; nil: they do not
	late     bool          // a call that hung takes effect although no caller waits any more
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
	if d.full {
		return fmt.Errorf("%w: %w", store.ErrUnavailable, store.ErrFull)
	}
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

func (d *database) Gate() *store.Gate { return &d.gate }

// gated is enter behind the gate.
func (d *database) gated(ctx context.Context) error {
	ctx, done, err := d.gate.Enter(ctx)
	if err != nil {
		return err
	}
	defer done()
	if err := d.enter(ctx); err != nil {
		return errors.Join(context.Cause(ctx), err)
	}
	return nil
}

func (d *database) Decision(ctx context.Context, id string) (*store.Decision, error) {
	if err := d.gated(ctx); err != nil {
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
	return &store.Revision{Number: 1}, d.gated(ctx)
}

func (d *database) DeleteRevision(ctx context.Context, _ string, _ int64) error { return d.gated(ctx) }

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
		Scores: []store.Score{{Rank: 1, Node: "n", Total: 1<<53 + 1, Plugins: store.PluginScores{{Plugin: "a"}}}},
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

// idsIn returns the ids of what a journal would hand over, in order.
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

// within reports whether all of want are in got, in that order.
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
