package revision

import (
	"database/sql"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"berth/internal/engine"
	"berth/internal/engine/rules"
	"berth/internal/engine/state"
	"berth/internal/kube/object"
	"berth/internal/store"
	"berth/internal/store/sqlite"
)

// byDefault is upstream's default profile, whatever the scheduler.
func byDefault(t testing.TB) func(string, string) *engine.Profile {
	p, err := rules.Build(rules.DefaultSpec())
	if err != nil {
		t.Fatal(err)
	}
	return func(string, string) *engine.Profile { return p }
}

// wakesOf shows what a view knows.
func wakesOf(v *View) string {
	var b strings.Builder
	fmt.Fprintf(&b, "since %d\n", v.woken.since)
	for _, g := range v.woken.groups() {
		fmt.Fprintf(&b, "%d %s %s %s: %v\n", g.Revision, g.Plugin, g.Event, g.Object, g.pods)
	}
	return b.String()
}

// TestWhatWokePodsIsEqualEverywhere changes a cluster at random, and wants what is known at each
// revision to be the same by its writer, from a view before, from checkpoints, and after a restart,
// and on a replica that follows.
func TestWhatWokePodsIsEqualEverywhere(t *testing.T) {
	dir := t.TempDir()
	o := Options{CheckpointEvery: 7, ProfileOf: byDefault(t)}
	h := open(t, dir, o)
	a, b := pair(t, o)
	r := rand.New(rand.NewPCG(1, 2))
	want := map[int64]string{}
	note := func(v *View) {
		w := wakesOf(v)
		want[v.Revision] = w
		if got, err := decodeWoken(v.woken.encode()); err != nil || got.since != v.woken.since || wakesOf(&View{woken: got}) != w {
			t.Fatalf("%s: read back as\n%s, %v, want\n%s", v.ID(), wakesOf(&View{woken: got}), err, w)
		}
	}
	list := sample(t)
	for i := range 60 {
		list = append(list, pod(t, fmt.Sprint("p", i), ""))
	}
	note(upload(t, h, list...))
	if _, _, err := a.Upload(t.Context(), "prod", reader(list...)); err != nil {
		t.Fatal(err)
	}
	for i := range 90 {
		v, err := h.View(t.Context(), "prod", 0)
		if err != nil {
			t.Fatal(err)
		}
		var apply []object.Object
		var del []object.Key
		name := fmt.Sprint("p", r.IntN(60))
		switch x := r.IntN(10); {
		case x == 0:
			apply = append(apply, node(t, fmt.Sprint("m", i), 2))
		case x < 3 && v.State.Pod("d", name) != nil:
			del = append(del, podKey(name))
		case x < 5:
			apply = append(apply, pod(t, name, "n1"))
		case x < 6:
			apply = append(apply, node(t, "n2", 9+i), pod(t, name, ""))
		case x == 9 && i%20 == 0:
			fresh := slices.Clone(list)
			fresh[0] = node(t, "n1", 50+i)
			note(upload(t, h, fresh...))
			if _, _, err := a.Upload(t.Context(), "prod", reader(fresh...)); err != nil {
				t.Fatal(err)
			}
			continue
		default:
			apply = append(apply, pod(t, name, ""))
		}
		next, err := h.Change(t.Context(), "prod", 0, apply, del)
		if err != nil {
			t.Fatal(err)
		}
		note(next)
		if _, err := a.Change(t.Context(), "prod", 0, apply, del); err != nil {
			t.Fatal(err)
		}
	}
	last := int64(len(want))
	if n := strings.Count(want[last], "\n"); n < 3 {
		t.Fatalf("few wakes at the end:\n%s", want[last])
	}
	same := func(who string, v *View) {
		t.Helper()
		if d := cmp.Diff(want[v.Revision], wakesOf(v)); d != "" {
			t.Errorf("%s, %s (-writer +it):\n%s", who, v.ID(), d)
		}
	}
	for n := int64(1); n <= last; n++ {
		v, err := h.View(t.Context(), "prod", n)
		if err != nil {
			t.Fatal(err)
		}
		same("loaded", v)
	}
	h.end()
	h = open(t, dir, o)
	for n := last; n >= 1; n-- {
		v, err := h.View(t.Context(), "prod", n)
		if err != nil {
			t.Fatal(err)
		}
		same("after a restart", v)
	}
	// The pair has one revision more, of its own first upload.
	waitFor(t, func() bool { return wakesAt(t, b) == wakesAt(t, a) })
	if !strings.Contains(wakesAt(t, b), "NodeResourcesFit") {
		t.Errorf("the replica knows of\n%s", wakesAt(t, b))
	}
}

func wakesAt(t *testing.T, r *replica) string {
	v, err := r.View(t.Context(), "prod", 0)
	if err != nil {
		t.Fatal(err)
	}
	return v.ID() + wakesOf(v)
}

// TestWokenPods has a pod woken after an attempt on revision 2, by one plugin and not by another,
// until it waits no longer.
func TestWokenPods(t *testing.T) {
	h := open(t, t.TempDir(), Options{ProfileOf: byDefault(t)})
	upload(t, h, sample(t)...)
	change := func(apply ...object.Object) *View {
		t.Helper()
		v, err := h.Change(t.Context(), "prod", 0, apply, nil)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	want := func(v *View, after int64, plugins string, revision int64) {
		t.Helper()
		w, known := v.Woken("d", "b", after, strings.Split(plugins, ","))
		if !known || (w != nil) != (revision != 0) || w != nil && w.Revision != revision {
			t.Errorf("%s, after %d, by %s: %+v, known %t; want revision %d", v.ID(), after, plugins, w, known, revision)
		}
	}
	v := change(pod(t, "other", "n1"))
	want(v, 0, "NodeResourcesFit,NodePorts", 0)
	v = change(node(t, "n3", 4))
	want(v, 2, "SchedulingGates,NodeResourcesFit", 3)
	want(v, 2, "SchedulingGates", 0)
	want(v, 3, "NodeResourcesFit", 0)
	v = change(pod(t, "bb", "n1")) // a bind takes room, and frees none
	want(v, 2, "NodeResourcesFit", 3)
	f, err := v.Fork(t.Context(), nil, []object.Object{node(t, "n9", 1)})
	if err != nil {
		t.Fatal(err)
	}
	want(f, 2, "NodeResourcesFit", 3)
	v = change(pod(t, "b", "n3")) // it waits no longer
	want(v, 2, "NodeResourcesFit,NodePorts", 0)
}

// TestUnknownWakes has rows without what an older release did not write, and damaged ones: what
// happened up to then is not known, and what happens after is.
func TestUnknownWakes(t *testing.T) {
	for name, damage := range map[string]string{
		"older": `UPDATE revisions SET woken = NULL; UPDATE checkpoints SET woken = NULL`, "damaged": `UPDATE revisions SET woken = x'0105'; UPDATE checkpoints SET woken = x'07'`,
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			h := open(t, dir, Options{ProfileOf: byDefault(t)})
			upload(t, h, sample(t)...)
			for i := range 3 {
				if _, err := h.Change(t.Context(), "prod", 0, []object.Object{node(t, "n3", 4+i)}, nil); err != nil {
					t.Fatal(err)
				}
			}
			h.end()
			alter(t, dir, damage)
			h = open(t, dir, Options{ProfileOf: byDefault(t)})
			v, err := h.View(t.Context(), "prod", 0)
			if err != nil {
				t.Fatal(err)
			}
			for after, known := range map[int64]bool{1: false, 3: false, 4: true} {
				if w, is := v.Woken("d", "b", after, []string{"NodeResourcesFit"}); is != known || w != nil {
					t.Errorf("after %d: %+v, known %t", after, w, is)
				}
			}
			if v, err = h.Change(t.Context(), "prod", 0, []object.Object{node(t, "n4", 4)}, nil); err != nil {
				t.Fatal(err)
			}
			if w, known := v.Woken("d", "b", 4, []string{"NodeResourcesFit"}); !known || w == nil || w.Revision != 5 {
				t.Errorf("%+v, known %t", w, known)
			}
			if _, known := v.Woken("d", "b", 3, []string{"NodeResourcesFit"}); known {
				t.Error("what happened before is known")
			}
		})
	}
}

// alter runs SQL on an embedded store that is closed.
func alter(t *testing.T, dir, query string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, sqlite.FileName))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if _, err := db.ExecContext(t.Context(), query); err != nil {
		t.Fatal(err)
	}
}

// TestRowsOfWakesAreSmall: pods end one after the other beside a thousand that wait, each of them
// wakes all, and a row does not name them again; a revision that wakes none costs a few bytes.
func TestRowsOfWakesAreSmall(t *testing.T) {
	h := open(t, t.TempDir(), Options{ProfileOf: byDefault(t)})
	list := []object.Object{node(t, "n1", 4)}
	for i := range 1000 {
		list = append(list, pod(t, fmt.Sprintf("web-%04d-x", i), ""))
	}
	upload(t, h, list...)
	var sizes []int
	for i := range 6 {
		apply := []object.Object{node(t, "n1", 5+i)}
		if i == 4 {
			apply = append(apply, pod(t, "web-0500-x", "n1")) // it waits no longer
		}
		if i == 5 {
			apply = []object.Object{pod(t, "quiet", "n1")}
		}
		if _, err := h.Change(t.Context(), "prod", 0, apply, nil); err != nil {
			t.Fatal(err)
		}
		r, err := h.st.Revision(t.Context(), "prod", int64(2+i))
		if err != nil {
			t.Fatal(err)
		}
		sizes = append(sizes, len(r.Woken))
	}
	if sizes[0] > 12_000 || slices.Max(sizes[1:5]) > 200 || sizes[5] > 4 {
		t.Errorf("rows of %v bytes", sizes)
	}
}

// FuzzWoken reads rows and checkpoints that are damaged.
func FuzzWoken(f *testing.F) {
	w := (&woken{}).after(&wakes{groups: []wakeGroup{{&state.Wake{Revision: 3, Plugin: "NodeResourcesFit", Event: "NodeAdd", Object: object.Key{Kind: "Node", Name: "n"}}, []podName{{"d", "a"}, {"d", "ab"}}}}})
	f.Add(w.encode())
	f.Add((&wakes{gone: []podName{{"d", "a"}}}).encode(w))
	f.Fuzz(func(t *testing.T, b []byte) {
		next := w.follow(&store.Revision{Number: 9, Woken: b})
		if next.since == 9 {
			return
		}
		read, err := decodeWoken(next.encode())
		if err != nil || wakesOf(&View{woken: read}) != wakesOf(&View{woken: next}) {
			t.Errorf("%x: %v", b, err)
		}
	})
}

// BenchmarkBindBesideWaiting binds pods beside a thousand that wait, with and without what woke
// them.
func BenchmarkBindBesideWaiting(b *testing.B) {
	for name, o := range map[string]Options{"unknown": {}, "known": {ProfileOf: byDefault(b)}} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			h := open(b, b.TempDir(), o)
			list := []object.Object{node(b, "n1", 4)}
			for i := range 1000 {
				list = append(list, decoded(b, fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"web-%04d-x","namespace":"d","labels":{"app":"w%d"}},
					"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"9"}}}]}}`, i, i%20)))
			}
			upload(b, h, list...)
			for i := 0; b.Loop(); i++ {
				p := pod(b, fmt.Sprint("bound-", i), "").Value.(*corev1.Pod)
				_, _, err := h.Update(b.Context(), "prod", 0, func(*View) (*Step, error) {
					return &Step{Bind: &Bind{Pod: p, Node: "n1"}}, nil
				})
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
