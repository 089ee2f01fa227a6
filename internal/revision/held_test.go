package revision

import (
	"context"
	"errors"
	"testing"
	"time"

	"berth/internal/engine"
	"berth/internal/kube/object"
	"berth/internal/store"
)

// heldFor holds a pod on a node.
func heldFor(t *testing.T, h *fixture, id, name string, d time.Duration) *Hold {
	t.Helper()
	hold := &Hold{ID: id, For: d}
	if _, _, err := h.Update(t.Context(), "prod", 0, func(v *View) (*Step, error) {
		step := holdOfPod(v, id, pod(t, name, "n1"))
		step.Hold = hold
		return step, nil
	}); err != nil {
		t.Fatal(err)
	}
	return hold
}

// holdOfPod is the step that holds a pod on n1 for an hour.
func holdOfPod(v *View, id string, pod object.Object) *Step {
	return &Step{
		Apply: []object.Object{pod}, Hold: &Hold{ID: id, For: time.Hour},
		Placed: []*store.Decision{{
			ID: "d-" + id, Cluster: "prod", Revision: v.Revision, Namespace: "d", Pod: pod.Name, Node: "n1", Outcome: string(engine.Scheduled),
			CreatedAt: v.CreatedAt, Now: v.CreatedAt,
		}},
	}
}

// TestHoldsOfSeveralLengths: each goes at its time, whatever the order in which they were made and
// which of them ended before.
func TestHoldsOfSeveralLengths(t *testing.T) {
	now := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	h := open(t, t.TempDir(), Options{Clock: func() time.Time { return now }})
	upload(t, h, node(t, "n1", 64))
	for id, d := range map[string]time.Duration{"a": 10, "b": 20, "c": 30, "d": 40} {
		if hold := heldFor(t, h, id, id, d*time.Second); !hold.Expires.Equal(now.Add(d * time.Second)) {
			t.Errorf("%s expires at %s", id, hold.Expires)
		}
	}
	want := func(sum *HoldSum, names ...string) {
		t.Helper()
		v, err := h.View(t.Context(), "prod", 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := v.Summary.Holds; (got == nil) != (sum == nil) || got != nil && (got.Held != sum.Held || !got.Until.Equal(sum.Until)) {
			t.Errorf("%s has %+v, want %+v", v.ID(), got, sum)
		}
		for _, name := range names {
			if v.State.Pod("d", name) == nil {
				t.Errorf("%s has no pod %s", v.ID(), name)
			}
		}
		if v.State.PodCount() != len(names) {
			t.Errorf("%s has %d pods, want %v", v.ID(), v.State.PodCount(), names)
		}
	}
	began := now
	at := func(d time.Duration) time.Time { return began.Add(d * time.Second) }
	want(&HoldSum{4, at(10)}, "a", "b", "c", "d")
	now = at(10)
	want(&HoldSum{3, at(20)}, "b", "c", "d")
	if _, err := h.EndHold(t.Context(), "b", true); err != nil {
		t.Fatal(err)
	}
	want(&HoldSum{2, at(30)}, "b", "c", "d")
	now = at(40)
	want(nil, "b")
	for id, state := range map[string]string{"a": "expired", "b": "committed", "c": "expired", "d": "expired"} {
		if x, err := h.Hold(t.Context(), id); err != nil || x.State != state {
			t.Errorf("%s: %+v, %v", id, x, err)
		}
	}
}

// TestHoldsWithoutSummary: a server of a release without holds has written a revision since. The
// holds end all the same, though no call sees that their time is over.
func TestHoldsWithoutSummary(t *testing.T) {
	now := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	h := open(t, t.TempDir(), Options{Clock: func() time.Time { return now }})
	upload(t, h, node(t, "n1", 64))
	heldFor(t, h, "a", "a", time.Second)
	heldFor(t, h, "b", "b", time.Second)
	heldFor(t, h, "c", "c", time.Minute)
	head, err := h.View(t.Context(), "prod", 0)
	if err != nil {
		t.Fatal(err)
	}
	older := *head.Summary.Holds
	head.Summary.Holds = nil
	v, r, err := h.grow(t.Context(), head, difference{apply: []object.Object{pod(t, "other", "")}, cause: causeChange})
	head.Summary.Holds = &older
	if err != nil || v.Summary.Holds != nil {
		t.Fatal(err)
	}
	if err := h.st.Append(t.Context(), []*store.Entry{{Revision: r}}); err != nil {
		t.Fatal(err)
	}
	other, err := Open(t.Context(), h.st, h.g, Options{Clock: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = other.Close() }()
	now = now.Add(time.Second)
	x, err := other.EndHold(t.Context(), "a", true)
	var ended *HoldEndedError
	if !errors.As(err, &ended) || x != nil || ended.Hold.State != store.HoldExpired {
		t.Errorf("%+v, %v", x, err)
	}
	if err := other.ExpireDue(t.Context()); err != nil {
		t.Fatal(err)
	}
	last, err := other.View(t.Context(), "prod", 0)
	if err != nil || last.State.Pod("d", "a") != nil || last.State.Pod("d", "b") != nil || last.State.Pod("d", "c") == nil || last.State.Pod("d", "other") == nil {
		t.Fatalf("%+v, %v", last, err)
	}
	if sum := last.Summary.Holds; sum == nil || sum.Held != 1 || !sum.Until.Equal(now.Add(59*time.Second)) {
		t.Errorf("%+v", sum)
	}
}

// TestExpiryIsOfNoCall: a call with a key comes upon a hold that is over, and writes nothing
// itself. The revision that ends the hold is no write of the call's, which may be tried again.
func TestExpiryIsOfNoCall(t *testing.T) {
	now := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	h := open(t, t.TempDir(), Options{Clock: func() time.Time { return now }})
	upload(t, h, node(t, "n1", 64))
	heldFor(t, h, "a", "a", 10*time.Second)
	now = now.Add(time.Minute)
	call := store.KeyedCall{Caller: "c", Key: "k", Token: "t", Route: "POST /v1/decisions"}
	if _, err := h.st.BeginCall(t.Context(), &call, time.Hour); err != nil {
		t.Fatal(err)
	}
	keyed := &store.Keyed{KeyedCall: call, Print: func() []byte { return []byte("body") }}
	ctx := context.WithValue(t.Context(), store.KeyedKey{}, keyed)
	v, _, err := h.Update(ctx, "prod", 0, func(*View) (*Step, error) { return nil, nil })
	if err != nil || v.Cause != causeExpired {
		t.Fatalf("the newest revision is %+v, %v", v, err)
	}
	if x, err := h.st.BeginCall(t.Context(), &call, time.Hour); err != nil || x.State != store.CallBegun {
		t.Errorf("the call is %+v, %v", x, err)
	}
}
