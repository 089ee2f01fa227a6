package revision

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"berth/internal/kube/object"
	"berth/internal/store"
)

// gate is a committer that can hold writes back and make them fail.
type gate struct {
	Committer
	mu   sync.Mutex
	hold chan struct{} // writes end only when it is closed; nil: at once
	fail atomic.Int64  // how many of the next writes fail
}

var errDisk = errors.New("disk is gone")

func (g *gate) Submit(ctx context.Context, e *store.Entry) (func(context.Context) error, error) {
	g.mu.Lock()
	hold := g.hold
	g.mu.Unlock()
	if g.fail.Add(-1) >= 0 {
		return func(context.Context) error {
			if hold != nil {
				<-hold
			}
			return errDisk
		}, nil
	}
	wait, err := g.Committer.Submit(ctx, e)
	return func(ctx context.Context) error {
		if hold != nil {
			select {
			case <-hold:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return wait(ctx)
	}, err
}

func (g *gate) set(hold chan struct{}) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.hold = hold
}

func gated(t *testing.T) (*fixture, *gate) {
	h := open(t, t.TempDir(), Options{})
	g := &gate{Committer: h.g}
	h.Manager.g = g
	upload(t, h, sample(t)...)
	return h, g
}

// TestDependentsFallWithTheirParent lets a write fail on which others are
// built: all that cannot stand are begun anew, and the chain has no gap.
func TestDependentsFallWithTheirParent(t *testing.T) {
	h, g := gated(t)
	hold := make(chan struct{})
	g.set(hold)
	g.fail.Store(1)
	first := make(chan error, 1)
	go func() {
		_, err := h.Change(t.Context(), "prod", 0, []object.Object{pod(t, "lost", "n1")}, nil)
		first <- err
	}()
	waitFor(t, func() bool { return g.fail.Load() == 0 })
	const others = 8
	rest := make(chan *View, others)
	for i := range others {
		go func() {
			v, err := h.Change(t.Context(), "prod", 0, []object.Object{pod(t, fmt.Sprintf("kept%d", i), "n1")}, nil)
			if err != nil {
				t.Error(err)
			}
			rest <- v
		}()
	}
	waitFor(t, func() bool { return h.chainInMemory("prod").state.Load().inFlight == 1+others })
	if v, err := h.View(t.Context(), "prod", 0); err != nil || v.Revision != 1 {
		t.Fatalf("a revision was shown before it was durable: %v %v", v.ID(), err)
	}
	g.set(nil)
	close(hold)
	if err := <-first; !errors.Is(err, errDisk) {
		t.Fatalf("the failed write: %v", err)
	}
	numbers := map[int64]bool{}
	for range others {
		v := <-rest
		if v == nil {
			continue // lost the race too often, and said so
		}
		numbers[v.Revision] = true
		if v.State.Pod("d", "lost") != nil {
			t.Fatalf("%s builds on what was never written", v.ID())
		}
	}
	v, err := h.View(t.Context(), "prod", 0)
	if err != nil || v.Revision != int64(1+len(numbers)) || len(numbers) != others {
		t.Fatalf("newest %v, %d revisions: %v", v.ID(), len(numbers), err)
	}
}

func waitFor(t *testing.T, ok func() bool) {
	t.Helper()
	for range 30000 {
		if ok() {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Fatal("it did not come to that")
}

// TestAnswersWaitForWhatTheySaw has a question that writes nothing see a
// revision that then is refused.
func TestAnswersWaitForWhatTheySaw(t *testing.T) {
	h, g := gated(t)
	hold := make(chan struct{})
	g.set(hold)
	g.fail.Store(1)
	go func() { _, _ = h.Change(t.Context(), "prod", 0, []object.Object{pod(t, "ghost", "n1")}, nil) }()
	waitFor(t, func() bool { return h.chainInMemory("prod").state.Load().inFlight == 1 })
	done := make(chan error, 1)
	runs := atomic.Int64{}
	sawAtEnd := false
	go func() {
		_, _, err := h.Update(t.Context(), "prod", 0, func(v *View) (*Step, error) {
			runs.Add(1)
			sawAtEnd = v.State.Pod("d", "ghost") != nil
			return nil, nil
		})
		done <- err
	}()
	waitFor(t, func() bool { return runs.Load() == 1 })
	select {
	case err := <-done:
		t.Fatalf("answered from what was not durable: %v", err)
	case <-time.After(20 * time.Millisecond):
	}
	g.set(nil)
	close(hold)
	if err := <-done; !errors.Is(err, errDisk) && (err != nil || sawAtEnd) {
		t.Fatalf("%v, saw the ghost: %v", err, sawAtEnd)
	}
}

// TestAnotherWriterIsNoticed has a second manager write to the same store.
func TestAnotherWriterIsNoticed(t *testing.T) {
	h, _ := gated(t)
	other, err := Open(t.Context(), h.st, h.g, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = other.Close() })
	v, err := other.Change(t.Context(), "prod", 1, []object.Object{pod(t, "theirs", "n1")}, nil)
	if err != nil || v.Revision != 2 {
		t.Fatal(v, err)
	}
	if _, err := h.Change(t.Context(), "prod", 1, []object.Object{pod(t, "mine", "n1")}, nil); !errors.Is(err, store.ErrConflict) {
		t.Fatalf("a stale parent that looked like the newest: %v", err)
	}
	if _, err = other.Change(t.Context(), "prod", 2, []object.Object{pod(t, "theirs2", "n1")}, nil); err != nil {
		t.Fatal(err)
	}
	if v, err = h.Change(t.Context(), "prod", 0, []object.Object{pod(t, "mine", "n1")}, nil); err != nil || v.Revision != 4 || v.State.Pod("d", "theirs2") == nil {
		t.Fatalf("%v %v", v, err)
	}
}

func TestDamagedRows(t *testing.T) {
	whole := new(inventory).draft()
	for _, o := range sample(t) {
		whole.put(newEntry(o.Key, o.JSON))
	}
	payload, err := encodeCheckpoint(context.Background(), whole.inventory())
	if err != nil {
		t.Fatal(err)
	}
	for n := range payload {
		cut := payload[:n]
		if inv, err := decodeCheckpoint(cut, nil, nil); err == nil {
			t.Fatalf("a checkpoint cut at %d of %d reads as %d objects", n, len(payload), inv.n)
		}
	}
	h := open(t, t.TempDir(), Options{})
	put := func(name string, r store.Revision, c *store.Checkpoint) {
		r.Cluster, r.Token = name, fmt.Sprint(name, r.Number)
		if r.Number > 1 {
			r.ParentToken = fmt.Sprint(name, r.Number-1)
		}
		e := &store.Entry{Revision: &r, Checkpoint: c}
		if err := h.st.Append(t.Context(), []*store.Entry{e}); err != nil || e.Err != nil {
			t.Fatal(err, e.Err)
		}
	}
	put("junk", store.Revision{Number: 1}, &store.Checkpoint{Cluster: "junk", Number: 1, Payload: []byte("junk")})
	put("liar", store.Revision{Number: 1, Digest: "sha256:00"}, &store.Checkpoint{Cluster: "liar", Number: 1, Payload: payload})
	for i, ch := range []string{`{`, `{"delete":[{"kind":"Pod","name":"none"}]}`, `{"apply":[7]}`, `{"bind":{"name":"none"}}`, "\x28\xb5\x2f\xfdjunk"} {
		name := fmt.Sprintf("change%d", i)
		d, _ := decodeCheckpoint(payload, nil, nil)
		put(name, store.Revision{Number: 1, Digest: d.digest()}, &store.Checkpoint{Cluster: name, Number: 1, Payload: payload})
		put(name, store.Revision{Number: 2, Change: []byte(ch)}, nil)
	}
	list, err := h.Clusters(t.Context(), store.ClusterFilter{})
	if err != nil || len(list) != 7 {
		t.Fatal(len(list), err)
	}
	for _, c := range list {
		_, err := h.View(t.Context(), c.Name, 0)
		if want := FormatID(c.Name, c.Newest) + ":"; !errors.Is(err, ErrCorrupt) || len(err.Error()) < len(want) || err.Error()[:len(want)] != want {
			t.Errorf("%s: %v", c.Name, err)
		}
	}
}

func TestDelete(t *testing.T) {
	dir := t.TempDir()
	h := open(t, dir, Options{})
	upload(t, h, sample(t)...)
	for i := range 4 {
		if _, err := h.Change(t.Context(), "prod", 0, []object.Object{pod(t, fmt.Sprintf("p%d", i), "")}, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := h.Delete(t.Context(), "prod", 5); !errors.Is(err, store.ErrConflict) {
		t.Fatalf("the newest: %v", err)
	}
	for _, n := range []int64{3, 1} {
		if err := h.Delete(t.Context(), "prod", n); err != nil {
			t.Fatal(err)
		}
	}
	if err := h.Delete(t.Context(), "prod", 3); !errors.Is(err, store.ErrNotFound) {
		t.Fatal(err)
	}
	for _, fresh := range []bool{false, true} {
		if fresh {
			h.end()
			h = open(t, dir, Options{})
		}
		for n, want := range map[int64]bool{1: false, 2: true, 3: false, 4: true, 5: true} {
			if _, err := h.View(t.Context(), "prod", n); (err == nil) != want {
				t.Fatalf("fresh %v, revision %d: %v", fresh, n, err)
			}
		}
	}
	if err := h.DeleteCluster(t.Context(), "prod"); err != nil {
		t.Fatal(err)
	}
	if _, err := h.View(t.Context(), "prod", 0); !errors.Is(err, store.ErrNotFound) {
		t.Fatal(err)
	}
	if v := upload(t, h, node(t, "new", 1)); v.Revision != 1 || v.Summary.Objects["Pod"] != 0 {
		t.Fatalf("a cluster of that name anew: %s", v.ID())
	}
}

// TestCompiledAnew churns pods of ever new shapes until the tables are mostly
// of pods that are gone.
func TestCompiledAnew(t *testing.T) {
	h := open(t, t.TempDir(), Options{CheckpointEvery: 1}) // ten changes of so many objects
	upload(t, h, sample(t)...)
	tables := 0
	for i := range 12 {
		apply := make([]object.Object, 0, 150)
		for k := range 150 {
			apply = append(apply, decoded(t, fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"s%d","namespace":"d","labels":{"turn":"t%d-%d"}},"spec":{"containers":[{"name":"c"}]}}`, k, i, k)))
		}
		v, err := h.Change(t.Context(), "prod", 0, apply, nil)
		if err != nil {
			t.Fatal(err)
		}
		tables = max(tables, v.State.Tables().Size())
	}
	h.work.Wait()
	v, err := h.Change(t.Context(), "prod", 0, []object.Object{pod(t, "last", "n1")}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if size := v.State.Tables().Size(); size >= tables || tables < 800 || v.State.PodCount() != v.Summary.Objects["Pod"] {
		t.Fatalf("%d shapes after %d, %d pods", size, tables, v.State.PodCount())
	}
	row, err := h.st.Revision(t.Context(), "prod", 11)
	if err != nil || !row.Checkpointed {
		t.Fatalf("no checkpoint was written on the way: %v", err)
	}
}

func TestParseID(t *testing.T) {
	for id, want := range map[string]int64{"prod@1042": 1042, "prod@latest": 0, "p@1": 1, "prod": -1, "prod@0": -1, "prod@-1": -1, "prod@01": -1, "Prod@1": -1, "-a@1": -1, "a-@1": -1, "@1": -1, "prod@": -1, "a@b@1": -1, "a-0-z@7": 7, "a_@1": -1, "ä@1": -1, strings.Repeat("a", 63) + "@1": 1, strings.Repeat("a", 64) + "@1": -1} {
		name, n, err := ParseID(id)
		if bad := want < 0; (err != nil) != bad || !bad && (n != want || FormatID(name, n) != id) {
			t.Errorf("%s: %s %d %v", id, name, n, err)
		}
	}
}

func TestListPages(t *testing.T) {
	h := open(t, t.TempDir(), Options{})
	v := upload(t, h, sample(t)...)
	var got []string
	after := object.Key{}
	for {
		items, more, err := v.List(t.Context(), "Pod", after, 2)
		if err != nil {
			t.Fatal(err)
		}
		for _, js := range items {
			k, err := keyOf(js)
			if err != nil {
				t.Fatal(err)
			}
			got, after = append(got, k.Name), k
		}
		if !more {
			break
		}
	}
	if fmt.Sprint(got) != "[a b c]" {
		t.Fatal(got)
	}
	if items, more, err := v.List(t.Context(), "Sandwich", object.Key{}, 5); items != nil || more || err != nil {
		t.Fatal("a kind that nobody has")
	}
}

// TestClustersAreLetGo has more clusters than are held, all of which answer.
func TestClustersAreLetGo(t *testing.T) {
	h := open(t, t.TempDir(), Options{KeepViews: 2})
	for i := range 6 {
		if _, _, err := h.Upload(t.Context(), fmt.Sprintf("c%d", i), reader(sample(t)...)); err != nil {
			t.Fatal(err)
		}
	}
	for round := range 3 {
		for i := range 6 {
			v, err := h.View(t.Context(), fmt.Sprintf("c%d", i), 0)
			if err != nil || v.Revision != int64(1+round) {
				t.Fatal(v, err)
			}
			if _, err := h.Change(t.Context(), v.Cluster, v.Revision, []object.Object{pod(t, fmt.Sprintf("p%d", round), "n1")}, nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	h.work.Wait()
	h.trim(nil)
	held := 0
	for l := range h.allChains() {
		if l.held(0) != nil {
			held++
		}
	}
	if held > 2 {
		t.Fatalf("%d clusters are held", held)
	}
	chains := h.countChains()
	if chains > 2 {
		t.Fatalf("%d chains", chains)
	}
	for i := range 50 {
		_, _ = h.View(t.Context(), fmt.Sprintf("unknown-%d", i), 0)
	}
	if n := h.countChains(); n != chains {
		t.Fatalf("unknown names made %d chains", n-chains)
	}
}
