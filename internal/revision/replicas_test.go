package revision

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/kube/object"
	"berth/internal/store"
	"berth/internal/store/groupcommit"
	"berth/internal/store/postgres"
	"berth/test/pgtest"
)

// watched counts the calls of a store and can make it unavailable.
type watched struct {
	store.Store
	whole, puts atomic.Int64 // checkpoints read, and written to the end
	newest      atomic.Int64 // calls of Newest
	away        atomic.Bool
	hold        atomic.Pointer[chan struct{}] // Newest waits until it is closed
}

func (w *watched) Newest(ctx context.Context, cluster string) (*store.Revision, error) {
	w.newest.Add(1)
	if hold := w.hold.Load(); hold != nil {
		<-*hold
	}
	if w.away.Load() {
		return nil, store.ErrUnavailable
	}
	return w.Store.Newest(ctx, cluster)
}

func (w *watched) CheckpointAt(ctx context.Context, cluster string, number int64, admit func(int) error) (*store.Checkpoint, error) {
	w.whole.Add(1)
	return w.Store.CheckpointAt(ctx, cluster, number, admit)
}

func (w *watched) PutCheckpoint(ctx context.Context, c *store.Checkpoint) error {
	err := w.Store.PutCheckpoint(ctx, c)
	if err == nil { // one that Close cuts short is not made
		w.puts.Add(1)
	}
	return err
}

func (w *watched) Heads(ctx context.Context) (map[string]store.Head, error) {
	if w.away.Load() {
		return nil, store.ErrUnavailable
	}
	return w.Store.Heads(ctx)
}

// replica is a manager with a pool of its own.
type replica struct {
	*Manager
	st *watched
	g  *groupcommit.Group
}

func (r *replica) end() {
	_ = r.Close()
	_ = r.g.Close(context.Background())
	_ = r.st.Close()
}

// sharedURL returns an empty schema with our tables.
func sharedURL(t testing.TB) string {
	t.Helper()
	url := pgtest.URL(t)
	if err := postgres.MigrateUp(t.Context(), url, postgres.MigrateOptions{}); err != nil {
		t.Fatal(err)
	}
	return url
}

func openReplica(t testing.TB, url string, o Options) *replica {
	t.Helper()
	st, err := postgres.Open(t.Context(), url, postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	w := &watched{Store: st}
	g := groupcommit.NewGroup(w, groupcommit.Options{})
	m, err := Open(t.Context(), w, g, o)
	if err != nil {
		t.Fatal(err)
	}
	r := &replica{m, w, g}
	t.Cleanup(r.end)
	return r
}

// pair is two replicas on one database that know of each other by polling.
func pair(t testing.TB, o Options) (a, b *replica) {
	t.Helper()
	if o.Poll == 0 {
		o.Poll = 20 * time.Millisecond
	}
	url := sharedURL(t)
	a, b = openReplica(t, url, o), openReplica(t, url, o)
	if _, _, err := a.Upload(t.Context(), "prod", reader(sample(t)...)); err != nil {
		t.Fatal(err)
	}
	return a, b
}

// sees reports whether a replica's newest view holds a pod.
func sees(t testing.TB, r *replica, name string) bool {
	t.Helper()
	v, err := r.View(context.Background(), "prod", 0)
	return err == nil && v.State.Pod("d", name) != nil
}

// TestRevisionsOfOthersAreSeen: what one replica writes the other comes to see,
// without being asked to write and without reading the state anew.
func TestRevisionsOfOthersAreSeen(t *testing.T) {
	a, b := pair(t, Options{})
	if v, err := b.View(t.Context(), "prod", 0); err != nil || v.Revision != 1 {
		t.Fatal(v, err)
	}
	loaded := b.st.whole.Load()
	for i := range 5 {
		name := fmt.Sprint("new", i)
		v, err := a.Change(t.Context(), "prod", 0, []object.Object{pod(t, name, "n1")}, nil)
		if err != nil {
			t.Fatal(err)
		}
		waitFor(t, func() bool { return sees(t, b, name) })
		theirs, err := b.View(t.Context(), "prod", 0)
		if err != nil || theirs.Digest != v.Digest || theirs.Revision != v.Revision {
			t.Fatalf("%+v, %v", theirs, err)
		}
		if objects := theirs.Summary.Objects["Pod"]; objects != v.Summary.Objects["Pod"] {
			t.Fatalf("%d pods in the summary", objects)
		}
	}
	if n := b.st.whole.Load(); n != loaded {
		t.Errorf("%d whole states were read on the way", n-loaded)
	}
	// An upload shares nothing with what was before: only then is one read.
	if _, _, err := a.Upload(t.Context(), "prod", reader(node(t, "n9", 1), pod(t, "uploaded", "n9"))); err != nil {
		t.Fatal(err)
	}
	waitFor(t, func() bool { return sees(t, b, "uploaded") })
	if n := b.st.whole.Load(); n != loaded+1 {
		t.Errorf("%d whole states were read for an upload", n-loaded)
	}
	if f := b.Following(); f.Err != nil || f.Behind != 0 {
		t.Errorf("following: %+v", f)
	}
}

// TestManyRevisionsBehind has a replica miss more than it reads at once.
func TestManyRevisionsBehind(t *testing.T) {
	a, b := pair(t, Options{Poll: time.Hour})
	if _, err := b.View(t.Context(), "prod", 0); err != nil {
		t.Fatal(err)
	}
	const many = 2*page + 7
	var last *View
	for i := range many {
		var err error
		if last, err = a.Change(t.Context(), "prod", 0, []object.Object{pod(t, fmt.Sprint("p", i), "n1")}, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.poll(t.Context()); err != nil {
		t.Fatal(err)
	}
	v, err := b.View(t.Context(), "prod", 0)
	if err != nil || v.Revision != last.Revision || v.Digest != last.Digest {
		t.Fatalf("%+v, %v", v, err)
	}
}

// TestGoneClusterIsNoticed: a cluster that another replica deleted, and one
// that it made again under the name, are told from the one before.
func TestGoneClusterIsNoticed(t *testing.T) {
	a, b := pair(t, Options{Poll: time.Hour})
	poll := func() {
		t.Helper()
		if err := b.poll(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if !sees(t, b, "a") {
		t.Fatal("b does not see the cluster")
	}
	if err := a.DeleteCluster(t.Context(), "prod"); err != nil {
		t.Fatal(err)
	}
	poll()
	if v, err := b.View(t.Context(), "prod", 0); !errors.Is(err, store.ErrNotFound) {
		t.Fatalf("deleted and still there: %v %v", v, err)
	}
	for life := range 3 {
		name := fmt.Sprint("life", life)
		if life > 0 {
			if err := a.DeleteCluster(t.Context(), "prod"); err != nil {
				t.Fatal(err)
			}
		}
		if _, _, err := a.Upload(t.Context(), "prod", reader(node(t, "n1", 4), pod(t, name, "n1"))); err != nil {
			t.Fatal(err)
		}
		for i := range life { // the new one may be longer than the old one was
			if _, err := a.Change(t.Context(), "prod", 0, []object.Object{pod(t, fmt.Sprint("more", i), "n1")}, nil); err != nil {
				t.Fatal(err)
			}
		}
		poll()
		if !sees(t, b, name) || life > 0 && sees(t, b, fmt.Sprint("life", life-1)) {
			v, err := b.View(t.Context(), "prod", 0)
			t.Fatalf("life %d: b sees %v, %v", life, v, err)
		}
		if _, err := b.View(t.Context(), "prod", 1); err != nil {
			t.Fatal(err)
		}
	}
}

// TestStaleParentIsAConflict: the parent in the URL is the check, on every
// replica, whether or not it has seen the newer one.
func TestStaleParentIsAConflict(t *testing.T) {
	a, b := pair(t, Options{Poll: time.Hour})
	if _, err := b.View(t.Context(), "prod", 0); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Change(t.Context(), "prod", 1, []object.Object{pod(t, "first", "n1")}, nil); err != nil {
		t.Fatal(err)
	}
	if v, err := b.Change(t.Context(), "prod", 1, []object.Object{pod(t, "second", "n1")}, nil); !errors.Is(err, store.ErrConflict) {
		t.Fatalf("a stale parent: %v, %v", v, err)
	}
	v, err := b.Change(t.Context(), "prod", 2, []object.Object{pod(t, "second", "n1")}, nil)
	if err != nil || v.Revision != 3 || v.State.Pod("d", "first") == nil {
		t.Fatalf("%v, %v", v, err)
	}
}

// TestViewsOutliveTheStore: while the store does not answer, what is known of
// it does.
func TestViewsOutliveTheStore(t *testing.T) {
	_, b := pair(t, Options{})
	if !sees(t, b, "a") {
		t.Fatal("b does not see the cluster")
	}
	b.st.away.Store(true)
	waitFor(t, func() bool { return b.Following().Err != nil })
	if !sees(t, b, "a") {
		t.Fatal("b forgot the cluster while the store was away")
	}
	asked := b.Following().Asked
	b.st.away.Store(false)
	waitFor(t, func() bool { f := b.Following(); return f.Err == nil && f.Asked.After(asked) })
}

// TestNoPodIsBoundTwice lets two replicas bind the same pods by many callers:
// each is bound once, and a caller that was told of a bind finds it.
func TestNoPodIsBoundTwice(t *testing.T) {
	a, b := pair(t, Options{})
	const pods, callers = 40, 8
	var list []object.Object
	for i := range pods {
		list = append(list, pod(t, fmt.Sprint("free", i), ""))
	}
	if _, err := a.Change(t.Context(), "prod", 0, list, nil); err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	bound := map[string]string{}
	var wg sync.WaitGroup
	for c := range callers {
		wg.Go(func() {
			r, to := []*replica{a, b}[c%2], []string{"n1", "n2"}[c%2]
			for i := range pods {
				name := fmt.Sprint("free", i)
				_, step, err := r.Update(context.Background(), "prod", 0, func(v *View) (*Step, error) {
					if p := v.State.Pod("d", name); p.NodeName != "" {
						return nil, nil
					}
					p, err := v.Pod("d", name)
					return &Step{Bind: &Bind{Pod: p, Node: to}}, err
				})
				if err != nil {
					t.Errorf("bind %s: %v", name, err)
					return
				}
				if step == nil {
					continue
				}
				mu.Lock()
				if before, twice := bound[name]; twice {
					t.Errorf("%s was bound to %s and to %s", name, before, to)
				}
				bound[name] = to
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if len(bound) != pods {
		t.Errorf("%d binds of %d pods", len(bound), pods)
	}
	for _, r := range []*replica{a, b} {
		waitFor(t, func() bool { v, err := r.View(t.Context(), "prod", 0); return err == nil && v.Revision == 2+pods })
		v, err := r.View(t.Context(), "prod", 0)
		if err != nil {
			t.Fatal(err)
		}
		for name, to := range bound {
			if p := v.State.Pod("d", name); p.NodeName != to {
				t.Errorf("%s is on %s, its caller was told %s", name, p.NodeName, to)
			}
		}
	}
}

// TestCheckpointsAreMadeOnce has two replicas write one chain past several
// checkpoints.
func TestCheckpointsAreMadeOnce(t *testing.T) {
	const every, wanted, atMost = 10, 4, 2000
	a, b := pair(t, Options{CheckpointEvery: every, Poll: time.Hour}) // only the store can tell
	made := func() (numbers []int64) {
		rs, err := a.st.RevisionsAfter(t.Context(), "prod", 1, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range rs {
			if r.Checkpointed {
				numbers = append(numbers, r.Number)
			}
		}
		return numbers
	}
	for i := 0; i%every > 0 || len(made()) < wanted; i++ {
		if i == atMost {
			t.Fatalf("checkpoints at %v after %d writes", made(), i)
		}
		r := []*replica{a, b}[i%2]
		if _, err := r.Change(t.Context(), "prod", 0, []object.Object{pod(t, fmt.Sprint("p", i%every), "n1")}, nil); err != nil {
			t.Fatal(err)
		}
	}
	for _, r := range []*replica{a, b} {
		if err := r.Close(); err != nil { // what it does in the background has ended then
			t.Fatal(err)
		}
	}
	numbers := made()
	for i, n := range numbers {
		if i > 0 && n-numbers[i-1] < every {
			t.Errorf("checkpoints at %v, closer than every %d", numbers, every)
			break
		}
	}
	if puts := a.st.puts.Load() + b.st.puts.Load(); puts != int64(len(numbers)) {
		t.Errorf("%d checkpoints were encoded, %d are there", puts, len(numbers))
	}
}

// BenchmarkReplicas is binds by 8 callers a replica, on one chain.
func BenchmarkReplicas(b *testing.B) {
	for _, n := range []int{1, 2} {
		b.Run(fmt.Sprintf("replicas=%d", n), func(b *testing.B) {
			url := sharedURL(b)
			var rs []*replica
			for range n {
				rs = append(rs, openReplica(b, url, Options{Poll: 500 * time.Millisecond}))
			}
			list := make([]object.Object, 0, 100)
			for i := range 100 {
				list = append(list, node(b, fmt.Sprintf("node-%05d", i), 64))
			}
			if _, _, err := rs[0].Upload(b.Context(), "prod", reader(list...)); err != nil {
				b.Fatal(err)
			}
			p := pod(b, "new", "").Value.(*corev1.Pod)
			var left atomic.Int64
			var lock sync.Mutex
			each := make([]int, n)
			b.ResetTimer()
			left.Store(int64(b.N))
			var wg sync.WaitGroup
			for c := range 8 * n {
				wg.Go(func() {
					done := 0
					for left.Add(-1) >= 0 {
						_, _, err := rs[c%n].Update(b.Context(), "prod", 0, func(v *View) (*Step, error) {
							one := *p
							one.Name = fmt.Sprintf("new-%d", v.Revision)
							return &Step{Bind: &Bind{Pod: &one, Node: fmt.Sprintf("node-%05d", v.Revision%100)}}, nil
						})
						if err != nil {
							b.Error(err)
							return
						}
						done++
					}
					lock.Lock()
					each[c%n] += done
					lock.Unlock()
				})
			}
			wg.Wait()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "binds/s")
			least := each[0]
			for _, d := range each {
				least = min(least, d)
			}
			b.ReportMetric(100*float64(least*n)/float64(b.N), "%-of-fair")
		})
	}
}

// TestCheckpointOfAnotherCounts: a replica that is about to make a checkpoint
// finds that another one has just done so.
func TestCheckpointOfAnotherCounts(t *testing.T) {
	a, b := pair(t, Options{CheckpointEvery: 5, Poll: time.Hour})
	var vs []*View
	for i := range 4 { // too few for a checkpoint of their own accord
		v, err := a.Change(t.Context(), "prod", 0, []object.Object{pod(t, fmt.Sprint("p", i), "n1")}, nil)
		if err != nil {
			t.Fatal(err)
		}
		vs = append(vs, v)
	}
	a.o.CheckpointEvery, b.o.CheckpointEvery = 2, 2
	if n, err := a.saveOnce(vs[2]); err != nil || n != vs[2].Revision {
		t.Fatal(n, err)
	}
	if n, err := b.saveOnce(vs[3]); err != nil || n != vs[2].Revision || b.st.puts.Load() != 0 {
		t.Errorf("newest checkpoint at %d, %d made by the second replica, %v", n, b.st.puts.Load(), err)
	}
}
