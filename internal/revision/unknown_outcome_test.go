package revision

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"berth/internal/store"
	"berth/internal/store/groupcommit"
	"berth/internal/store/sqlite"
)

// flaky is a store that can be unavailable; with took, writes meanwhile take effect all the same.
type flaky struct {
	store.Store
	away, took atomic.Bool
	asked      atomic.Int64
}

func (f *flaky) Append(ctx context.Context, es []*store.Entry) error {
	if !f.away.Load() {
		return f.Store.Append(ctx, es)
	}
	if f.took.Load() {
		if err := f.Store.Append(ctx, es); err != nil {
			return err
		}
	}
	return fmt.Errorf("%w: cut off", store.ErrUnavailable)
}

func (f *flaky) Newest(ctx context.Context, cluster string) (*store.Revision, error) {
	f.asked.Add(1)
	if f.away.Load() {
		return nil, store.ErrUnavailable
	}
	return f.Store.Newest(ctx, cluster)
}

// A write of unknown outcome leaves the cluster in memory: requests are answered from it without
// the store, and what the store has is read once it is back.
func TestStoreAwayLeavesViews(t *testing.T) {
	st, err := sqlite.Open(t.Context(), t.TempDir(), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	f := &flaky{Store: st}
	g := groupcommit.NewGroup(f, groupcommit.Options{})
	m, err := Open(t.Context(), f, g, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := errors.Join(m.Close(), g.Close(context.Background()), st.Close()); err != nil {
			t.Error(err)
		}
	}()
	all := sample(t)
	if _, _, err := m.Upload(t.Context(), "c", reader(all...)); err != nil {
		t.Fatal(err)
	}
	f.took.Store(true)
	f.away.Store(true)
	if _, _, err := m.Upload(t.Context(), "c", reader(all[:len(all)-1]...)); !errors.Is(err, store.ErrUnavailable) {
		t.Fatalf("upload: %v", err)
	}
	if v, err := m.View(t.Context(), "c", 0); err != nil || v.Revision != 1 {
		t.Fatalf("a view while the store is away: %v", err)
	}
	f.away.Store(false)
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
		v, err := m.View(t.Context(), "c", 0)
		if err != nil {
			t.Fatal(err)
		}
		if v.Revision == 2 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the revision did not turn up; the store was asked %d times", f.asked.Load())
		}
	}
}
