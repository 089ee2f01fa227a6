package record_test

import (
	"context"
	"errors"
	"testing"

	"berth/internal/decision"
	"berth/internal/engine"
	"berth/internal/kube/object"
	"berth/internal/revision"
	"berth/internal/store"
	"berth/test/logtest"
)

// TestNewestAgreementCounts has several servers behind one address, of which any may answer
// /preempt. The next call for the node uses the last answer of all of them.
func TestNewestAgreementCounts(t *testing.T) {
	h := logtest.Through(t, &logtest.APIServer{})
	if _, err := h.Manager.Change(t.Context(), "default", 0, []object.Object{logtest.PortPod(t, "urgent"), logtest.PortPod(t, "one"), logtest.PortPod(t, "two")}, nil); err != nil {
		t.Fatal(err)
	}
	for pod, node := range map[string]string{"one": "n1", "two": "n2"} {
		if _, err := h.Bind(t.Context(), "default", "d", pod, "uid-"+pod, node); err != nil {
			t.Fatal(err)
		}
	}
	other := h.Another(h.Store) // has no memory of what h says
	agree := func(l *logtest.Fixture, mode, node, victim string) {
		t.Helper()
		v, err := l.Manager.View(t.Context(), "default", 0)
		if err != nil {
			t.Fatal(err)
		}
		pod, err := v.Pod("d", "urgent")
		if err != nil {
			t.Fatal(err)
		}
		*pod.Spec.Priority = 100
		q := decision.Question{Verb: decision.VerbPreempt, Mode: mode, Cluster: "default", Pod: pod, Victims: []engine.NodeVictims{{Node: node, Victims: []engine.NamedVictim{{UID: victim}}}}}
		if _, err := logtest.Record(t.Context(), l, q, func(*revision.View, *engine.Result) error { return nil }); err != nil {
			t.Fatal(err)
		}
	}
	leaves := func(l *logtest.Fixture, node string) string {
		t.Helper()
		gone := l.Agreed(t.Context(), "default", decision.PodRef{Namespace: "d", Name: "urgent", UID: "uid-urgent"}, node)
		if len(gone) != 1 {
			return ""
		}
		return gone[0].UID
	}
	for _, l := range []*logtest.Fixture{h, other} {
		if got := leaves(l, "n1"); got != "" {
			t.Errorf("%s leaves before anybody was asked", got)
		}
	}
	agree(h, "", "n1", "uid-one")
	for _, l := range []*logtest.Fixture{h, other} {
		if got := leaves(l, "n1"); got != "uid-one" {
			t.Errorf("%q leaves n1", got)
		}
	}
	agree(other, "", "n2", "uid-two")
	agree(other, decision.ModeShadow, "n1", "uid-one") // no pod leaves for a shadow
	for _, l := range []*logtest.Fixture{h, other} {
		if one, two := leaves(l, "n1"), leaves(l, "n2"); one != "" || two != "uid-two" {
			t.Errorf("%q leaves n1, %q leaves n2: want the last answer alone", one, two)
		}
	}
}

// TestAgreementWithoutRecords: while the records cannot be read, a server uses its own
// last answer.
func TestAgreementWithoutRecords(t *testing.T) {
	h := logtest.Through(t, &logtest.APIServer{})
	l := h.Another(unreadable{h.Store})
	if _, err := h.Manager.Change(t.Context(), "default", 0, []object.Object{logtest.PortPod(t, "urgent"), logtest.PortPod(t, "one")}, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Bind(t.Context(), "default", "d", "one", "uid-one", "n1"); err != nil {
		t.Fatal(err)
	}
	urgent, _ := logtest.StoredPod(t, h, "urgent")
	*urgent.Spec.Priority = 100
	q := decision.Question{Verb: decision.VerbPreempt, Pod: urgent, Victims: []engine.NodeVictims{{Node: "n1", Victims: []engine.NamedVictim{{UID: "uid-one"}}}}}
	if _, err := logtest.Record(t.Context(), l, q, func(*revision.View, *engine.Result) error { return nil }); err != nil {
		t.Fatal(err)
	}
	if gone := l.Agreed(t.Context(), "default", decision.PodRef{Namespace: "d", Name: "urgent", UID: "uid-urgent"}, "n1"); len(gone) != 1 {
		t.Errorf("%v leave n1", gone)
	}
	if gone := l.Agreed(t.Context(), "default", decision.PodRef{Namespace: "d", Name: "urgent", UID: ""}, "n1"); len(gone) != 0 {
		t.Errorf("for a pod without a UID %v leave n1", gone)
	}
}

type unreadable struct{ store.Store }

func (unreadable) ListDecisions(ctx context.Context, _ store.DecisionFilter) ([]*store.Decision, error) {
	if _, limited := ctx.Deadline(); !limited {
		return nil, errors.New("nothing bounds the question")
	}
	<-ctx.Done()
	return nil, ctx.Err()
}
