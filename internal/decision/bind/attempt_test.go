package bind_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/decision"
	"berth/internal/decision/bind"
	"berth/internal/decision/record"
	"berth/internal/engine"
	"berth/internal/kube/object"
	"berth/internal/revision"
	"berth/internal/store"
	"berth/test/logtest"
)

func nodeOf(t *testing.T, h *logtest.Fixture, name string) string {
	t.Helper()
	v, err := h.Manager.View(t.Context(), "default", 0)
	if err != nil {
		t.Fatal(err)
	}
	p := v.State.Pod("d", name)
	if p == nil {
		t.Fatalf("%s has no pod %s", v.ID(), name)
	}
	return p.NodeName
}

// records lists what is on record about binds, the oldest first, and holds each
// to its own replay.
func records(t *testing.T, h *logtest.Fixture) (out []*record.Row) {
	t.Helper()
	all, err := h.Follow(t.Context(), "default", 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range all {
		again, err := h.Replay(t.Context(), r.ID, record.Overrides{})
		if err != nil || !again.Identical {
			t.Errorf("%s of %s replays otherwise: %+v, %v", r.Verb, r.Pod.Name, again, err)
		}
		got, err := h.Get(t.Context(), r.ID)
		if err != nil || !got.DigestAgrees || got.Outcome != engine.Outcome(r.Outcome) || got.Message != r.Message {
			t.Errorf("%s of %s is given as %+v, %v", r.Verb, r.Pod.Name, got, err)
		}
		if r.StaleMillis == nil || *r.StaleMillis != 70 {
			t.Errorf("%s of %s does not say how stale the state was", r.Verb, r.Pod.Name)
		}
		out = append(out, r)
	}
	return out
}

func TestBindThrough(t *testing.T) {
	r := &logtest.APIServer{}
	h := logtest.Through(t, r)
	r.During = func() {
		if on := nodeOf(t, h, "free"); on != "n2" {
			t.Errorf("while the apiserver is asked the pod is on %q", on)
		}
	}
	out, err := h.Bind(t.Context(), "default", "d", "free", "uid-free", "n2")
	if err != nil || out.AlreadyBound || out.Snapshot != "default@2" {
		t.Fatal(out, err)
	}
	out, err = h.Bind(t.Context(), "default", "d", "free", "uid-free", "n2")
	if err != nil || !out.AlreadyBound {
		t.Fatal(out, err)
	}
	want := []string{"d/free uid-free n2", "d/free uid-free n2"}
	if strings.Join(r.Calls, ", ") != strings.Join(want, ", ") {
		t.Errorf("the apiserver was asked %q, want %q", r.Calls, want)
	}
	got := records(t, h)
	if len(got) != 3 || got[0].Verb != decision.VerbBind || got[0].Node != "n2" || got[0].BoundSnapshot != "default@2" || got[1].Verb != decision.VerbBindResult || got[1].Outcome != "Scheduled" || got[2].Verb != decision.VerbBindResult {
		t.Errorf("records %+v", got)
	}
	_, err = h.Decide(t.Context(), decision.Question{Cluster: "default", PodRef: &object.Key{Namespace: "d", Name: "free"}, Bind: true})
	var refused *decision.Error
	if !errors.As(err, &refused) || refused.Field != "bind" {
		t.Errorf("a decision that binds past the apiserver: %v", err)
	}
}

// TestBindRefused: what the apiserver refuses is pending again.
func TestBindRefused(t *testing.T) {
	r := &logtest.APIServer{Refusal: "pod d/free is being deleted"}
	h := logtest.Through(t, r)
	_, err := h.Bind(t.Context(), "default", "d", "free", "uid-free", "n2")
	var refused *bind.RefusedError
	if !errors.As(err, &refused) || refused.Reason != r.Refusal {
		t.Fatal(err)
	}
	if on := nodeOf(t, h, "free"); on != "" {
		t.Errorf("the pod is on %q", on)
	}
	got := records(t, h)
	if len(got) != 2 || got[1].Outcome != "Unschedulable" || got[1].Message != r.Refusal || got[1].Node != "" {
		t.Errorf("records %+v", got)
	}
	// Another server saw it on another node meanwhile: that stays.
	r.Refusal = "pod d/free is bound to node n1 already"
	r.During = func() {
		_, _, err := h.Manager.Update(t.Context(), "default", 0, func(v *revision.View) (*revision.Step, error) {
			pod, err := v.Pod("d", "free")
			return &revision.Step{Bind: &revision.Bind{Pod: pod, Node: "n1"}}, err
		})
		if err != nil {
			t.Error(err)
		}
	}
	if _, err := h.Bind(t.Context(), "default", "d", "free", "uid-free", "n2"); err == nil {
		t.Fatal("bound to n2")
	}
	if on := nodeOf(t, h, "free"); on != "n1" {
		t.Errorf("the pod is on %q, want n1", on)
	}
}

// TestBindUnknown: a pod about whose bind nothing is known stays where it may
// well be.
func TestBindUnknown(t *testing.T) {
	r := &logtest.APIServer{Err: errors.New("whether it took place is not known")}
	h := logtest.Through(t, r)
	_, err := h.Bind(t.Context(), "default", "d", "free", "uid-free", "n2")
	var refused *bind.RefusedError
	if !errors.As(err, &refused) {
		t.Fatal(err)
	}
	if on := nodeOf(t, h, "free"); on != "n2" {
		t.Errorf("the pod is on %q", on)
	}
	if got := records(t, h); len(got) != 2 || got[1].Outcome != string(record.OutcomeUnknown) {
		t.Errorf("records %+v", got)
	}
}

// TestBindIsJudgedAgain: of two pods that /filter let on one node, because
// neither was bound yet, only the first is bound.
func TestBindIsJudgedAgain(t *testing.T) {
	r := &logtest.APIServer{}
	h := logtest.Through(t, r)
	if _, err := h.Manager.Change(t.Context(), "default", 0, []object.Object{logtest.PortPod(t, "first"), logtest.PortPod(t, "second")}, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Bind(t.Context(), "default", "d", "first", "uid-first", "n1"); err != nil {
		t.Fatal(err)
	}
	_, err := h.Bind(t.Context(), "default", "d", "second", "uid-second", "n1")
	var refused *bind.RefusedError
	if !errors.As(err, &refused) || !strings.Contains(refused.Reason, "NodePorts: node(s) didn't have free ports") {
		t.Fatalf("the second: %v", err)
	}
	if on := nodeOf(t, h, "second"); on != "" || len(r.Calls) != 1 {
		t.Errorf("the second is on %q, and the apiserver was asked %q", on, r.Calls)
	}
	if got := records(t, h); len(got) != 3 || got[2].Verb != decision.VerbBind || got[2].Outcome != "Unschedulable" {
		t.Errorf("records %+v", got)
	}
}

// TestVictimsDoNotCount: kube-scheduler sees the victims go before berth does.
// The preemptor's next /filter finds its node free, and so does its bind; others
// find it taken until berth has seen it too.
func TestVictimsDoNotCount(t *testing.T) {
	for _, elsewhere := range []bool{false, true} {
		r := &logtest.APIServer{}
		h := logtest.Through(t, r)
		victim := logtest.PortPod(t, "victim")
		if _, err := h.Manager.Change(t.Context(), "default", 0, []object.Object{victim, logtest.PortPod(t, "urgent"), logtest.PortPod(t, "other")}, nil); err != nil {
			t.Fatal(err)
		}
		if _, err := h.Bind(t.Context(), "default", "d", "victim", "uid-victim", "n1"); err != nil {
			t.Fatal(err)
		}
		v, err := h.Manager.View(t.Context(), "default", 0)
		if err != nil {
			t.Fatal(err)
		}
		ask := func(verb, name, nominated string, victims []engine.NodeVictims) (feasible int) {
			t.Helper()
			pod, err := v.Pod("d", name)
			if err != nil {
				t.Fatal(err)
			}
			if name == "urgent" {
				*pod.Spec.Priority = 100
			}
			q := decision.Question{Verb: verb, Cluster: "default", Pod: pod, NodeNames: []string{"n1"}, NoPreemption: true, Nominated: nominated, Victims: victims}
			if victims != nil {
				q.NodeNames, q.NoPreemption = nil, false
			}
			if _, err := logtest.Record(t.Context(), h, q, func(_ *revision.View, r *engine.Result) error {
				feasible = r.Feasible.Count()
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			return feasible
		}
		if ask(decision.VerbFilter, "urgent", "", nil) != 0 {
			t.Fatal("the port is free")
		}
		ask(decision.VerbPreempt, "urgent", "", []engine.NodeVictims{{Node: "n1", Victims: []engine.NamedVictim{{UID: "uid-victim"}}}})
		if elsewhere { // another server was asked: this one knows by the records
			h.Rebuild()
		}
		if ask(decision.VerbFilter, "urgent", "n1", nil) != 1 {
			t.Error("the victim counts for its preemptor")
		}
		if ask(decision.VerbFilter, "other", "n1", nil) != 0 || ask(decision.VerbFilter, "urgent", "n2", nil) != 0 {
			t.Error("the victim does not count for others, or elsewhere")
		}
		if _, err := h.Bind(t.Context(), "default", "d", "urgent", "uid-urgent", "n1"); err != nil {
			t.Error(err)
		}
		rows, err := h.List(t.Context(), store.DecisionFilter{Cluster: "default"})
		if err != nil || len(rows) != 9 {
			t.Errorf("%d records, %v", len(rows), err)
		}
		records(t, h)
	}
}

// TestShadowAgreesToNothing: who would have been evicted, was not.
func TestShadowAgreesToNothing(t *testing.T) {
	h := logtest.Through(t, &logtest.APIServer{})
	pod := logtest.PortPod(t, "urgent")
	if _, err := h.Manager.Change(t.Context(), "default", 0, []object.Object{pod}, nil); err != nil {
		t.Fatal(err)
	}
	v, err := h.Manager.View(t.Context(), "default", 0)
	if err != nil {
		t.Fatal(err)
	}
	p, err := v.Pod("d", "urgent")
	if err != nil {
		t.Fatal(err)
	}
	id, err := logtest.Record(t.Context(), h, decision.Question{Verb: decision.VerbPreempt, Mode: decision.ModeShadow, Cluster: "default", Pod: p, Victims: []engine.NodeVictims{{Node: "n1", Victims: []engine.NamedVictim{{UID: "uid-bound"}}}}},
		func(*revision.View, *engine.Result) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	if got, err := h.Get(t.Context(), id); err != nil || got.Mode != decision.ModeShadow {
		t.Errorf("mode %q, %v", got.Mode, err)
	}
	if gone := h.Agreed(t.Context(), "default", decision.PodRef{Namespace: "d", Name: "urgent", UID: "uid-urgent"}, "n1"); len(gone) != 0 {
		t.Errorf("%v would not count", gone)
	}
}

// TestBindDoubtedMeanwhile has an apiserver that takes long and a follower that ends the wait for
// the bind. Then it is done after all: the pod is on its node at once, before the watch event.
func TestBindDoubtedMeanwhile(t *testing.T) {
	r := &logtest.APIServer{}
	h := logtest.Through(t, r)
	r.During = func() {
		if _, err := h.Manager.Change(t.Context(), "default", 0, []object.Object{logtest.Object(t, `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"free","namespace":"d","uid":"uid-free"},"spec":{"containers":[{"name":"c"}]}}`)}, nil); err != nil {
			t.Error(err)
		}
	}
	if _, err := h.Bind(t.Context(), "default", "d", "free", "uid-free", "n2"); err != nil {
		t.Fatal(err)
	}
	if on := nodeOf(t, h, "free"); on != "n2" {
		t.Errorf("the pod is on %q", on)
	}
	records(t, h)
	// Another pod of the name is not concerned.
	r.During = func() {
		if _, err := h.Manager.Change(t.Context(), "default", 0, []object.Object{logtest.PortPod(t, "second")}, nil); err != nil {
			t.Error(err)
		}
	}
	before := logtest.Object(t, `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"second","namespace":"d","uid":"uid-before"},"spec":{"containers":[{"name":"c"}]}}`)
	if _, err := h.Manager.Change(t.Context(), "default", 0, []object.Object{before}, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Bind(t.Context(), "default", "d", "second", "uid-before", "n2"); err != nil {
		t.Fatal(err)
	}
	if on := nodeOf(t, h, "second"); on != "" {
		t.Errorf("the pod that was made again is on %q", on)
	}
}

// TestRefusedBindLeavesNothing: a pod whose bind the apiserver refuses is as
// it was, without the labels and the condition of a pod on a node.
func TestRefusedBindLeavesNothing(t *testing.T) {
	r := &logtest.APIServer{}
	h := logtest.Through(t, r)
	zoned := logtest.Object(t, `{"apiVersion":"v1","kind":"Node","metadata":{"name":"z1","labels":{"topology.kubernetes.io/zone":"a"}},"status":{"allocatable":{"cpu":"4","pods":"10"}}}`)
	waits := logtest.Object(t, `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"waits","namespace":"d","uid":"uid-waits","labels":{"topology.kubernetes.io/zone":"mine"}},
		"spec":{"containers":[{"name":"c","image":"i"}]},"status":{"conditions":[{"type":"PodScheduled","status":"False","reason":"Unschedulable"}]}}`)
	if _, err := h.Manager.Change(t.Context(), "default", 0, []object.Object{zoned, waits}, nil); err != nil {
		t.Fatal(err)
	}
	pod := func() string {
		v, err := h.Manager.View(t.Context(), "default", 0)
		if err != nil {
			t.Fatal(err)
		}
		js, _ := v.Object(logtest.PodKey("d", "waits"))
		return string(js)
	}
	before := pod()
	r.Refusal = "pod d/waits is being deleted"
	r.During = func() {
		if js := pod(); !strings.Contains(js, `"topology.kubernetes.io/zone":"a"`) {
			t.Errorf("on its way to its node: %s", js)
		}
	}
	if _, err := h.Bind(t.Context(), "default", "d", "waits", "uid-waits", "z1"); err == nil {
		t.Fatal("bound")
	}
	if after := pod(); after != before {
		t.Errorf("after the refusal\n%s\nwant\n%s", after, before)
	}
}

// TestBindIsHeld: what stands against a bind as far as is known may be over. Until
// the last word nothing is recorded.
func TestBindIsHeld(t *testing.T) {
	for _, comes := range []bool{true, false} {
		r := &logtest.APIServer{}
		h := logtest.Through(t, r)
		h.BindOptions.Hold = func(_ context.Context, _ string, _ func() *corev1.Pod, try func(bool) (bool, error)) error {
			if refuses, err := try(false); !refuses || err != nil {
				t.Errorf("the first try: %v, %v", refuses, err)
			}
			if comes {
				if _, err := h.Manager.Change(t.Context(), "default", 0, []object.Object{logtest.PortPod(t, "new")}, nil); err != nil {
					t.Fatal(err)
				}
			}
			_, err := try(true)
			return err
		}
		h.Rebuild()
		_, err := h.Bind(t.Context(), "default", "d", "new", "uid-new", "n1")
		var refused *bind.RefusedError
		if comes != (err == nil) || !comes && !errors.As(err, &refused) {
			t.Errorf("comes %v: %v", comes, err)
		}
		if want := map[bool]int{true: 2, false: 0}[comes]; len(records(t, h)) != want {
			t.Errorf("comes %v: other than %d records", comes, want)
		}
	}
}
