package decisionlog

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"

	"berth/internal/cluster"
	"berth/internal/engine"
	"berth/internal/engine/rules"
	"berth/internal/objects"
	"berth/internal/store/commit"
	"berth/internal/store/pgtest"
	"berth/internal/store/sqlite"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(pgtest.Around(m)) }

type house struct {
	*Log
	st *sqlite.Store
	g  *commit.Group
}

func (h *house) end() {
	_ = h.m.Close()
	_ = h.g.Close(context.Background())
	_ = h.st.Close()
}

func profile(t testing.TB, change func(*rules.Spec)) *engine.Profile {
	t.Helper()
	s := rules.DefaultSpec()
	if change != nil {
		change(&s)
	}
	p, err := rules.Build(s)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func open(t testing.TB, dir string) *house {
	t.Helper()
	st, err := sqlite.Open(t.Context(), dir, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	g := commit.NewGroup(st, commit.Options{})
	m, err := cluster.Open(t.Context(), st, g, cluster.Options{})
	if err != nil {
		t.Fatal(err)
	}
	packed := profile(t, func(s *rules.Spec) {
		s.SchedulerName = "packed"
		s.Args.NodeResourcesFit.Strategy = rules.MostAllocated
	})
	h := &house{New(m, st, []*engine.Profile{profile(t, nil), packed}, Options{}), st, g}
	t.Cleanup(h.end)
	return h
}

func object(t testing.TB, js string) objects.Object {
	t.Helper()
	o, err := objects.Decode([]byte(js), objects.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func node(t testing.TB, name string, cpu int) objects.Object {
	return object(t, fmt.Sprintf(`{"apiVersion":"v1","kind":"Node","metadata":{"name":%q,"labels":{"kubernetes.io/hostname":%q,"topology.kubernetes.io/zone":"z%d"}},
		"status":{"allocatable":{"cpu":"%d","memory":"64Gi","pods":"110"}}}`, name, name, int(name[len(name)-1])%3, cpu))
}

func pod(t testing.TB, name, spec string) *corev1.Pod {
	return object(t, fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":%q,"namespace":"d","uid":"uid-%s","labels":{"app":"web"}},
		"spec":{%s"containers":[{"name":"c","resources":{"requests":{"cpu":"1","memory":"1Gi"}}}]}}`, name, name, spec)).Value.(*corev1.Pod)
}

func held(t testing.TB, p *corev1.Pod) objects.Object {
	js, err := objects.Encode(p)
	if err != nil {
		t.Fatal(err)
	}
	return objects.Object{Key: podKey(p.Namespace, p.Name), Value: p, JSON: js}
}

func upload(t testing.TB, h *house, list ...objects.Object) *cluster.View {
	t.Helper()
	v, _, err := h.m.Upload(t.Context(), "default", func(yield func(objects.Object) error) (map[string]int, error) {
		for _, o := range list {
			if err := yield(o); err != nil {
				return nil, err
			}
		}
		return nil, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func sample(t testing.TB) []objects.Object {
	return []objects.Object{
		node(t, "n1", 4), node(t, "n2", 8), node(t, "n3", 2),
		held(t, pod(t, "bound", `"nodeName":"n1",`)), held(t, pod(t, "free", "")), held(t, pod(t, "gated", `"schedulingGates":[{"name":"g"}],`)),
		object(t, `{"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","metadata":{"name":"high"},"value":1000}`),
		object(t, `{"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","metadata":{"name":"usual"},"value":7,"globalDefault":true}`),
	}
}

func text(t testing.TB, v any) string {
	t.Helper()
	js, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(js)
}

func decide(t testing.TB, h *house, q Question) *Answer {
	t.Helper()
	a, err := h.Decide(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	return a
}
