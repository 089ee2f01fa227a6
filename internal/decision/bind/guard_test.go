package bind_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/decision"
	"berth/internal/decision/bind"
	"berth/internal/engine"
	"berth/internal/kube/object"
	"berth/internal/revision"
	"berth/internal/store"
	"berth/test/logtest"
)

// guarded opens a fixture in which a bind needs a decision, and returns what answers /filter.
func guarded(t testing.TB, r *logtest.APIServer) (h *logtest.Fixture, filter func(l *logtest.Fixture, q decision.Question)) {
	t.Helper()
	h = logtest.Open(t, t.TempDir())
	h.BindOptions.APIServer = func(string) bind.APIServer { return r }
	h.BindOptions.Checked = &decision.Configuration{Profiles: h.Profiles}
	h.Rebuild()
	logtest.Upload(t, h, logtest.Sample(t)...)
	return h, func(l *logtest.Fixture, q decision.Question) {
		t.Helper()
		if q.Verb == "" {
			q.Verb = decision.VerbFilter
		}
		q.Cluster, q.NoPreemption = "default", true
		if _, err := logtest.Record(t.Context(), l, q, func(*revision.View, *engine.Result) error { return nil }); err != nil {
			t.Fatal(err)
		}
	}
}

func refusedWith(t *testing.T, err error, want string) {
	t.Helper()
	var refused *bind.RefusedError
	if !errors.As(err, &refused) || !strings.Contains(refused.Reason, want) {
		t.Errorf("got %v, want a refusal with %q", err, want)
	}
}

// TestBindNeedsADecision: a node that no answer let the pod pass to is refused and
// the apiserver is not asked, by the server that answered and by another one.
func TestBindNeedsADecision(t *testing.T) {
	for _, elsewhere := range []bool{false, true} {
		r := &logtest.APIServer{}
		h, filter := guarded(t, r)
		answering := h
		if elsewhere {
			answering = h.Another(h.Store)
		}
		bind := func(uid, node string) error {
			_, err := h.Bind(t.Context(), "default", "d", "free", uid, node)
			return err
		}
		free := logtest.Pod(t, "free", "")
		refusedWith(t, bind("uid-free", "n2"), "no decision on record for its UID uid-free let node n2 pass")

		filter(answering, decision.Question{Pod: free, Mode: decision.ModeShadow})
		refusedWith(t, bind("uid-free", "n2"), "no decision on record")
		if _, err := answering.Decide(t.Context(), decision.Question{Cluster: "default", Pod: free, DryRun: true}); err != nil {
			t.Fatal(err)
		}
		refusedWith(t, bind("uid-free", "n2"), "no decision on record")
		before := free.DeepCopy() // the pod that had the name
		before.UID = "uid-before"
		filter(answering, decision.Question{Pod: before})
		refusedWith(t, bind("uid-free", "n2"), "no decision on record")

		filter(answering, decision.Question{Pod: free, NodeNames: []string{"n1", "n3"}})
		refusedWith(t, bind("uid-free", "n2"), "which decision")
		big := free.DeepCopy()
		big.Spec.NodeSelector = map[string]string{"kubernetes.io/hostname": "n1"}
		filter(answering, decision.Question{Pod: big})
		refusedWith(t, bind("", "n2"), "which decision")
		if len(r.Calls) != 0 || nodeOf(t, h, "free") != "" {
			t.Errorf("the apiserver was asked %q", r.Calls)
		}

		filter(answering, decision.Question{Pod: free})
		filter(answering, decision.Question{Pod: free, Verb: decision.VerbPrioritize, NodeNames: []string{"n1"}}) // which forbids nothing
		if err := bind("uid-free", "n2"); err != nil {
			t.Error(err)
		}
		if err := bind("uid-free", "n2"); err != nil {
			t.Errorf("again: %v", err)
		}
		if want := "d/free uid-free n2"; len(r.Calls) != 2 || r.Calls[0] != want {
			t.Errorf("the apiserver was asked %q", r.Calls)
		}
	}
}

// TestBindAfterOtherVerbs: any answer that let the node pass will do.
func TestBindAfterOtherVerbs(t *testing.T) {
	for _, verb := range []string{decision.VerbPrioritize, decision.VerbDecide} {
		for _, elsewhere := range []bool{false, true} {
			h, filter := guarded(t, &logtest.APIServer{})
			answering := h
			if elsewhere {
				answering = h.Another(h.Store)
			}
			if verb == decision.VerbDecide {
				if _, err := answering.Decide(t.Context(), decision.Question{Cluster: "default", Pod: logtest.Pod(t, "free", "")}); err != nil {
					t.Fatal(err)
				}
			} else {
				filter(answering, decision.Question{Verb: verb, Pod: logtest.Pod(t, "free", "")})
			}
			if _, err := h.Bind(t.Context(), "default", "d", "free", "uid-free", "n1"); err != nil {
				t.Errorf("after %s, elsewhere %v: %v", verb, elsewhere, err)
			}
		}
	}
}

// TestBindOfAnotherScheduler has a pod of a scheduler that the server does not serve. It is refused
// with a decision and without, and not held back.
func TestBindOfAnotherScheduler(t *testing.T) {
	r := &logtest.APIServer{}
	h, filter := guarded(t, r)
	h.BindOptions.Hold = func(_ context.Context, _ string, _ func() *corev1.Pod, try func(bool) (bool, error)) error {
		refuses, err := try(false)
		if refuses {
			t.Error("the refusal is held back")
		}
		return err
	}
	h.Rebuild()
	theirs := logtest.Pod(t, "theirs", `"schedulerName":"somebody-elses-scheduler",`)
	if _, err := h.Manager.Change(t.Context(), "default", 0, []object.Object{logtest.Held(t, theirs)}, nil); err != nil {
		t.Fatal(err)
	}
	filter(h, decision.Question{Pod: theirs})
	_, err := h.Bind(t.Context(), "default", "d", "theirs", "uid-theirs", "n2")
	refusedWith(t, err, `is for scheduler "somebody-elses-scheduler", and this server serves ["default-scheduler" "packed"]`)
	if len(r.Calls) != 0 || nodeOf(t, h, "theirs") != "" {
		t.Errorf("the apiserver was asked %q", r.Calls)
	}
	h.Unguarded = true
	h.Rebuild()
	if _, err := h.Bind(t.Context(), "default", "d", "theirs", "uid-theirs", "n2"); err != nil {
		t.Errorf("with --bind-unasked: %v", err)
	}
}

// TestLedgerBindsUnguarded: without a Binder the caller names the node.
func TestLedgerBindsUnguarded(t *testing.T) {
	h, _ := guarded(t, nil)
	h.BindOptions.APIServer = nil
	h.Rebuild()
	if _, err := h.Bind(t.Context(), "default", "d", "free", "uid-free", "n2"); err != nil {
		t.Error(err)
	}
}

// mute is a store whose records cannot be read, as where the database is away
// and answers are spooled.
type mute struct {
	store.Store
	away bool
}

func (m *mute) ListDecisions(ctx context.Context, f store.DecisionFilter) ([]*store.Decision, error) {
	if m.away {
		return nil, store.ErrUnavailable
	}
	return m.Store.ListDecisions(ctx, f)
}

// TestBindWithoutTheDatabase: what this server answered itself is enough; of what
// others answered nothing is known, and that is no refusal.
func TestBindWithoutTheDatabase(t *testing.T) {
	h, filter := guarded(t, &logtest.APIServer{})
	st := &mute{Store: h.Store}
	h.Store = st
	h.Rebuild()
	filter(h, decision.Question{Pod: logtest.Pod(t, "free", "")})
	st.away = true
	if _, err := h.Bind(t.Context(), "default", "d", "free", "uid-free", "n2"); err != nil {
		t.Error(err)
	}
	other := h.Another(st)
	_, err := other.Bind(t.Context(), "default", "d", "gated", "uid-gated", "n2")
	var refused *bind.RefusedError
	if !errors.Is(err, store.ErrUnavailable) || errors.As(err, &refused) {
		t.Errorf("got %v", err)
	}
}

// BenchmarkBindGuard is what the check costs a bind over 5,000 nodes: by what the
// server remembers, and by the record of another replica.
func BenchmarkBindGuard(b *testing.B) {
	h := logtest.Open(b, b.TempDir())
	h.BindOptions.APIServer = func(string) bind.APIServer { return &logtest.APIServer{} }
	logtest.Thousands(b, h)
	v, err := h.Manager.Change(b.Context(), "default", 0, []object.Object{logtest.Held(b, logtest.Pod(b, "w", ""))}, nil)
	if err != nil {
		b.Fatal(err)
	}
	if _, err := logtest.Record(b.Context(), h, decision.Question{Verb: decision.VerbFilter, Pod: logtest.Pod(b, "w", ""), NoPreemption: true}, func(*revision.View, *engine.Result) error { return nil }); err != nil {
		b.Fatal(err)
	}
	for name, l := range map[string]*logtest.Fixture{"remembered": h, "record": h.Another(h.Store)} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if why, err := l.Binder.Guard(b.Context(), v, decision.PodRef{Namespace: "d", Name: "w", UID: "uid-w"}, "node-00007"); why != "" || err != nil {
					b.Fatal(why, err)
				}
			}
		})
	}
}
