package record_test

import (
	"context"
	"errors"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/decision"
	"berth/internal/decision/bind"
	"berth/internal/engine"
	"berth/internal/kube/object"
	"berth/internal/revision"
	"berth/test/logtest"
)

// liveApiserver refuses one pod; the outcome of another is unknown.
type liveApiserver struct{}

func (liveApiserver) Bind(_ context.Context, _, name, _, _ string) (string, error) {
	switch name {
	case "gone":
		return "pod shop/gone is being deleted", nil
	case "lost":
		return "", errors.New("bind pod shop/lost to node web-2: whether it took place is not known: context deadline exceeded")
	}
	return "", nil
}

// fillLive adds the log of a cluster named live, which is followed: a shadow's
// records, binds through its apiserver, and a while without it.
func (c *corpus) fillLive(t testing.TB) {
	t.Helper()
	stale := 40 * time.Millisecond
	c.Unguarded = true // the corpus has binds whose decisions are not in it
	c.BindOptions.APIServer = func(name string) bind.APIServer {
		if name != "live" {
			return nil
		}
		return liveApiserver{}
	}
	c.BindOptions.Checked = &decision.Configuration{Profiles: c.Profiles[:1]}
	c.LogOptions.Stale = func(name string) (time.Duration, bool) { return stale, name == "live" }
	c.Rebuild()
	c.at(t, "12:00:00")
	// Both claim a port that a node has once.
	first, second := shopPod(t, "first", "1", ""), shopPod(t, "second", "1", "")
	for _, p := range []*corev1.Pod{first, second} {
		p.Spec.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: 80, HostPort: 8080, Protocol: corev1.ProtocolTCP}}
	}
	list := []object.Object{machine(t, "web-1", "4", ""), machine(t, "web-2", "8", ""), logtest.Held(t, first), logtest.Held(t, second), logtest.Held(t, shopPod(t, "gone", "1", "")), logtest.Held(t, shopPod(t, "lost", "1", ""))}
	if _, _, err := c.Manager.Upload(t.Context(), "live", func(yield func(object.Object) error) (map[string]int, error) {
		for _, o := range list {
			if err := yield(o); err != nil {
				return nil, err
			}
		}
		return nil, nil
	}); err != nil {
		t.Fatal(err)
	}
	ask := func(clock, mode string, q decision.Question) {
		t.Helper()
		c.at(t, clock)
		q.Cluster, q.Mode, q.Verb, q.NoPreemption = "live", mode, decision.VerbFilter, true
		if _, err := logtest.Record(t.Context(), c, q, func(*revision.View, *engine.Result) error { return nil }); err != nil {
			t.Fatal(err)
		}
	}
	bound := func(clock, name, uid, node string, want bool) {
		t.Helper()
		c.at(t, clock)
		_, err := c.Bind(t.Context(), "live", "shop", name, uid, node)
		if _, refused := errors.AsType[*bind.RefusedError](err); (err == nil) != want || err != nil && !refused {
			t.Fatalf("bind %s: %v", name, err)
		}
	}
	ask("12:01:00", decision.ModeShadow, decision.Question{Pod: shopPod(t, "api", "1", "")})
	ask("12:02:00", decision.ModeShadow, decision.Question{Pod: shopPod(t, "big", "6", "")})
	bound("12:10:00", "first", string(first.UID), "web-1", true)
	bound("12:10:01", "second", string(second.UID), "web-1", false)
	bound("12:11:00", "gone", "", "web-2", false)
	bound("12:12:00", "lost", "", "web-2", false)
	stale = 42 * time.Second
	ask("12:30:00", "", decision.Question{Pod: shopPod(t, "late", "1", "")})
}
