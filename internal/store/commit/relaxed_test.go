package commit

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"berth/internal/store"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
)

// gapWriter keeps gaps apart from decisions.
type gapWriter struct {
	fakeWriter
	mu   sync.Mutex
	gaps []*store.Gap
	fail atomic.Bool
}

func (w *gapWriter) Append(ctx context.Context, entries []*store.Entry) error {
	var decisions []*store.Entry
	for _, e := range entries {
		if e.Gap == nil {
			decisions = append(decisions, e)
			continue
		}
		if e.Err = e.Validate(); e.Err != nil {
			continue
		}
		w.mu.Lock()
		w.gaps = append(w.gaps, e.Gap)
		w.mu.Unlock()
	}
	if w.fail.Load() && len(decisions) > 0 {
		return store.ErrUnavailable
	}
	return w.fakeWriter.Append(ctx, decisions)
}

func on(cluster string, n int) *store.Entry {
	return &store.Entry{Decision: &store.Decision{
		ID: fmt.Sprintf("%s-%d", cluster, n), Cluster: cluster, CreatedAt: time.Unix(int64(n), 0).UTC(),
	}}
}

// TestRelaxedCountsWhatItDrops: no caller waits for a store that stands still; what
// finds no room is counted, and the log says so itself.
func TestRelaxedCountsWhatItDrops(t *testing.T) {
	w := &gapWriter{fakeWriter: fakeWriter{began: make(chan int, 4096), gate: make(chan struct{})}}
	g := NewGroup(w, Options{MaxBatch: 1, Queue: 1})
	lost := map[string]int{}
	var mu sync.Mutex
	r := NewRelaxed(g, RelaxedOptions{Queue: 4, Every: time.Hour, Instance: "here", LostFunc: func(cause string) {
		mu.Lock()
		defer mu.Unlock()
		lost[cause]++
	}})
	const calls = 200
	for n := range calls {
		wait, err := r.Submit(t.Context(), on("c", n))
		if err == nil {
			err = wait(t.Context())
		}
		if err != nil {
			t.Fatalf("call %d: %v", n, err)
		}
	}
	close(w.gate)
	if err := r.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Submit(t.Context(), on("c", 1)); !errors.Is(err, store.ErrClosed) {
		t.Errorf("Submit after Close: %v", err)
	}
	closeGroup(t, g)
	written := w.written()
	if len(written) == 0 || lost[CauseQueueFull] == 0 || len(written)+lost[CauseQueueFull] != calls {
		t.Errorf("%d written and %d lost of %d", len(written), lost[CauseQueueFull], calls)
	}
	if len(w.gaps) != 1 {
		t.Fatalf("%d gaps", len(w.gaps))
	}
	// The sender may have had time for any of them, the last ones included.
	last := calls - 1
	for slices.Contains(written, fmt.Sprintf("c-%d", last)) {
		last--
	}
	want := &store.Gap{ID: w.gaps[0].ID, Cluster: "c", Since: w.gaps[0].Since, Until: time.Unix(int64(last), 0).UTC(), Lost: int64(lost[CauseQueueFull]), Cause: CauseQueueFull, Instance: "here"}
	if diff := cmp.Diff(want, w.gaps[0]); diff != "" {
		t.Errorf("gap (-want +got):\n%s", diff)
	}
}

// What the store does not take is lost as well, per cluster.
func TestRelaxedCountsWhatTheStoreRefuses(t *testing.T) {
	w := &gapWriter{}
	g := NewGroup(w, Options{})
	r := NewRelaxed(g, RelaxedOptions{Every: time.Hour})
	w.fail.Store(true)
	for n := range 30 {
		if _, err := r.Submit(t.Context(), on([]string{"a", "b", "b"}[n%3], n)); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	closeGroup(t, g)
	got := map[string]int64{}
	for _, gap := range w.gaps {
		got[gap.Cluster+" "+gap.Cause] += gap.Lost
	}
	if diff := cmp.Diff(map[string]int64{"a store": 10, "b store": 20}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A lost record does not take its profile along: the next one brings it.
func TestRelaxedKeepsProfiles(t *testing.T) {
	w := &gapWriter{}
	var stored atomic.Bool
	w.refuse = func(es []*store.Entry) error {
		for _, e := range es {
			if e.Profile != nil && e.Profile.Digest == "sha256:p" {
				stored.Store(true)
			}
		}
		return nil
	}
	g := NewGroup(w, Options{})
	lost := make(chan string, 1)
	r := NewRelaxed(g, RelaxedOptions{LostFunc: func(cause string) { lost <- cause }})
	w.fail.Store(true)
	first, second, third := on("c", 1), on("c", 2), on("c", 3)
	first.Profile = &store.Profile{Digest: "sha256:p"}
	for _, e := range []*store.Entry{first, second, third} {
		e.Decision.ProfileDigest = "sha256:p"
	}
	if _, err := r.Submit(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	<-lost
	w.fail.Store(false)
	for r.Lost() == 0 { // the loss is noted behind the call
		runtime.Gosched()
	}
	for _, e := range []*store.Entry{second, third} {
		if _, err := r.Submit(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	closeGroup(t, g)
	if !stored.Load() {
		t.Error("the profile was never stored")
	}
	if second.Profile != nil {
		t.Error("the caller's own entry was changed")
	}
}

// A revision waits for its record in every mode.
func TestRelaxedWaitsForRevisions(t *testing.T) {
	w := &fakeWriter{gate: make(chan struct{})}
	g := NewGroup(w, Options{})
	r := NewRelaxed(g, RelaxedOptions{})
	e := on("c", 1)
	e.Revision = &store.Revision{}
	wait, err := r.Submit(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := wait(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("wait = %v", err)
	}
	close(w.gate)
	if err := errors.Join(wait(t.Context()), r.Close(t.Context())); err != nil {
		t.Error(err)
	}
	closeGroup(t, g)
}

// TestMarkerOutlivesAKill: a process that did not end in order leaves a mark.
func TestMarkerOutlivesAKill(t *testing.T) {
	path := filepath.Join(t.TempDir(), "relaxed")
	if m, err := ReadMarker(path); m != nil || err != nil {
		t.Fatalf("%v, %v", m, err)
	}
	clean := time.Date(2026, 2, 28, 1, 2, 3, 0, time.UTC)
	mk, err := SetMarker(path, Mark{Clean: clean, Instance: "a"})
	if err != nil {
		t.Fatal(err)
	}
	for _, later := range []time.Duration{time.Second, 9 * time.Second} {
		if err := mk.Refresh(clean.Add(later)); err != nil {
			t.Fatal(err)
		}
	}
	m, err := ReadMarker(path)
	if err != nil || m == nil || !m.Clean.Equal(clean.Add(9*time.Second)) || m.Instance != "a" {
		t.Fatalf("%+v, %v", m, err)
	}
	if err := os.WriteFile(path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if m, err := ReadMarker(path); err != nil || m == nil || m.Clean.IsZero() {
		t.Errorf("a marker that is no JSON: %+v, %v", m, err)
	}
	if err := errors.Join(mk.Clear(), mk.Clear()); err != nil {
		t.Error(err)
	}
	if m, err := ReadMarker(path); m != nil || err != nil {
		t.Errorf("%v, %v", m, err)
	}
}

// TestStalledStoreHoldsCallersBack: a store that stands still has its callers
// wait and go, not memory grow: no more entries are held than the queue and one
// batch, and no caller is left behind.
func TestStalledStoreHoldsCallersBack(t *testing.T) {
	w := &fakeWriter{began: make(chan int, 4096), gate: make(chan struct{})}
	const queue, batch, callers = 8, 4, 500
	g := NewGroup(w, Options{MaxBatch: batch, Queue: queue})
	submit(t, g, "first")
	<-w.began
	held := goleak.IgnoreCurrent()
	ctx, cancel := context.WithCancel(t.Context())
	var accepted, refused atomic.Int64
	var group, entered sync.WaitGroup
	entered.Add(callers)
	for i := range callers {
		group.Go(func() {
			entered.Done()
			if _, err := g.Submit(ctx, entry(fmt.Sprint(i))); err == nil {
				accepted.Add(1)
			} else if errors.Is(err, ErrQueueFull) {
				refused.Add(1)
			} else {
				t.Errorf("Submit: %v", err)
			}
		})
	}
	entered.Wait()
	for g.Depth() < queue {
		runtime.Gosched()
	}
	cancel() // the callers' deadlines
	group.Wait()
	if a, r := accepted.Load(), refused.Load(); a != queue || a+r != callers || g.Depth() != queue {
		t.Errorf("%d accepted and %d refused of %d, %d in a queue of %d", a, r, callers, g.Depth(), queue)
	}
	// A caller's goroutine ends a moment after its group has let go of it.
	for begun := time.Now(); ; {
		err := goleak.Find(held)
		if err == nil {
			break
		}
		if time.Since(begun) > time.Minute {
			t.Fatal(err)
		}
	}
	close(w.gate)
	closeGroup(t, g)
	if n := len(w.written()); n != 1+queue {
		t.Errorf("%d written, want what was accepted", n)
	}
}
