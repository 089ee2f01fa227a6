package decisionlog

import (
	"context"
	"errors"
	"testing"

	"berth/internal/cluster"
	"berth/internal/engine"
	"berth/internal/objects"
	"berth/internal/store"
)

// TestNewestAgreementCounts: of several servers behind one address any may be
// asked to agree. Whoever is asked for the node next goes by the last answer,
// whatever it knew before.
func TestNewestAgreementCounts(t *testing.T) {
	h := through(t, &registry{})
	if _, err := h.m.Change(t.Context(), "default", 0, []objects.Object{portPod(t, "urgent"), portPod(t, "one"), portPod(t, "two")}, nil); err != nil {
		t.Fatal(err)
	}
	for pod, node := range map[string]string{"one": "n1", "two": "n2"} {
		if _, err := h.Bind(t.Context(), "default", "d", pod, "uid-"+pod, node); err != nil {
			t.Fatal(err)
		}
	}
	other := New(h.m, h.st, h.profiles, h.o) // has no memory of what h says
	agree := func(l *Log, mode, node, victim string) {
		t.Helper()
		v, err := l.m.View(t.Context(), "default", 0)
		if err != nil {
			t.Fatal(err)
		}
		pod, err := v.Pod("d", "urgent")
		if err != nil {
			t.Fatal(err)
		}
		*pod.Spec.Priority = 100
		q := Question{Verb: VerbPreempt, Mode: mode, Cluster: "default", Pod: pod, Victims: []engine.NodeVictims{{Node: node, Victims: []engine.NamedVictim{{UID: victim}}}}}
		if _, err := l.Judge(t.Context(), q, func(*cluster.View, *engine.Result) error { return nil }); err != nil {
			t.Fatal(err)
		}
	}
	leaves := func(l *Log, node string) string {
		t.Helper()
		gone := l.victimsOf(t.Context(), "default", "d", "urgent", "uid-urgent", node)
		if len(gone) != 1 {
			return ""
		}
		return gone[0].UID
	}
	for _, l := range []*Log{h.Log, other} {
		if got := leaves(l, "n1"); got != "" {
			t.Errorf("%s leaves before anybody was asked", got)
		}
	}
	agree(h.Log, "", "n1", "uid-one")
	for _, l := range []*Log{h.Log, other} {
		if got := leaves(l, "n1"); got != "uid-one" {
			t.Errorf("%q leaves n1", got)
		}
	}
	agree(other, "", "n2", "uid-two")
	agree(other, ModeShadow, "n1", "uid-one") // nobody goes for a shadow
	for _, l := range []*Log{h.Log, other} {
		if one, two := leaves(l, "n1"), leaves(l, "n2"); one != "" || two != "uid-two" {
			t.Errorf("%q leaves n1, %q leaves n2: want the last answer alone", one, two)
		}
	}
}

// TestAgreementWithoutRecords: while the records cannot be read, a server goes by
// what it said itself.
func TestAgreementWithoutRecords(t *testing.T) {
	h := through(t, &registry{})
	l := New(h.m, unreadable{h.st}, h.profiles, h.o)
	l.agreed.note(podUID{"default", "uid-urgent"}, agreement{"1", []store.Victim{{Node: "n1", Namespace: "d", Pod: "one", UID: "uid-one"}}})
	if gone := l.victimsOf(t.Context(), "default", "d", "urgent", "uid-urgent", "n1"); len(gone) != 1 {
		t.Errorf("%v leave n1", gone)
	}
	if gone := l.victimsOf(t.Context(), "default", "d", "urgent", "", "n1"); len(gone) != 0 {
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
