package record_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/decision"
	"berth/internal/kube/object"
	"berth/internal/store"
	"berth/test/logtest"
)

// TestPodFacts: a pod's facts go with the first decision on it, and again after a day, or where the
// store is another one.
func TestPodFacts(t *testing.T) {
	h := logtest.Open(t, t.TempDir())
	now := time.Date(2026, 11, 28, 8, 0, 0, 0, time.UTC)
	h.LogOptions.Clock = func() time.Time { return now }
	h.Rebuild()
	logtest.Upload(t, h, append(logtest.Sample(t),
		logtest.Object(t, `{"apiVersion":"apps/v1","kind":"ReplicaSet","metadata":{"namespace":"d","name":"web-1","uid":"rs",
			"ownerReferences":[{"apiVersion":"apps/v1","kind":"Deployment","name":"web","uid":"dep","controller":true}]},
			"spec":{"selector":{"matchLabels":{"app":"web"}},"template":{"metadata":{"labels":{"app":"web"}}}}}`))...)
	var pod *corev1.Pod
	of := func(js string) { // the pod's controller and labels
		o, err := object.DecodePod([]byte(`{"apiVersion":"v1","kind":"Pod","metadata":{"namespace":"d","name":"web-1-a","uid":"u",`+js+`},
			"spec":{"priorityClassName":"","containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"250m","memory":"64Mi"}}}]}}`), object.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		pod = o
	}
	facts := func() *store.PodFacts {
		t.Helper()
		e, err := h.Evaluate(t.Context(), decision.Question{Verb: decision.VerbFilter, Pod: pod})
		if err != nil {
			t.Fatal(err)
		}
		f, err := e.Record.PodFacts()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := h.Write(t.Context(), e); err != nil {
			t.Fatal(err)
		}
		return f
	}
	of(`"labels":{"app":"asked"}`)
	question, err := h.Evaluate(t.Context(), decision.Question{Pod: pod})
	if err != nil {
		t.Fatal(err)
	}
	if question.Record.Facts != "" {
		t.Errorf("a question has facts: %s", question.Record.Facts)
	}
	question.Release()
	of(`"labels":{"app":"web"},"ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"web-1","uid":"rs","controller":true}]`)
	f := facts()
	if f == nil || f.OwnerKind != "Deployment" || f.OwnerName != "web" || f.CPUMilli != 250 || f.MemoryBytes != 64<<20 ||
		string(f.Requests) != `{"cpu":"250m","memory":"64Mi"}` || string(f.Labels) != `{"app":"web"}` {
		t.Errorf("facts %+v", f)
	}
	if f := facts(); f != nil {
		t.Errorf("written again: %+v", f)
	}
	now = now.Add(store.FactsStay)
	if f := facts(); f == nil {
		t.Errorf("a day later: %+v", f)
	}
	h.Replaced()
	if f := facts(); f == nil {
		t.Error("another store lacks them")
	}
	h.Gone("default")
	if f := facts(); f == nil {
		t.Error("a cluster that was deleted has lost them")
	}
	of(`"ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"gone","uid":"x","controller":true}]`)
	if f := facts(); f == nil || f.OwnerKind != "ReplicaSet" || f.OwnerName != "gone" || string(f.Labels) != "{}" {
		t.Errorf("a ReplicaSet that the state lacks: %+v", f)
	}
}
