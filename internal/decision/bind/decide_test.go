package bind_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth/internal/decision"
	"berth/internal/decision/record"
	"berth/internal/engine"
	"berth/internal/kube/object"
	"berth/internal/store"
	"berth/test/logtest"
)

func scheduledCondition(p *corev1.Pod) corev1.PodCondition {
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodScheduled {
			return c
		}
	}
	return corev1.PodCondition{}
}

// TestFailedAttemptsAreWritten has a pod whose node another one took: it fits
// nowhere and no pod can be evicted for it
// (pkg/scheduler/framework/preemption/preemption.go Preempt).
func TestFailedAttemptsAreWritten(t *testing.T) {
	h := logtest.Open(t, t.TempDir())
	waiting := logtest.Nominated(t, "waiting", 10, "n1")
	logtest.Upload(t, h, logtest.Node(t, "n1", 1), logtest.Held(t, logtest.Pod(t, "bigger", `"nodeName":"n1","priority":200,`)), logtest.Held(t, waiting))
	k := logtest.PodKey("d", "waiting")
	first := time.Date(2026, 3, 4, 5, 6, 7, 8000, time.UTC)
	a := logtest.Decide(t, h, decision.Question{PodRef: &k, Bind: true, Now: first})
	if a.Outcome != engine.UnschedulableOK || a.PendingSnapshot != "default@2" || a.BoundSnapshot != "" || a.NominatedSnapshot != "" {
		t.Fatalf("%s", logtest.Text(t, a))
	}
	p, revision := logtest.StoredPod(t, h, "waiting")
	want := corev1.PodCondition{
		Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable, Message: a.Message,
		LastTransitionTime: metav1.NewTime(first.Truncate(time.Second)),
	}
	if c := scheduledCondition(p); p.Status.NominatedNodeName != "" || !c.LastTransitionTime.Equal(&want.LastTransitionTime) || c.Message != want.Message || c.Reason != want.Reason || c.Status != want.Status {
		t.Errorf("nominated to %q, %+v", p.Status.NominatedNodeName, c)
	}
	// The same once more is recorded, and makes no revision.
	again := logtest.Decide(t, h, decision.Question{PodRef: &k, Bind: true, Now: first.Add(time.Minute)})
	if _, now := logtest.StoredPod(t, h, "waiting"); again.PendingSnapshot != "" || again.ID == "" || now != revision {
		t.Errorf("revision %d, %s", now, logtest.Text(t, again))
	}
	// Another message is another status; False stays False since then.
	if _, err := h.Manager.Change(t.Context(), "default", 0, []object.Object{logtest.Node(t, "n2", 0)}, nil); err != nil {
		t.Fatal(err)
	}
	third := logtest.Decide(t, h, decision.Question{PodRef: &k, Bind: true, Now: first.Add(time.Hour)})
	p, _ = logtest.StoredPod(t, h, "waiting")
	if c := scheduledCondition(p); third.PendingSnapshot != "default@4" || c.Message != third.Message || !c.LastTransitionTime.Equal(&want.LastTransitionTime) {
		t.Errorf("%+v %s", c, logtest.Text(t, third))
	}
	for _, id := range []string{a.ID, again.ID, third.ID} {
		if r, err := h.Replay(t.Context(), id, record.Overrides{}); err != nil || !r.Identical {
			t.Errorf("%v %s", err, logtest.Text(t, r))
		}
		if got, err := h.Get(t.Context(), id); err != nil || !got.DigestAgrees || got.BoundSnapshot != "" {
			t.Errorf("%v %s", err, logtest.Text(t, got))
		}
	}
	rows, err := h.List(t.Context(), store.DecisionFilter{Cluster: "default", Pod: "waiting"})
	if err != nil || len(rows) != 3 || rows[0].PendingSnap != "default@4" || rows[2].PendingSnap != "default@2" || rows[2].BoundSnapshot != "" {
		t.Errorf("%v %s", err, logtest.Text(t, rows))
	}
}

// TestFailedAttemptsKeepANomination where PostFilter gives no result: the pod is
// not eligible to preempt others
// (plugins/defaultpreemption PodEligibleToPreemptOthers).
func TestFailedAttemptsKeepANomination(t *testing.T) {
	leaving := logtest.Pod(t, "leaving", `"nodeName":"n1","priority":1,`)
	leaving.DeletionTimestamp = &metav1.Time{Time: time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)}
	leaving.Status.Conditions = []corev1.PodCondition{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: corev1.PodReasonPreemptionByScheduler}}
	never := logtest.Nominated(t, "never", 10, "n1")
	policy := corev1.PreemptNever
	never.Spec.PreemptionPolicy = &policy
	for name, c := range map[string]struct {
		on, waits    *corev1.Pod
		noPreemption bool
		want         string
	}{
		"victim on its way":    {leaving, logtest.Nominated(t, "p", 10, "n1"), false, "n1"},
		"policy Never":         {logtest.Pod(t, "low", `"nodeName":"n1","priority":1,`), never, false, "n1"},
		"no candidate":         {logtest.Pod(t, "high", `"nodeName":"n1","priority":99,`), logtest.Nominated(t, "p", 10, "n1"), false, ""},
		"without a PostFilter": {logtest.Pod(t, "low", `"nodeName":"n1","priority":1,`), logtest.Nominated(t, "p", 10, "n1"), true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			h := logtest.Open(t, t.TempDir())
			logtest.Upload(t, h, logtest.Node(t, "n1", 1), logtest.Held(t, c.on), logtest.Held(t, c.waits))
			k := logtest.PodKey("d", c.waits.Name)
			a := logtest.Decide(t, h, decision.Question{PodRef: &k, Bind: true, NoPreemption: c.noPreemption})
			p, _ := logtest.StoredPod(t, h, c.waits.Name)
			if a.Outcome != engine.UnschedulableOK || p.Status.NominatedNodeName != c.want || scheduledCondition(p).Message != a.Message {
				t.Errorf("nominated to %q: %s", p.Status.NominatedNodeName, logtest.Text(t, a))
			}
		})
	}
	t.Run("no nodes", func(t *testing.T) {
		h := logtest.Open(t, t.TempDir())
		logtest.Upload(t, h, logtest.Held(t, logtest.Nominated(t, "p", 10, "n1")))
		k := logtest.PodKey("d", "p")
		logtest.Decide(t, h, decision.Question{PodRef: &k, Bind: true})
		if p, _ := logtest.StoredPod(t, h, "p"); p.Status.NominatedNodeName != "" {
			t.Errorf("nominated to %q", p.Status.NominatedNodeName)
		}
	})
}

// TestPodsGivenWholeStay has pods that the ledger did not have: after an attempt
// that binds nothing they wait in it, as a pod that a scheduler tries does.
func TestPodsGivenWholeStay(t *testing.T) {
	h := logtest.Open(t, t.TempDir())
	logtest.Upload(t, h, logtest.Node(t, "n1", 1), logtest.Held(t, logtest.Pod(t, "high", `"nodeName":"n1","priority":99,`)))
	huge := logtest.Decide(t, h, decision.Question{Pod: logtest.Pod(t, "huge", ""), Bind: true})
	if p, _ := logtest.StoredPod(t, h, "huge"); huge.PendingSnapshot != "default@2" || scheduledCondition(p).Reason != corev1.PodReasonUnschedulable {
		t.Errorf("%+v %s", p.Status, logtest.Text(t, huge))
	}
	gated := logtest.Decide(t, h, decision.Question{Pod: logtest.Pod(t, "gated", `"schedulingGates":[{"name":"g"}],`), Bind: true})
	if p, _ := logtest.StoredPod(t, h, "gated"); gated.PendingSnapshot != "default@3" || scheduledCondition(p).Reason != corev1.PodReasonSchedulingGated {
		t.Errorf("%+v %s", p.Status, logtest.Text(t, gated))
	}
	k := logtest.PodKey("d", "gated")
	if again := logtest.Decide(t, h, decision.Question{PodRef: &k, Bind: true}); again.Outcome != engine.Gated || again.PendingSnapshot != "" {
		t.Errorf("%s", logtest.Text(t, again))
	}
	v, err := h.Manager.View(t.Context(), "default", 0)
	if err != nil || v.Revision != 3 {
		t.Fatalf("%v %d", err, v.Revision)
	}
	active, waits, _ := v.State.Waiting(func(string) (bool, bool) { return true, true })
	if active != 1 || waits != 1 {
		t.Errorf("%d active, %d gated", active, waits)
	}
	for _, id := range []string{huge.ID, gated.ID} {
		if r, err := h.Replay(t.Context(), id, record.Overrides{}); err != nil || !r.Identical {
			t.Errorf("%v %s", err, logtest.Text(t, r))
		}
	}
}
