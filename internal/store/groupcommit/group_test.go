package groupcommit

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"berth/internal/store"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fakeWriter records what it is given. Each Append announces itself on began
// and, where gate is set, waits for one token.
type fakeWriter struct {
	began  chan int
	gate   chan struct{}
	refuse func(entries []*store.Entry) error

	mu      sync.Mutex
	batches [][]string // guarded by mu
}

func (w *fakeWriter) Append(_ context.Context, entries []*store.Entry) error {
	if w.began != nil {
		w.began <- len(entries)
	}
	if w.gate != nil {
		<-w.gate
	}
	if w.refuse != nil {
		if err := w.refuse(entries); err != nil {
			return err
		}
	}
	var ids []string
	for _, e := range entries {
		ids = append(ids, e.Decision.ID)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.batches = append(w.batches, ids)
	return nil
}

func (w *fakeWriter) written() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var all []string
	for _, b := range w.batches {
		all = append(all, b...)
	}
	return all
}

func entry(id string) *store.Entry { return &store.Entry{Decision: &store.Decision{ID: id}} }

func closeGroup(t *testing.T, g *Group) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := g.Close(ctx); err != nil {
		t.Fatalf("Close: %v", err)
	}
}

func submit(t *testing.T, g *Group, id string) func(context.Context) error {
	t.Helper()
	wait, err := g.Submit(t.Context(), entry(id))
	if err != nil {
		t.Fatalf("Submit %s: %v", id, err)
	}
	return wait
}

func TestOrderOfSubmitIsOrderOfAppend(t *testing.T) {
	for _, callersWrite := range []bool{false, true} {
		orderOfSubmit(t, Options{MaxBatch: 7, CallersWrite: callersWrite})
	}
}

func orderOfSubmit(t *testing.T, o Options) {
	w := &fakeWriter{}
	g := NewGroup(w, o)
	var mu sync.Mutex
	var want []string
	var wg sync.WaitGroup
	for c := range 8 {
		wg.Go(func() {
			for i := range 100 {
				id := fmt.Sprintf("%d-%d", c, i)
				mu.Lock()
				want = append(want, id)
				wait, err := g.Submit(context.Background(), entry(id))
				mu.Unlock()
				if err == nil {
					err = wait(context.Background())
				}
				if err != nil {
					t.Errorf("commit %s: %v", id, err)
				}
			}
		})
	}
	wg.Wait()
	closeGroup(t, g)
	if diff := cmp.Diff(want, w.written()); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
}

func TestBatchGathersWhileTheOneBeforeIsWritten(t *testing.T) {
	w := &fakeWriter{began: make(chan int, 16), gate: make(chan struct{})}
	g := NewGroup(w, Options{MaxBatch: 4})
	submit(t, g, "0")
	if n := <-w.began; n != 1 {
		t.Fatalf("an idle group began with %d entries, want 1 at once", n)
	}
	for i := 1; i <= 6; i++ {
		submit(t, g, fmt.Sprint(i))
	}
	close(w.gate)
	if a, b := <-w.began, <-w.began; a != 4 || b != 2 {
		t.Errorf("batches of %d and %d, want 4 (the most) and 2", a, b)
	}
	closeGroup(t, g)
}

func TestErrorsReachTheirCallers(t *testing.T) {
	diskFull := errors.New("disk full")
	w := &fakeWriter{refuse: func(es []*store.Entry) error {
		for _, e := range es {
			switch e.Decision.ID {
			case "conflict":
				e.Err = store.ErrConflict
			case "full":
				return diskFull
			case "panic":
				panic("a bug")
			}
		}
		return nil
	}}
	g := NewGroup(w, Options{})
	defer closeGroup(t, g)
	tests := []struct {
		id   string
		want func(error) bool
	}{
		{"fine", func(err error) bool { return err == nil }},
		{"conflict", func(err error) bool { return errors.Is(err, store.ErrConflict) }},
		{"full", func(err error) bool { return errors.Is(err, diskFull) }},
		{"panic", func(err error) bool {
			return err != nil && err.Error() == "append 1 entries: panic: a bug"
		}},
		{"after", func(err error) bool { return err == nil }},
	}
	for _, tt := range tests {
		if err := g.Commit(t.Context(), entry(tt.id)); !tt.want(err) {
			t.Errorf("Commit(%s) = %v", tt.id, err)
		}
	}
}

func TestFullQueueHoldsBack(t *testing.T) {
	w := &fakeWriter{began: make(chan int, 4), gate: make(chan struct{})}
	g := NewGroup(w, Options{MaxBatch: 1, Queue: 1})
	submit(t, g, "writing")
	<-w.began
	submit(t, g, "queued")
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err := g.Submit(ctx, entry("refused"))
	if !errors.Is(err, ErrQueueFull) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Submit on a full queue = %v, want ErrQueueFull and the context's error", err)
	}
	accepted := make(chan error)
	go func() { accepted <- g.Commit(context.Background(), entry("patient")) }()
	close(w.gate)
	if err := <-accepted; err != nil {
		t.Errorf("patient caller: %v", err)
	}
	closeGroup(t, g)
	if diff := cmp.Diff([]string{"writing", "queued", "patient"}, w.written()); diff != "" {
		t.Errorf("written (-want +got):\n%s", diff)
	}
}

// TestCallersWrite: a caller that waits while nothing is written writes itself, with what is queued
// before; those who wait for a context and for the group's end lose nothing.
func TestCallersWrite(t *testing.T) {
	w := &fakeWriter{began: make(chan int, 16), gate: make(chan struct{}, 16)}
	g := NewGroup(w, Options{MaxBatch: 2, CallersWrite: true})
	submit(t, g, "0")
	last := submit(t, g, "1")
	w.gate <- struct{}{}
	if err := last(t.Context()); err != nil || len(w.began) != 1 || <-w.began != 2 {
		t.Fatalf("wait = %v, with %d batches more", err, len(w.began))
	}
	// One writes 2 and 3, and who waits for 4 may go; the group writes what the one leaves.
	first := submit(t, g, "2")
	second := make(chan error)
	go func() { second <- first(context.Background()) }()
	<-w.began
	submit(t, g, "3")
	left := submit(t, g, "4")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := left(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("wait = %v, want the context's error", err)
	}
	w.gate <- struct{}{}
	if err := <-second; err != nil {
		t.Error(err)
	}
	if n := <-w.began; n != 2 {
		t.Errorf("the group writes %d entries, want 2", n)
	}
	submit(t, g, "5")
	close(w.gate)
	closeGroup(t, g)
	if err := left(t.Context()); err != nil {
		t.Errorf("second wait = %v, want the outcome", err)
	}
	if diff := cmp.Diff([]string{"0", "1", "2", "3", "4", "5"}, w.written()); diff != "" {
		t.Errorf("written (-want +got):\n%s", diff)
	}
}

// TestOneProcessorGathers: also where nothing runs beside a caller that writes, those who are about
// to submit come into its batch.
func TestOneProcessorGathers(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	w := &fakeWriter{}
	g := NewGroup(w, Options{CallersWrite: true})
	const callers, each = 32, 20
	var wg sync.WaitGroup
	for c := range callers {
		wg.Go(func() {
			for i := range each {
				if err := g.Commit(t.Context(), entry(fmt.Sprintf("%d-%d", c, i))); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	closeGroup(t, g)
	if batches, most := len(w.batches), callers*each/4; batches > most {
		t.Errorf("%d batches, want %d at most", batches, most)
	}
}

func TestContextThatEndsLosesNothing(t *testing.T) {
	w := &fakeWriter{began: make(chan int, 4), gate: make(chan struct{})}
	g := NewGroup(w, Options{})
	wait := submit(t, g, "left")
	<-w.began
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := wait(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("wait = %v, want the context's error", err)
	}
	close(w.gate)
	if err := wait(t.Context()); err != nil {
		t.Errorf("second wait = %v, want the outcome", err)
	}
	closeGroup(t, g)
	if diff := cmp.Diff([]string{"left"}, w.written()); diff != "" {
		t.Errorf("written (-want +got):\n%s", diff)
	}
}

func TestCloseFlushesThenRefuses(t *testing.T) {
	w := &fakeWriter{began: make(chan int, 64), gate: make(chan struct{})}
	g := NewGroup(w, Options{MaxBatch: 2, Queue: 5})
	var waits []func(context.Context) error
	waits = append(waits, submit(t, g, "0"))
	<-w.began
	for i := 1; i <= 5; i++ {
		waits = append(waits, submit(t, g, fmt.Sprint(i)))
	}
	turnedAway := make(chan error)
	go func() {
		_, err := g.Submit(context.Background(), entry("too late"))
		turnedAway <- err
	}()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := g.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Close of a stuck store = %v, want its context's error", err)
	}
	if err := <-turnedAway; !errors.Is(err, store.ErrClosed) {
		t.Errorf("blocked Submit = %v, want ErrClosed", err)
	}
	if _, err := g.Submit(t.Context(), entry("later")); !errors.Is(err, store.ErrClosed) {
		t.Errorf("Submit after Close = %v, want ErrClosed", err)
	}
	close(w.gate)
	closeGroup(t, g)
	for i, wait := range waits {
		if err := wait(t.Context()); err != nil {
			t.Errorf("entry %d: %v", i, err)
		}
	}
	if diff := cmp.Diff([]string{"0", "1", "2", "3", "4", "5"}, w.written()); diff != "" {
		t.Errorf("written (-want +got):\n%s", diff)
	}
}
