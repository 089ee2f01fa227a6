package revision

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"berth/internal/kube/object"
	"berth/internal/store"
)

// has returns what a caller asks of a state: whether it has a node.
func has(name string) func(*View) error {
	return func(v *View) error {
		if _, ok := v.Object(object.Key{Kind: "Node", Name: name}); !ok {
			return fmt.Errorf("%w: %s in %s", store.ErrNotFound, name, v.ID())
		}
		return nil
	}
}

// tried runs f on a revision of prod, and where it lacks something, on newer ones.
func tried(ctx context.Context, m *Manager, revision int64, f func(*View) error) error {
	v, err := m.View(ctx, "prod", revision)
	for err == nil {
		failed := f(v)
		if failed == nil {
			return nil
		}
		v, err = m.NextTry(ctx, v, revision, failed)
	}
	return err
}

// TestNoIsAskedOfTheStore: a no about the newest revision that a server knows becomes a yes at once
// where another server wrote what was missing, without waiting for the poll.
func TestNoIsAskedOfTheStore(t *testing.T) {
	a, b := pair(t, Options{Poll: time.Hour})
	if _, err := b.View(t.Context(), "prod", 0); err != nil {
		t.Fatal(err)
	}
	for i := range 20 {
		name := fmt.Sprint("late", i)
		if _, err := a.Change(t.Context(), "prod", 0, []object.Object{node(t, name, 4)}, nil); err != nil {
			t.Fatal(err)
		}
		var err error
		if i%2 == 0 {
			err = tried(t.Context(), b.Manager, 0, has(name))
		} else {
			_, _, err = b.Update(t.Context(), "prod", 0, func(v *View) (*Step, error) { return nil, has(name)(v) })
		}
		if err != nil {
			t.Errorf("asked at once: %v", err)
		}
	}
	before := b.st.newest.Load()
	if err := tried(t.Context(), b.Manager, 0, has("none")); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("what is nowhere: %v", err)
	}
	if n := b.st.newest.Load() - before; n != 1 {
		t.Errorf("a no looked into the store %d times, want once", n)
	}
	if err := tried(t.Context(), b.Manager, 1, has("late1")); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("an older revision: %v", err)
	}
}

// TestManyNosLookTogether: however many ask at once, looks are one after the other, and each call
// shares one that began after it asked.
func TestManyNosLookTogether(t *testing.T) {
	_, b := pair(t, Options{Poll: time.Hour})
	v, err := b.View(t.Context(), "prod", 0)
	if err != nil {
		t.Fatal(err)
	}
	before := b.st.newest.Load()
	hold := make(chan struct{})
	b.st.hold.Store(&hold)
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			if newer, err := b.CatchUp(t.Context(), v); newer != nil || err != nil {
				t.Errorf("CatchUp: %v, %v", newer, err)
			}
		})
	}
	ended, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := b.CatchUp(ended, v); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("a store that does not answer in time: %v", err)
	}
	close(hold)
	wg.Wait()
	// Those that came before the first look began, those during it, and a straggler or two.
	if n := b.st.newest.Load() - before; n > 10 {
		t.Errorf("51 calls looked %d times", n)
	}
	b.st.away.Store(true)
	if _, err := b.CatchUp(t.Context(), v); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("a store that is away: %v", err)
	}
}
