package revision

import (
	"context"
	"errors"
	"strings"
	"syscall"
	"testing"
	"time"

	"berth/internal/kube/object"
	"berth/internal/store"
	"berth/internal/store/groupcommit"
	"berth/internal/store/postgres"
	"berth/test/pgtest"
)

// watching opens a replica that notices when its database becomes another one.
func watching(t *testing.T, url, instance string) *replica {
	t.Helper()
	change, woken, err := EpochRevision()
	if err != nil {
		t.Fatal(err)
	}
	r := &replica{}
	st, err := postgres.Open(t.Context(), url, postgres.Options{Epochs: &postgres.EpochOptions{
		Instance: instance, Change: change, Woken: woken, Refused: func(error) {}, Changed: func(c *store.EpochChange) { r.Replaced(c) },
	}})
	if err != nil {
		t.Fatal(err)
	}
	r.st = &watched{Store: st}
	r.g = groupcommit.NewGroup(r.st, groupcommit.Options{})
	if r.Manager, err = Open(t.Context(), r.st, r.g, Options{Poll: 20 * time.Millisecond}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.end)
	return r
}

// change applies a pod, as often as it takes.
func (r *replica) change(t *testing.T, name string) *View {
	t.Helper()
	var out *View
	waitFor(t, func() bool {
		v, err := r.Change(context.Background(), "prod", 0, []object.Object{pod(t, name, "n1")}, nil)
		out = v
		return err == nil
	})
	return out
}

// A database that has lost revisions is read again, by all servers, and their numbers are not given
// out a second time. A cluster of which nothing is left is said to be lost.
func TestDatabaseThatLostRevisions(t *testing.T) {
	s := pgtest.Private(t, pgtest.Options{})
	if err := postgres.MigrateUp(t.Context(), s.URL(), postgres.MigrateOptions{}); err != nil {
		t.Fatal(err)
	}
	a, b := watching(t, s.URL(), "a"), watching(t, s.URL(), "b")
	if _, _, err := a.Upload(t.Context(), "prod", reader(sample(t)...)); err != nil {
		t.Fatal(err)
	}
	a.change(t, "kept")
	kept := a.change(t, "kept-too")
	waitFor(t, func() bool { return sees(t, b, "kept-too") })
	halt := func() {
		if err := s.Halt(syscall.SIGQUIT); err != nil {
			t.Fatal(err)
		}
	}
	halt()
	back := s.Keep(t)
	if err := s.Launch(); err != nil {
		t.Fatal(err)
	}
	a.change(t, "lost")
	waitFor(t, func() bool { return sees(t, b, "lost") })
	if _, _, err := b.Upload(t.Context(), "new", reader(sample(t)...)); err != nil {
		t.Fatal(err)
	}
	halt()
	back()
	if err := s.Launch(); err != nil {
		t.Fatal(err)
	}
	for _, r := range []*replica{a, b} {
		waitFor(t, func() bool {
			v, err := r.View(context.Background(), "prod", 0)
			return err == nil && v.Revision%1_000_000_000 == 0 && v.State.Pod("d", "lost") == nil && v.State.Pod("d", "kept-too") != nil
		})
	}
	v, err := b.View(t.Context(), "prod", 0)
	if err != nil || v.Digest != kept.Digest || v.Cause != store.CauseEpoch {
		t.Errorf("%+v, %v", v, err)
	}
	if next := b.change(t, "after"); next.Revision != v.Revision+1 {
		t.Errorf("the change after the epoch began is %s", next.ID())
	}
	waitFor(t, func() bool { return sees(t, a, "after") })
	// Older revisions are there under their numbers, across the epoch's begin.
	c := openReplica(t, s.URL(), Options{})
	for id, want := range map[int64]int{kept.Revision: 0, v.Revision: 0, v.Revision + 1: 1} {
		v, err := c.View(t.Context(), "prod", id)
		if err != nil {
			t.Fatal(err)
		}
		if got := v.State.Pod("d", "after"); (got != nil) != (want == 1) {
			t.Errorf("revision %d: %v", id, got)
		}
	}
	var gone *GoneError
	if _, err := b.View(t.Context(), "new", 0); !errors.As(err, &gone) || !errors.Is(err, store.ErrNotFound) || !strings.Contains(err.Error(), "revisions 1 to 1") {
		t.Errorf("a cluster that is lost: %v", err)
	}
	if v, _, err := b.Upload(t.Context(), "new", reader(sample(t)...)); err != nil || v.Revision != 1_000_000_000 {
		t.Fatal(v, err)
	}
	waitFor(t, func() bool {
		v, err := a.View(context.Background(), "new", 0)
		return err == nil && v.Revision == 1_000_000_000
	})
}

// A decision on a revision that is gone is to be asked again, and names no missing snapshot.
func TestDecisionOnRevisionThatIsGone(t *testing.T) {
	a, _ := pair(t, Options{})
	d := &store.Decision{ID: "d1", Cluster: "prod", Revision: 7, Verb: "decide", CreatedAt: time.Now(), Now: time.Now()}
	if err := a.Record(t.Context(), d, nil); !errors.Is(err, store.ErrUnavailable) || errors.Is(err, store.ErrNotFound) || !strings.Contains(err.Error(), "prod@7") {
		t.Errorf("recorded with %v", err)
	}
	waitFor(t, func() bool {
		a.epochs.mu.Lock()
		defer a.epochs.mu.Unlock()
		return a.epochs.heads["prod"].Number > 0
	})
	if err := a.absent("prod", store.ErrNotFound); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("a cluster that was there: %v", err)
	}
	if err := a.absent("other", store.ErrNotFound); err != store.ErrNotFound { //nolint:errorlint // that very one
		t.Errorf("a cluster that was not: %v", err)
	}
}
