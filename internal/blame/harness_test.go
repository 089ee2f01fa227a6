package blame

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"berth/internal/config"
	"berth/internal/kube/object"
	"berth/internal/revision"
	"berth/internal/semantics"
	"berth/internal/store"
	"berth/internal/store/groupcommit"
	"berth/internal/store/sqlite"
)

// history is a cluster prod whose clock goes on by a second a revision.
type history struct {
	testing.TB
	m   *revision.Manager
	now time.Time
}

func begin(t testing.TB) *history {
	t.Helper()
	st, err := sqlite.Open(t.Context(), t.TempDir(), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	h := &history{TB: t, now: time.Date(2026, 1, 2, 9, 0, 0, 0, time.UTC)}
	g := groupcommit.NewGroup(st, groupcommit.Options{CallersWrite: true})
	h.m, err = revision.Open(t.Context(), st, g, revision.Options{Clock: func() time.Time { h.now = h.now.Add(time.Second); return h.now }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, err := range []error{h.m.Close(), g.Close(context.Background()), st.Close()} {
			if err != nil {
				t.Error(err)
			}
		}
	})
	return h
}

// by is the context of a caller.
func (h *history) by(caller string) context.Context {
	return store.WithAsked(h.Context(), store.Asked{By: caller})
}

func (h *history) objects(list ...string) []object.Object {
	h.Helper()
	out := make([]object.Object, len(list))
	for i, js := range list {
		var err error
		if out[i], err = object.Decode([]byte(js), object.Limits{}); err != nil {
			h.Fatalf("%v: %s", err, js)
		}
	}
	return out
}

func (h *history) upload(caller string, list ...string) {
	h.Helper()
	_, _, err := h.m.Upload(h.by(caller), "prod", func(yield func(object.Object) error) (map[string]int, error) {
		for _, o := range h.objects(list...) {
			if err := yield(o); err != nil {
				return nil, err
			}
		}
		return nil, nil
	})
	if err != nil {
		h.Fatal(err)
	}
}

func (h *history) apply(caller string, list ...string) {
	h.Helper()
	if _, err := h.m.Change(h.by(caller), "prod", 0, h.objects(list...), nil); err != nil {
		h.Fatal(err)
	}
}

// remove deletes objects, each as kind/namespace/name.
func (h *history) remove(caller string, keys ...string) {
	h.Helper()
	var del []object.Key
	for _, k := range keys {
		p := strings.Split(k, "/")
		del = append(del, object.Key{Kind: p[0], Namespace: p[1], Name: p[2]})
	}
	if _, err := h.m.Change(h.by(caller), "prod", 0, nil, del); err != nil {
		h.Fatal(err)
	}
}

func (h *history) bind(caller, name, node string) {
	h.Helper()
	_, _, err := h.m.Update(h.by(caller), "prod", 0, func(v *revision.View) (*revision.Step, error) {
		ns, name, _ := strings.Cut(name, "/")
		p, err := v.Pod(ns, name)
		return &revision.Step{Bind: &revision.Bind{Pod: p, Node: node}}, err
	})
	if err != nil {
		h.Fatal(err)
	}
}

// ask walks the history for a pod of namespace shop.
func (h *history) ask(name string, change func(*Ask)) *Blame {
	h.Helper()
	out, err := h.try(name, change)
	if err != nil {
		h.Fatal(err)
	}
	return out
}

func (h *history) try(name string, change func(*Ask)) (*Blame, error) {
	a := ask()
	a.Name = name
	if change != nil {
		change(&a)
	}
	return Of(h.Context(), h.m, a)
}

func ask() Ask {
	return Ask{Cluster: "prod", Namespace: "shop", Name: "web", Profiles: config.Default(semantics.Default())}
}

func headOf(revision int64) *store.Revision {
	return &store.Revision{Cluster: "prod", Number: revision}
}

// messages are those of all turns, the newest first.
func (b *Blame) messages() string {
	var out []string
	for i := range b.Turns {
		out = append(out, b.Turns[i].Message)
	}
	return strings.Join(out, "\n")
}

// The objects of the histories.

func node(name, cpu, more string) string {
	return fmt.Sprintf(`{"kind":"Node","apiVersion":"v1","metadata":{"name":%q,"labels":{"kubernetes.io/hostname":%q}},"spec":{%s},"status":{"allocatable":{"cpu":%q,"memory":"64Gi","pods":"110"}}}`, name, name, more, cpu)
}

func pod(name, cpu, more string) string {
	ns := "shop"
	if i := strings.IndexByte(name, '/'); i >= 0 {
		ns, name = name[:i], name[i+1:]
	}
	return fmt.Sprintf(`{"kind":"Pod","apiVersion":"v1","metadata":{"name":%q,"namespace":%q,"uid":"uid-%s","labels":{"app":%q}},"spec":{"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":%q}}}]%s}}`, name, ns, name, name, cpu, more)
}
