package bind_test

import (
	"context"
	"errors"
	"testing"

	"berth/internal/decision"
	"berth/internal/decision/bind"
	"berth/internal/decision/record"
	"berth/internal/engine"
	"berth/internal/kube/object"
	"berth/internal/revision"
	"berth/internal/store"
	"berth/internal/store/groupcommit"
	"berth/internal/store/postgres"
	"berth/test/logtest"
	"berth/test/pgtest"
)

// onShared opens a log with a pool of its own over a database.
func onShared(t *testing.T, url string) *logtest.Fixture {
	t.Helper()
	st, err := postgres.Open(t.Context(), url, postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	g := groupcommit.NewGroup(st, groupcommit.Options{})
	m, err := revision.Open(t.Context(), st, g, revision.Options{}) // no polling: what is known stays old
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = m.Close()
		_ = g.Close(context.Background())
		_ = st.Close()
	})
	return logtest.New(m, st, []*engine.Profile{logtest.Profile(t, nil)}, record.Options{})
}

// TestBindIsIdempotentAcrossReplicas: kube-scheduler may ask another replica
// when the first one's answer was lost. The same pod to the same node is a
// success there, to another node it is not, and there is one record of it.
func TestBindIsIdempotentAcrossReplicas(t *testing.T) {
	url := pgtest.URL(t)
	if err := postgres.MigrateUp(t.Context(), url, postgres.MigrateOptions{}); err != nil {
		t.Fatal(err)
	}
	a, b := onShared(t, url), onShared(t, url)
	_, _, err := a.Manager.Upload(t.Context(), "default", func(yield func(object.Object) error) (map[string]int, error) {
		for _, o := range logtest.Sample(t) {
			if err := yield(o); err != nil {
				return nil, err
			}
		}
		return nil, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Manager.View(t.Context(), "default", 0); err != nil { // b knows the pod as free
		t.Fatal(err)
	}
	first, err := a.Bind(t.Context(), "default", "d", "free", "uid-free", "n2")
	if err != nil || first.AlreadyBound {
		t.Fatal(first, err)
	}
	again, err := b.Bind(t.Context(), "default", "d", "free", "uid-free", "n2")
	if err != nil || !again.AlreadyBound || again.Snapshot != first.Snapshot {
		t.Fatalf("the same bind through another replica: %+v, %v", again, err)
	}
	var refused *bind.RefusedError
	if _, err := b.Bind(t.Context(), "default", "d", "free", "uid-free", "n1"); !errors.As(err, &refused) {
		t.Fatalf("to another node: %v", err)
	}
	if _, err := b.Bind(t.Context(), "default", "d", "free", "uid-other", "n2"); !errors.As(err, &refused) {
		t.Fatalf("another pod of that name: %v", err)
	}
	rows, err := b.List(t.Context(), store.DecisionFilter{Cluster: "default", Verb: decision.VerbBind})
	if err != nil || len(rows) != 1 {
		t.Fatalf("%d records of one bind, %v", len(rows), err)
	}
}
