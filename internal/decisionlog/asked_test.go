package decisionlog

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/cluster"
	"berth/internal/engine"
	"berth/internal/objects"
	"berth/internal/store"
)

// asking is a house in which a bind needs a decision, and what answers /filter.
func asking(t testing.TB, r *registry) (h *house, filter func(l *Log, q Question)) {
	t.Helper()
	h = open(t, t.TempDir())
	h.o.Binder = func(string) Binder { return r }
	h.o.BindProfiles = h.profiles
	upload(t, h, sample(t)...)
	return h, func(l *Log, q Question) {
		t.Helper()
		if q.Verb == "" {
			q.Verb = VerbFilter
		}
		q.Cluster, q.NoPreemption = "default", true
		if _, err := l.Judge(t.Context(), q, func(*cluster.View, *engine.Result) error { return nil }); err != nil {
			t.Fatal(err)
		}
	}
}

func refusedWith(t *testing.T, err error, want string) {
	t.Helper()
	var refused *BindError
	if !errors.As(err, &refused) || !strings.Contains(refused.Reason, want) {
		t.Errorf("got %v, want a refusal with %q", err, want)
	}
}

// TestBindNeedsADecision: a node that no answer let the pod pass to is refused and
// the apiserver is not asked, by the server that answered and by another one.
func TestBindNeedsADecision(t *testing.T) {
	for _, elsewhere := range []bool{false, true} {
		r := &registry{}
		h, filter := asking(t, r)
		answering := h.Log
		if elsewhere {
			answering = New(h.m, h.st, h.profiles, h.o)
		}
		bind := func(uid, node string) error {
			_, err := h.Bind(t.Context(), "default", "d", "free", uid, node)
			return err
		}
		free := pod(t, "free", "")
		refusedWith(t, bind("uid-free", "n2"), "no decision on record for its UID uid-free let node n2 pass")

		filter(answering, Question{Pod: free, Mode: ModeShadow})
		refusedWith(t, bind("uid-free", "n2"), "no decision on record")
		if _, err := answering.Decide(t.Context(), Question{Cluster: "default", Pod: free, DryRun: true}); err != nil {
			t.Fatal(err)
		}
		refusedWith(t, bind("uid-free", "n2"), "no decision on record")
		before := free.DeepCopy() // the pod that had the name
		before.UID = "uid-before"
		filter(answering, Question{Pod: before})
		refusedWith(t, bind("uid-free", "n2"), "no decision on record")

		filter(answering, Question{Pod: free, NodeNames: []string{"n1", "n3"}})
		refusedWith(t, bind("uid-free", "n2"), "which decision")
		big := free.DeepCopy()
		big.Spec.NodeSelector = map[string]string{"kubernetes.io/hostname": "n1"}
		filter(answering, Question{Pod: big})
		refusedWith(t, bind("", "n2"), "which decision")
		if len(r.asked) != 0 || nodeOf(t, h, "free") != "" {
			t.Errorf("the apiserver was asked %q", r.asked)
		}

		filter(answering, Question{Pod: free})
		filter(answering, Question{Pod: free, Verb: VerbPrioritize, NodeNames: []string{"n1"}}) // which forbids nothing
		if err := bind("uid-free", "n2"); err != nil {
			t.Error(err)
		}
		if err := bind("uid-free", "n2"); err != nil {
			t.Errorf("again: %v", err)
		}
		if want := "d/free uid-free n2"; len(r.asked) != 2 || r.asked[0] != want {
			t.Errorf("the apiserver was asked %q", r.asked)
		}
	}
}

// TestBindAfterOtherVerbs: any answer that let the node pass will do.
func TestBindAfterOtherVerbs(t *testing.T) {
	for _, verb := range []string{VerbPrioritize, VerbDecide} {
		for _, elsewhere := range []bool{false, true} {
			h, filter := asking(t, &registry{})
			answering := h.Log
			if elsewhere {
				answering = New(h.m, h.st, h.profiles, h.o)
			}
			if verb == VerbDecide {
				if _, err := answering.Decide(t.Context(), Question{Cluster: "default", Pod: pod(t, "free", "")}); err != nil {
					t.Fatal(err)
				}
			} else {
				filter(answering, Question{Verb: verb, Pod: pod(t, "free", "")})
			}
			if _, err := h.Bind(t.Context(), "default", "d", "free", "uid-free", "n1"); err != nil {
				t.Errorf("after %s, elsewhere %v: %v", verb, elsewhere, err)
			}
		}
	}
}

// TestBindOfAnotherScheduler: a pod that asks for a scheduler which the server
// does not serve is not for it to bind, decision or none, and is not held back.
func TestBindOfAnotherScheduler(t *testing.T) {
	r := &registry{}
	h, filter := asking(t, r)
	h.o.Hold = func(_ context.Context, _ string, _ func() *corev1.Pod, try func(bool) (bool, error)) error {
		refuses, err := try(false)
		if refuses {
			t.Error("the refusal is held back")
		}
		return err
	}
	theirs := pod(t, "theirs", `"schedulerName":"somebody-elses-scheduler",`)
	if _, err := h.m.Change(t.Context(), "default", 0, []objects.Object{held(t, theirs)}, nil); err != nil {
		t.Fatal(err)
	}
	filter(h.Log, Question{Pod: theirs})
	_, err := h.Bind(t.Context(), "default", "d", "theirs", "uid-theirs", "n2")
	refusedWith(t, err, `is for scheduler "somebody-elses-scheduler", and this server serves ["default-scheduler" "packed"]`)
	if len(r.asked) != 0 || nodeOf(t, h, "theirs") != "" {
		t.Errorf("the apiserver was asked %q", r.asked)
	}
	h.o.BindUnasked = true
	if _, err := h.Bind(t.Context(), "default", "d", "theirs", "uid-theirs", "n2"); err != nil {
		t.Errorf("with --bind-unasked: %v", err)
	}
}

// TestLedgerBindsUnasked: without a Binder the caller names the node.
func TestLedgerBindsUnasked(t *testing.T) {
	h, _ := asking(t, nil)
	h.o.Binder = nil
	if _, err := h.Bind(t.Context(), "default", "d", "free", "uid-free", "n2"); err != nil {
		t.Error(err)
	}
}

// mute is a store whose records cannot be read, as where the database is away
// and answers are spooled.
type mute struct{ store.Store }

func (*mute) ListDecisions(context.Context, store.DecisionFilter) ([]*store.Decision, error) {
	return nil, store.ErrUnavailable
}

// TestBindWithoutTheDatabase: what this server answered itself is enough; of what
// others answered nothing is known, and that is no refusal.
func TestBindWithoutTheDatabase(t *testing.T) {
	h, filter := asking(t, &registry{})
	filter(h.Log, Question{Pod: pod(t, "free", "")})
	h.Log.st = &mute{h.st}
	if _, err := h.Bind(t.Context(), "default", "d", "free", "uid-free", "n2"); err != nil {
		t.Error(err)
	}
	other := New(h.m, &mute{h.st}, h.profiles, h.o)
	_, err := other.Bind(t.Context(), "default", "d", "gated", "uid-gated", "n2")
	var refused *BindError
	if !errors.Is(err, store.ErrUnavailable) || errors.As(err, &refused) {
		t.Errorf("got %v", err)
	}
}

// TestPassedKeepsNoState: the memory of answers holds no set of nodes, and finds
// the decision on record where the set has gone.
func TestPassedKeepsNoState(t *testing.T) {
	h, filter := asking(t, &registry{})
	filter(h.Log, Question{Pod: pod(t, "free", ""), Nodes: []*corev1.Node{node(t, "n2", 16).Value.(*corev1.Node)}})
	h.Log.overlays = overlayCache{}
	for range 3 {
		runtime.GC()
	}
	p, ok := h.passed.get(podUID{"default", "uid-free"})
	if !ok || p.nodes.Value() != nil {
		t.Errorf("noted %v, and the nodes are held", ok)
	}
	if why, err := h.unasked(t.Context(), "default", PodRef{"d", "free", "uid-free"}, "n2"); why != "" || err != nil {
		t.Errorf("%q, %v", why, err)
	}
	if why, err := h.unasked(t.Context(), "default", PodRef{"d", "free", "uid-free"}, "n1"); why == "" || err != nil {
		t.Errorf("%q, %v", why, err)
	}
}

// TestRecentForgetsTheOldest: a pod that was noted is found while fewer than
// maxRecent others are, and no more than two generations are kept.
func TestRecentForgetsTheOldest(t *testing.T) {
	var r recent[int]
	for i := range 3 * maxRecent {
		r.note(podUID{"c", fmt.Sprint(i)}, i)
		if old := max(0, i-maxRecent+1); true {
			if v, ok := r.get(podUID{"c", fmt.Sprint(old)}); !ok || v != old {
				t.Fatalf("after %d, %d is %d, %v", i, old, v, ok)
			}
		}
	}
	if n := len(r.last) + len(r.past); n > 2*maxRecent {
		t.Errorf("%d are kept", n)
	}
	if _, ok := r.get(podUID{"c", "0"}); ok {
		t.Error("the first is kept")
	}
}

// BenchmarkBindAsked is what the check costs a bind over 5,000 nodes: by what the
// server remembers, and by the record of another replica.
func BenchmarkBindAsked(b *testing.B) {
	h := open(b, b.TempDir())
	h.o.Binder = func(string) Binder { return &registry{} }
	thousands(b, h)
	v, err := h.m.Change(b.Context(), "default", 0, []objects.Object{held(b, pod(b, "w", ""))}, nil)
	if err != nil {
		b.Fatal(err)
	}
	if _, err := h.Judge(b.Context(), Question{Verb: VerbFilter, Pod: pod(b, "w", ""), NoPreemption: true}, func(*cluster.View, *engine.Result) error { return nil }); err != nil {
		b.Fatal(err)
	}
	for name, l := range map[string]*Log{"remembered": h.Log, "record": New(h.m, h.st, h.profiles, h.o)} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				t := &attempt{cluster: "default", pod: PodRef{"d", "w", "uid-w"}, node: "node-00007"}
				if err := l.permit(b.Context(), t); err != nil || t.unasked != "" {
					b.Fatal(err, t.unasked)
				}
				if why, err := l.foreign(v, "d", "w"); why != "" || err != nil {
					b.Fatal(why, err)
				}
			}
		})
	}
}
