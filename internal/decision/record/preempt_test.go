package record_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"berth/internal/decision"
	"berth/internal/decision/record"
	"berth/internal/engine"
	"berth/internal/engine/preempt"
	"berth/internal/kube/object"
	"berth/internal/revision"
	"berth/internal/store"
	"berth/test/logtest"
)

// crowded is a cluster whose nodes are full of pods that a pod of class high may
// evict.
func crowded(t testing.TB) []object.Object {
	low := logtest.Pod(t, "low", `"nodeName":"n1","priority":1,`)
	mid := logtest.Pod(t, "mid", `"nodeName":"n2","priority":5,"terminationGracePeriodSeconds":45,`)
	return []object.Object{
		logtest.Node(t, "n1", 1), logtest.Node(t, "n2", 1), logtest.Held(t, low), logtest.Held(t, mid), logtest.Held(t, logtest.Pod(t, "urgent", `"priority":1000,`)),
		logtest.Held(t, logtest.Nominated(t, "lesser", 10, "n1")), logtest.Held(t, logtest.Nominated(t, "elsewhere", 10, "n2")),
		logtest.Object(t, `{"apiVersion":"policy/v1","kind":"PodDisruptionBudget","metadata":{"name":"b","namespace":"d"},"spec":{"selector":{"matchLabels":{"app":"web"}}},"status":{"disruptionsAllowed":1}}`),
	}
}

func urgent() *object.Key {
	k := logtest.PodKey("d", "urgent")
	return &k
}

func TestPreemptionIsRecordedAndReplayed(t *testing.T) {
	h := logtest.Open(t, t.TempDir())
	logtest.Upload(t, h, crowded(t)...)
	a := logtest.Decide(t, h, decision.Question{PodRef: urgent()})
	if a.Outcome != engine.Preempting || a.NominatedNode != "n1" || a.Node != "" || a.Preemption == nil || a.Preemption.Node != "n1" {
		t.Fatalf("%s", logtest.Text(t, a))
	}
	d, err := h.Store.Decision(t.Context(), a.ID)
	if err != nil {
		t.Fatal(err)
	}
	if d.Outcome != "Preempting" || d.NominatedNode != "n1" || d.BoundRevision != 0 {
		t.Errorf("%+v", d)
	}
	none := ""
	want := []store.Victim{{
		Namespace: "d", Pod: "low", UID: "uid-low", Priority: 1, Node: "n1", Budget: &none,
	}}
	if diff := cmp.Diff(want, d.Victims); diff != "" {
		t.Error(diff)
	}
	r, err := h.Replay(t.Context(), a.ID, record.Overrides{})
	if err != nil || !r.Identical {
		t.Fatalf("%v %s", err, logtest.Text(t, r))
	}
	got, err := h.Get(t.Context(), a.ID)
	if err != nil || !got.DigestAgrees || got.NominatedNode != "n1" || len(got.Preemption.Victims) != 1 {
		t.Fatalf("%v %s", err, logtest.Text(t, got))
	}
	// Without a pod on another node the choice is another: the replay names the paths.
	logtest.Upload(t, h, append(crowded(t)[:2], crowded(t)[3:]...)...)
	r, err = h.Replay(t.Context(), a.ID, record.Overrides{Snapshot: "default@latest"})
	if err != nil || r.Identical {
		t.Fatalf("%v %s", err, logtest.Text(t, r))
	}
}

// TestVictimsOwnerAndBudget: the record of a nomination has the top owner of each victim, and the
// budgets that forbid its eviction.
func TestVictimsOwnerAndBudget(t *testing.T) {
	h := logtest.Open(t, t.TempDir())
	const controlled = `"ownerReferences":[{"apiVersion":"apps/v1","kind":%q,"name":%q,"uid":%q,"controller":true}]`
	logtest.Upload(t, h, logtest.Node(t, "n1", 1), logtest.Held(t, logtest.Pod(t, "urgent", `"priority":1000,`)),
		logtest.Object(t, `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"web-1","namespace":"d","uid":"u1","labels":{"app":"shop"},`+
			fmt.Sprintf(controlled, "ReplicaSet", "web-abc", "rs1")+`},"spec":{"nodeName":"n1","priority":1,
"containers":[{"name":"c","resources":{"requests":{"cpu":"1"}}}]}}`),
		logtest.Object(t, `{"apiVersion":"apps/v1","kind":"ReplicaSet","metadata":{"name":"web-abc","namespace":"d","uid":"rs1",`+
			fmt.Sprintf(controlled, "Deployment", "web", "dep1")+`},"spec":{"replicas":1,"selector":{"matchLabels":{"app":"shop"}},
"template":{"metadata":{"labels":{"app":"shop"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}`),
		logtest.Object(t, `{"apiVersion":"policy/v1","kind":"PodDisruptionBudget","metadata":{"name":"b","namespace":"d"},
"spec":{"selector":{"matchLabels":{"app":"shop"}}},"status":{"disruptionsAllowed":0}}`))
	a := logtest.Decide(t, h, decision.Question{PodRef: urgent()})
	d, err := h.Store.Decision(t.Context(), a.ID)
	if err != nil {
		t.Fatal(err)
	}
	budget := "b"
	want := []store.Victim{{
		Namespace: "d", Pod: "web-1", UID: "u1", Priority: 1, Node: "n1",
		Budget: &budget, OwnerKind: "Deployment", OwnerName: "web",
	}}
	if diff := cmp.Diff(want, d.Victims); diff != "" {
		t.Errorf("%s\n%s", diff, logtest.Text(t, a))
	}
}

// TestNowIsPartOfTheQuestion has pods that have not started: they count as
// started at the time of the decision, which the record keeps.
func TestNowIsPartOfTheQuestion(t *testing.T) {
	h := logtest.Open(t, t.TempDir())
	logtest.Upload(t, h, crowded(t)...)
	at := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	a := logtest.Decide(t, h, decision.Question{PodRef: urgent(), Now: at})
	d, err := h.Store.Decision(t.Context(), a.ID)
	if err != nil || !d.Now.Equal(at) {
		t.Fatalf("%v %v", err, d.Now)
	}
	if r, err := h.Replay(t.Context(), a.ID, record.Overrides{}); err != nil || !r.Identical {
		t.Fatalf("%v %s", err, logtest.Text(t, r))
	}
}

func TestNominationsAreWrittenAndHonoured(t *testing.T) {
	h := logtest.Open(t, t.TempDir())
	logtest.Upload(t, h, crowded(t)...)
	a := logtest.Decide(t, h, decision.Question{PodRef: urgent(), Bind: true})
	if a.Outcome != engine.Preempting || a.NominatedSnapshot != "default@2" || a.BoundSnapshot != "" {
		t.Fatalf("%s", logtest.Text(t, a))
	}
	if c := a.Preemption.ClearedNominations; len(c) != 1 || c[0].Name != "lesser" {
		t.Errorf("cleared %+v", c)
	}
	v, err := h.Manager.View(t.Context(), "default", 2)
	if err != nil {
		t.Fatal(err)
	}
	waits := func(name string) string { return v.State.Pod("d", name).Nominated }
	if waits("urgent") != "n1" || waits("lesser") != "" || waits("elsewhere") != "n2" {
		t.Errorf("urgent waits for %q, lesser for %q, elsewhere for %q", waits("urgent"), waits("lesser"), waits("elsewhere"))
	}
	if v.State.Pod("d", "low") == nil {
		t.Error("the victim was deleted")
	}
	// The same again is no change: the victims are still there, and so is the
	// nomination.
	again := logtest.Decide(t, h, decision.Question{PodRef: urgent(), Bind: true})
	if again.Outcome != engine.Preempting || again.NominatedNode != "n1" || again.NominatedSnapshot != "" {
		t.Fatalf("%s", logtest.Text(t, again))
	}
	// Lower ones count it in from now on.
	if low := logtest.Decide(t, h, decision.Question{Pod: logtest.Pod(t, "late", `"priority":3,`)}); low.Outcome == engine.Scheduled || low.NominatedNode == "n1" {
		t.Errorf("%s", logtest.Text(t, low))
	}
	// The platform evicts the victim; the pod takes its node unscored.
	if _, err := h.Manager.Change(t.Context(), "default", 0, nil, []object.Key{logtest.PodKey("d", "low")}); err != nil {
		t.Fatal(err)
	}
	b := logtest.Decide(t, h, decision.Question{PodRef: urgent(), Bind: true})
	if b.Outcome != engine.Scheduled || b.Node != "n1" || b.BoundSnapshot != "default@4" || b.NodesOmitted != 1 {
		t.Fatalf("%s", logtest.Text(t, b))
	}
	for _, id := range []string{a.ID, again.ID, b.ID} {
		if r, err := h.Replay(t.Context(), id, record.Overrides{}); err != nil || !r.Identical {
			t.Errorf("%v %s", err, logtest.Text(t, r))
		}
	}
}

func TestAHigherPodTakesANominatedNode(t *testing.T) {
	h := logtest.Open(t, t.TempDir())
	logtest.Upload(t, h, logtest.Node(t, "n1", 1), logtest.Held(t, logtest.Nominated(t, "waiting", 10, "n1")))
	if a := logtest.Decide(t, h, decision.Question{Pod: logtest.Pod(t, "same", `"priority":10,`), Bind: true}); a.Outcome != engine.UnschedulableOK {
		t.Fatalf("%s", logtest.Text(t, a))
	}
	a := logtest.Decide(t, h, decision.Question{Pod: logtest.Pod(t, "higher", `"priority":11,`), Bind: true})
	if a.Outcome != engine.Scheduled || a.Node != "n1" {
		t.Fatalf("%s", logtest.Text(t, a))
	}
}

func TestJudgedVictimsAreReplayed(t *testing.T) {
	h := logtest.Open(t, t.TempDir())
	logtest.Upload(t, h, crowded(t)...)
	for name, list := range map[string][]engine.NodeVictims{
		"none": {},
		"some": {{Node: "n1", Victims: []engine.NamedVictim{{UID: "uid-low"}}}, {Node: "n2", Victims: []engine.NamedVictim{}}, {Node: "n9", Victims: []engine.NamedVictim{{UID: "x"}}}},
	} {
		var got []engine.PreemptionCandidate
		id, err := logtest.Record(t.Context(), h, decision.Question{Verb: decision.VerbPreempt, Pod: logtest.Pod(t, "urgent", `"priority":1000,`), Victims: list}, func(_ *revision.View, r *engine.Result) error {
			got = preempt.Named(r)
			return nil
		})
		if err != nil || len(got) != len(list) {
			t.Fatalf("%s: %v %s", name, err, logtest.Text(t, got))
		}
		d, err := h.Store.Decision(t.Context(), id)
		if err != nil || d.Verb != "preempt" || len(d.Victims) != len(list) || d.NominatedNode != "" {
			t.Errorf("%s: %v %+v", name, err, d)
		}
		if r, err := h.Replay(t.Context(), id, record.Overrides{}); err != nil || !r.Identical || r.Decision.Verb != "preempt" {
			t.Errorf("%s: %v %s", name, err, logtest.Text(t, r))
		}
	}
}
