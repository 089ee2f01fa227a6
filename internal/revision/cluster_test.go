package revision

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"

	"berth/internal/engine"
	"berth/internal/engine/rules"
	"berth/internal/engine/state"
	"berth/internal/kube/object"
	"berth/internal/store"
	"berth/internal/store/groupcommit"
	"berth/internal/store/sqlite"
	"berth/test/pgtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(pgtest.Around(m)) }

type fixture struct {
	*Manager
	st *sqlite.Store
	g  *groupcommit.Group
}

// open starts a manager over the embedded store in dir; it ends with the test.
func open(t testing.TB, dir string, o Options) *fixture {
	t.Helper()
	st, err := sqlite.Open(t.Context(), dir, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	g := groupcommit.NewGroup(st, groupcommit.Options{CallersWrite: true})
	m, err := Open(t.Context(), st, g, o)
	if err != nil {
		t.Fatal(err)
	}
	h := &fixture{m, st, g}
	t.Cleanup(h.end)
	return h
}

func (h *fixture) end() {
	_ = h.Close()
	_ = h.g.Close(context.Background())
	_ = h.st.Close()
}

func decoded(t testing.TB, js string) object.Object {
	t.Helper()
	o, err := object.Decode([]byte(js), object.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func node(t testing.TB, name string, cpu int) object.Object {
	return decoded(t, fmt.Sprintf(`{"apiVersion":"v1","kind":"Node","metadata":{"name":%q,"labels":{"kubernetes.io/hostname":%q,"topology.kubernetes.io/zone":"z%d"}},
		"status":{"allocatable":{"cpu":"%d","memory":"64Gi","pods":"110"}}}`, name, name, len(name)%3, cpu))
}

func pod(t testing.TB, name, on string) object.Object {
	return decoded(t, fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":%q,"namespace":"d","labels":{"app":%q}},
		"spec":{"nodeName":%q,"containers":[{"name":"c","resources":{"requests":{"cpu":"1","memory":"1Gi"}}}]}}`, name, name, on))
}

func reader(list ...object.Object) object.Reader {
	return func(yield func(object.Object) error) (map[string]int, error) {
		for _, o := range list {
			if err := yield(o); err != nil {
				return nil, err
			}
		}
		return map[string]int{"ConfigMap": 2}, nil
	}
}

func sample(t testing.TB) []object.Object {
	return []object.Object{node(t, "n1", 4), node(t, "n2", 8), pod(t, "a", "n1"), pod(t, "b", ""), pod(t, "c", "nowhere")}
}

func upload(t testing.TB, h *fixture, list ...object.Object) *View {
	t.Helper()
	v, created, err := h.Upload(t.Context(), "prod", reader(list...))
	if err != nil || !created {
		t.Fatalf("upload: created %v, %v", created, err)
	}
	return v
}

func podKey(name string) object.Key { return object.Key{Kind: "Pod", Namespace: "d", Name: name} }

func TestRevisions(t *testing.T) {
	h := open(t, t.TempDir(), Options{})
	v := upload(t, h, sample(t)...)
	if v.ID() != "prod@1" || v.Summary.Objects["Pod"] != 3 || v.Summary.Ignored["ConfigMap"] != 2 {
		t.Fatalf("%s %+v", v.ID(), v.Summary)
	}
	again, created, err := h.Upload(t.Context(), "prod", reader(sample(t)...))
	if err != nil || created || again.Revision != 1 {
		t.Fatalf("the same content again: %v %v %v", again, created, err)
	}
	v2, err := h.Change(t.Context(), "prod", 1, []object.Object{pod(t, "x", "n2")}, []object.Key{podKey("a")})
	if err != nil || v2.Revision != 2 || v2.State.Use(v2.State.Nodes().Row("n2")).Pods != 1 {
		t.Fatalf("%v %v", v2, err)
	}
	if _, err := h.Change(t.Context(), "prod", 1, []object.Object{pod(t, "y", "")}, nil); !errors.Is(err, store.ErrConflict) {
		t.Fatalf("a stale parent: %v", err)
	}
	v3, err := h.Change(t.Context(), "prod", 0, []object.Object{pod(t, "y", "")}, nil)
	if err != nil || v3.Revision != 3 {
		t.Fatal(v3, err)
	}
	if old, err := h.View(t.Context(), "prod", 1); err != nil || old.State.Pod("d", "a") == nil || old.State.Pod("d", "x") != nil {
		t.Fatalf("revision 1: %v", err)
	}
	for _, id := range []int64{4, 99} {
		if _, err := h.View(t.Context(), "prod", id); !errors.Is(err, store.ErrNotFound) {
			t.Fatalf("revision %d: %v", id, err)
		}
	}
	if _, err := h.View(t.Context(), "other", 0); !errors.Is(err, store.ErrNotFound) {
		t.Fatal(err)
	}
	if _, err := h.Change(t.Context(), "prod", 9, []object.Object{pod(t, "y", "")}, nil); !errors.Is(err, store.ErrNotFound) {
		t.Fatalf("a parent to come: %v", err)
	}
}

func TestChangeRefusals(t *testing.T) {
	h := open(t, t.TempDir(), Options{})
	upload(t, h, sample(t)...)
	_, err := h.Change(t.Context(), "prod", 0, nil, []object.Key{podKey("zz")})
	var bad *InvalidError
	if !errors.As(err, &bad) || bad.Field != "delete[0]" || !errors.Is(err, store.ErrNotFound) {
		t.Fatalf("%v", err)
	}
	if v, err := h.View(t.Context(), "prod", 0); err != nil || v.Revision != 1 {
		t.Fatalf("something was written: %v %v", v.ID(), err)
	}
	if _, _, err := h.Upload(t.Context(), "prod", reader(pod(t, "a", ""), pod(t, "a", ""))); err == nil {
		t.Fatal("a pod twice in one upload was taken")
	}
}

func TestHygieneFollowsChanges(t *testing.T) {
	h := open(t, t.TempDir(), Options{})
	v := upload(t, h, sample(t)...)
	hy := v.Summary.Hygiene
	if hy.PendingPods != 1 || hy.PodsOnUnknownNodes.Count != 1 || hy.PodsOnUnknownNodes.Sample[0].Node != "nowhere" || len(hy.MissingKinds) != len(consequences)-2 {
		t.Fatalf("%+v", hy)
	}
	rnd := rand.New(rand.NewSource(1))
	for i := range 60 {
		var apply []object.Object
		var del []object.Key
		name := fmt.Sprintf("p%d", rnd.Intn(12))
		switch _, have := v.Object(podKey(name)); {
		case i%7 == 6:
			apply = append(apply, node(t, "nowhere", 4))
			if _, there := v.Object(object.Key{Kind: "Node", Name: "nowhere"}); there {
				apply, del = nil, []object.Key{{Kind: "Node", Name: "nowhere"}}
			}
		case have && rnd.Intn(2) == 0:
			del = append(del, podKey(name))
		default:
			apply = append(apply, pod(t, name, []string{"", "n1", "nowhere", "gone"}[rnd.Intn(4)]))
		}
		var err error
		if v, err = h.Change(t.Context(), "prod", 0, apply, del); err != nil {
			t.Fatal(err)
		}
		want, err := recount(nil, v.inv, v.State, v.Summary)
		if err != nil {
			t.Fatal(err)
		}
		if a, b := fmt.Sprintf("%+v", v.Summary), fmt.Sprintf("%+v", want); a != b {
			t.Fatalf("step %d:\n%s\n%s", i, a, b)
		}
	}
}

func TestLargeStatesAreWrittenLessOften(t *testing.T) {
	for _, tt := range []struct {
		objects     int
		least, want int64
	}{
		{0, 500, 500}, {2000, 500, 500}, {2040, 500, 510}, {8000, 500, 2000}, {150_000, 500, 5000}, {150_000, 2, 20},
	} {
		v := &View{inv: &inventory{n: tt.objects}}
		if got := v.checkpointEvery(tt.least); got != tt.want {
			t.Errorf("a state of %d objects is written after %d changes, want %d", tt.objects, got, tt.want)
		}
	}
}

// TestLoadedIsTheSame reads every revision in a fresh process and holds it against
// what it was when it was made, from checkpoints and from neighbours.
func TestLoadedIsTheSame(t *testing.T) {
	dir := t.TempDir()
	h := open(t, dir, Options{CheckpointEvery: 10})
	plain := decoded(t, `{"apiVersion":"v1","kind":"Node","metadata":{"name":"plain"},"status":{"allocatable":{"cpu":"4"}}}`) // has no zone that a bind copies
	digests := map[int64]string{1: upload(t, h, append(sample(t), plain)...).Digest}
	for i := range 45 {
		name := fmt.Sprintf("w%d", i)
		if i%3 == 0 {
			v, err := h.Change(t.Context(), "prod", 0, []object.Object{pod(t, name, "")}, nil)
			if err != nil {
				t.Fatal(err)
			}
			digests[v.Revision] = v.Digest
		}
		v, _, err := h.Update(t.Context(), "prod", 0, func(v *View) (*Step, error) {
			p := pod(t, name, "").Value.(*corev1.Pod)
			return &Step{Bind: &Bind{Pod: p, Node: "plain"}}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		digests[v.Revision] = v.Digest
	}
	h.end()
	h = open(t, dir, Options{CheckpointEvery: 10, KeepViews: 3})
	short := 0
	for _, r := range rand.New(rand.NewSource(2)).Perm(len(digests)) {
		n := int64(r + 1)
		v, err := h.View(t.Context(), "prod", n)
		if err != nil || v.Digest != digests[n] || v.inv.digest() != digests[n] {
			t.Fatalf("revision %d: %v", n, err)
		}
		row, err := h.st.Revision(t.Context(), "prod", n)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(row.Change, []byte(`"bind"`)) {
			short++
		}
		fresh, err := advance(t.Context(), state.NewState(), new(inventory), v.inv)
		if err != nil || fresh.PodCount() != v.State.PodCount() || fmt.Sprint(fresh.Use(0), fresh.Use(1)) != fmt.Sprint(v.State.Use(0), v.State.Use(1)) {
			t.Fatalf("revision %d: columns differ: %v", n, err)
		}
	}
	if short != 15 {
		t.Fatalf("%d binds of held pods were stored in short, want 15", short)
	}
	h.views.mu.Lock()
	defer h.views.mu.Unlock()
	if len(h.views.list) > 3 {
		t.Fatalf("%d views are held", len(h.views.list))
	}
}

func TestDigestIsOfContentAlone(t *testing.T) {
	list := sample(t)
	for i := range 200 {
		list = append(list, pod(t, fmt.Sprintf("m%d", i), "n2"))
	}
	want := ""
	for seed := range int64(5) {
		rand.New(rand.NewSource(seed)).Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		d := new(inventory).draft()
		for _, o := range list {
			d.put(newEntry(o.Key, o.JSON))
		}
		inv := d.inventory()
		// A detour must leave no trace.
		d = inv.draft()
		d.put(newEntry(podKey("late"), []byte("{}")))
		d = d.inventory().draft()
		d.remove(podKey("late"))
		inv = d.inventory()
		if got := inv.digest(); want == "" {
			want = got
		} else if got != want {
			t.Fatalf("seed %d: %s, not %s", seed, got, want)
		}
		payload, err := encodeCheckpoint(context.Background(), inv)
		if err != nil {
			t.Fatal(err)
		}
		back, err := decodeCheckpoint(payload, nil, nil)
		if err != nil || back.digest() != want || back.n != inv.n {
			t.Fatalf("checkpoint: %v", err)
		}
	}
	d := new(inventory).draft()
	for _, o := range list[1:] {
		d.put(newEntry(o.Key, o.JSON))
	}
	if d.inventory().digest() == want {
		t.Fatal("one object less has the same digest")
	}
}

// TestPipelinedBinds has many writers at one cluster: revisions form one chain
// and no slot is given twice.
func TestPipelinedBinds(t *testing.T) {
	h := open(t, t.TempDir(), Options{CheckpointEvery: 20})
	upload(t, h, node(t, "n1", 100), node(t, "n2", 60))
	profile, err := rules.Build(rules.DefaultSpec())
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	seen, boundPods := map[int64]bool{}, 0
	for i := range 200 {
		p := pod(t, fmt.Sprintf("p%d", i), "").Value.(*corev1.Pod)
		wg.Go(func() {
			before := int64(0)
			v, step, err := h.Update(t.Context(), "prod", 0, func(v *View) (*Step, error) {
				before = v.Revision
				r, err := engine.Decide(v.State, p, profile, engine.Options{Now: time.Unix(0, 0)})
				if err != nil {
					return nil, err
				}
				defer r.Release()
				if r.Outcome != engine.Scheduled {
					return nil, nil
				}
				return &Step{Bind: &Bind{Pod: p, Node: r.Node()}}, nil
			})
			if err != nil {
				t.Error(err)
				return
			}
			if step == nil {
				return
			}
			mu.Lock()
			defer mu.Unlock()
			boundPods++
			if seen[v.Revision] || v.Revision != before+1 {
				t.Errorf("revision %d was made twice or out of turn", v.Revision)
			}
			seen[v.Revision] = true
		})
	}
	wg.Wait()
	v, err := h.View(t.Context(), "prod", 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"n1", "n2"} {
		row := v.State.Nodes().Row(name)
		if use, room := v.State.Use(row), v.State.Nodes().Capacity(row); use.CPU > room.CPU || use.Memory > room.Memory {
			t.Fatalf("%s is overcommitted: %+v of %+v", name, use, room)
		}
	}
	if v.Summary.Objects["Pod"] != boundPods || boundPods != 60+64 || v.Revision != 125 { // by memory 64 on n1, by cpu 60 on n2
		t.Fatalf("%d pods, %d bound", v.Summary.Objects["Pod"], boundPods)
	}
}
