package revision

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"berth/internal/kube/object"
	"berth/internal/store"
	"berth/internal/store/groupcommit"
	"berth/internal/store/sqlite"
)

// whole counts the checkpoints that are read and written.
type whole struct {
	*sqlite.Store
	read, put atomic.Int64
}

func (w *whole) CheckpointAt(ctx context.Context, cluster string, number int64, admit func(int) error) (*store.Checkpoint, error) {
	w.read.Add(1)
	return w.Store.CheckpointAt(ctx, cluster, number, admit)
}

func (w *whole) PutCheckpoint(ctx context.Context, c *store.Checkpoint) error {
	w.put.Add(1)
	return w.Store.PutCheckpoint(ctx, c)
}

// openWhole is open over a store that counts.
func openWhole(t *testing.T, dir string) (*fixture, *whole) {
	t.Helper()
	st, err := sqlite.Open(t.Context(), dir, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	w := &whole{Store: st}
	g := groupcommit.NewGroup(w, groupcommit.Options{CallersWrite: true})
	m, err := Open(t.Context(), w, g, Options{ProfileOf: byDefault(t)})
	if err != nil {
		t.Fatal(err)
	}
	h := &fixture{m, st, g}
	t.Cleanup(h.end)
	return h, w
}

func (h *fixture) copied(t *testing.T, cluster, source string, revision int64) *View {
	t.Helper()
	v, err := h.Copy(t.Context(), cluster, source, revision)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// content is all that a revision holds, read anew.
func (h *fixture) content(t *testing.T, cluster string, revision int64) (list []string) {
	t.Helper()
	h.views.clear()
	h.trimTo(nil, -1)
	v, err := h.View(t.Context(), cluster, revision)
	if err != nil {
		t.Fatal(err)
	}
	for _, js := range v.All() {
		list = append(list, string(js))
	}
	slices.Sort(list)
	return list
}

// prod makes three revisions: an upload, a pod, and a node that goes.
func prod(t *testing.T, h *fixture) {
	t.Helper()
	upload(t, h, sample(t)...)
	if _, err := h.Change(t.Context(), "prod", 0, []object.Object{pod(t, "x", "n2")}, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Change(t.Context(), "prod", 0, nil, []object.Key{{Kind: "Node", Name: "n1"}}); err != nil {
		t.Fatal(err)
	}
}

func TestCopy(t *testing.T) {
	dir := t.TempDir()
	h, w := openWhole(t, dir)
	prod(t, h)
	for rev := range int64(4) {
		name := fmt.Sprint("copy-", rev)
		h.views.clear()
		h.trimTo(nil, -1)
		before := w.read.Load() + w.put.Load()
		v := h.copied(t, name, "prod", rev)
		if w.read.Load()+w.put.Load() != before {
			t.Errorf("a copy of revision %d read or wrote a whole state", rev)
		}
		of := rev
		if rev == 0 {
			of = 3
		}
		src, err := h.View(t.Context(), "prod", of)
		if err != nil {
			t.Fatal(err)
		}
		if v.ID() != name+"@1" || v.Digest != src.Digest || v.Cause != "fork" || v.Summary.Objects["Node"] != src.Summary.Objects["Node"] {
			t.Errorf("copy of %s: %s %s %+v", src.ID(), v.ID(), v.Cause, v.Summary)
		}
		if got, want := h.content(t, name, 0), h.content(t, "prod", of); !slices.Equal(got, want) {
			t.Errorf("copy of %s holds\n%v, not\n%v", src.ID(), got, want)
		}
	}
	// Each goes its own way.
	if _, err := h.Change(t.Context(), "copy-1", 1, []object.Object{pod(t, "own", "")}, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Change(t.Context(), "prod", 3, []object.Object{pod(t, "theirs", "")}, nil); err != nil {
		t.Fatal(err)
	}
	for cluster, want := range map[string]int{"copy-1": 6, "copy-2": 6, "copy-3": 5, "prod": 6} {
		if got := h.content(t, cluster, 0); len(got) != want {
			t.Errorf("%s holds %d objects, not %d: %v", cluster, len(got), want, got)
		}
	}
	h.end()
	h, _ = openWhole(t, dir)
	if got := h.content(t, "copy-1", 2); len(got) != 6 {
		t.Errorf("after a restart: %v", got)
	}
	if v, err := h.View(t.Context(), "copy-1", 0); err != nil || !knownFrom(v, 1) {
		t.Errorf("what woke the pods of a copy is not known: %v", err)
	}
}

// knownFrom reports whether it is known what the revisions after one did.
func knownFrom(v *View, after int64) bool {
	_, known := v.Woken("d", "b", after, nil)
	return known
}

func TestCopyIsRefused(t *testing.T) {
	h := open(t, t.TempDir(), Options{})
	prod(t, h)
	h.copied(t, "copy", "prod", 1)
	for what, c := range map[string]struct {
		cluster, source string
		rev             int64
		want            error // nil: the cluster exists
	}{
		"a cluster that is there": {"copy", "prod", 1, nil},
		"the source itself":       {"prod", "prod", 1, nil},
		"no such revision":        {"new", "prod", 9, store.ErrNotFound},
		"no such cluster":         {"new", "gone", 0, store.ErrNotFound},
	} {
		_, err := h.Copy(t.Context(), c.cluster, c.source, c.rev)
		var exists *ExistsError
		if c.want == nil && !errors.As(err, &exists) || c.want != nil && !errors.Is(err, c.want) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := h.Copy(t.Context(), "no name", "prod", 1); err == nil {
		t.Error("a name that is none was taken")
	}
	if n := h.countChains(); n > 2 {
		t.Errorf("%d chains are in memory", n)
	}
}

func TestCopyOutlivesItsSource(t *testing.T) {
	dir := t.TempDir()
	h := open(t, dir, Options{})
	prod(t, h)
	first := h.content(t, "prod", 2)
	h.copied(t, "a", "prod", 2)
	h.copied(t, "b", "a", 1)
	if err := h.Delete(t.Context(), "prod", 1); err != nil {
		t.Fatal(err)
	}
	if err := h.Delete(t.Context(), "prod", 2); err != nil {
		t.Fatal(err)
	}
	if got := h.content(t, "a", 1); !slices.Equal(got, first) {
		t.Errorf("after the revision went: %v", got)
	}
	h.copied(t, "c", "prod", 3)
	for _, cluster := range []string{"prod", "a"} {
		if err := h.DeleteCluster(t.Context(), cluster); err != nil {
			t.Fatal(cluster, err)
		}
	}
	h.end()
	h = open(t, dir, Options{})
	if got := h.content(t, "b", 0); !slices.Equal(got, first) {
		t.Errorf("after both clusters went: %v", got)
	}
	if got := h.content(t, "c", 0); len(got) != 5 {
		t.Errorf("the other copy: %v", got)
	}
	// The names are free, and what comes under them is no copy of anything.
	upload(t, h, node(t, "n9", 1))
	if got := h.content(t, "c", 0); len(got) != 5 {
		t.Errorf("the copy after its source began anew: %v", got)
	}
}

// TestCopiesOfCopies: how many clusters a load reads is bounded, and so is how often one is written
// whole for it.
func TestCopiesOfCopies(t *testing.T) {
	h, w := openWhole(t, t.TempDir())
	prod(t, h)
	want := h.content(t, "prod", 0)
	source := "prod"
	const n = 3*mostOrigins + 2
	for i := range n {
		name := fmt.Sprint("copy-", i)
		h.copied(t, name, source, 0)
		source = name
	}
	if put := w.put.Load(); put < 2 || put > n/mostOrigins {
		t.Errorf("%d of %d copies were written whole", put, n)
	}
	w.read.Store(0)
	if got := h.content(t, source, 0); !slices.Equal(got, want) {
		t.Errorf("the last copy holds %v", got)
	}
	if read := w.read.Load(); read > mostOrigins+1 {
		t.Errorf("%d clusters were read for the last copy", read)
	}
}

// TestCopyOfHolds: a hold is its cluster's; what it holds is bound in the copy.
func TestCopyOfHolds(t *testing.T) {
	now := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	h := open(t, t.TempDir(), Options{Clock: func() time.Time { return now }})
	upload(t, h, sample(t)...)
	heldFor(t, h, "h1", "held", time.Minute)
	v := h.copied(t, "copy", "prod", 0)
	if v.Summary.Holds != nil {
		t.Errorf("the copy has holds: %+v", v.Summary.Holds)
	}
	now = now.Add(time.Hour)
	if got := h.content(t, "copy", 0); len(got) != 6 {
		t.Errorf("the copy after the hold's time: %v", got)
	}
	if v := h.copied(t, "later", "prod", 0); v.Summary.Objects["Pod"] != 3 {
		t.Errorf("a copy of the newest has pods of a hold that is over: %+v", v.Summary)
	}
}
