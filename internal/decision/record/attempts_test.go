package record_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/decision"
	"berth/internal/engine"
	"berth/internal/revision"
	"berth/internal/store"
	"berth/test/logtest"
)

// asking puts the extender's calls for one pod to servers over one store, on a clock.
type asking struct {
	t       *testing.T
	now     time.Time
	servers []*logtest.Fixture
	pod     *corev1.Pod
	ids     map[string]string
}

func newAsking(t *testing.T) *asking {
	a := &asking{t: t, now: time.Date(2026, 11, 28, 8, 0, 0, 0, time.UTC), ids: map[string]string{}}
	h := logtest.Through(t, &logtest.APIServer{})
	h.LogOptions.Clock = func() time.Time { return a.now }
	h.Rebuild()
	a.servers = []*logtest.Fixture{h, h.Another(h.Store)}
	a.pod, _ = logtest.StoredPod(t, h, "free")
	return a
}

// call puts a call to a server a while after the one before, and remembers its record by a name.
func (a *asking) call(server int, after time.Duration, name, verb, mode string, change func(*decision.Question)) *store.Decision {
	a.t.Helper()
	a.now = a.now.Add(after)
	l := a.servers[server]
	id := ""
	switch verb {
	case decision.VerbBind:
		if _, err := l.Bind(a.t.Context(), "default", a.pod.Namespace, a.pod.Name, string(a.pod.UID), "n2"); err != nil {
			a.t.Fatal(err)
		}
		list, err := l.Store.ListDecisions(a.t.Context(), store.DecisionFilter{Cluster: "default", Verb: verb, Limit: 1})
		if err != nil || len(list) == 0 {
			a.t.Fatal(list, err)
		}
		id = list[0].ID
	default:
		q := decision.Question{Verb: verb, Mode: mode, Pod: a.pod, NoPreemption: true}
		if verb == decision.VerbPreempt {
			q.NoPreemption, q.Victims = false, []engine.NodeVictims{}
		}
		if change != nil {
			change(&q)
		}
		var err error
		if id, err = logtest.Record(a.t.Context(), l, q, func(*revision.View, *engine.Result) error { return nil }); err != nil {
			a.t.Fatal(err)
		}
	}
	d, err := l.Record(a.t.Context(), id)
	if err != nil {
		a.t.Fatal(err)
	}
	a.ids[name] = id
	return d
}

// TestAttempts: the calls of one of kube-scheduler's cycles are one attempt, whichever server
// answers them, and calls of the next cycle another one.
func TestAttempts(t *testing.T) {
	const filter, prioritize, preempt = decision.VerbFilter, decision.VerbPrioritize, decision.VerbPreempt
	a := newAsking(t)
	alone := func(q *decision.Question) { q.Nominated, q.NodeNames = "gone", []string{"gone"} }
	for _, c := range []struct {
		server   int
		after    time.Duration
		name     string
		verb     string
		mode     string
		change   func(*decision.Question)
		of, says string
	}{
		{0, 0, "score-only", prioritize, "", nil, "score-only", "live"},
		{0, time.Minute, "score-only again", prioritize, "", nil, "score-only again", "live"},
		{0, time.Minute, "f1", filter, "", nil, "f1", "live"},
		{0, time.Millisecond, "p1", prioritize, "", nil, "f1", "live"},
		{1, time.Millisecond, "shadow", filter, decision.ModeShadow, nil, "shadow", "shadow"},
		{1, time.Millisecond, "shadow scores", prioritize, decision.ModeShadow, nil, "shadow", "shadow"},
		{0, time.Millisecond, "asked", decision.VerbDecide, "", nil, "asked", "question"},
		// The second server answers the next cycle, and the first one its end.
		{1, 2 * time.Second, "f2", filter, "", nil, "f2", "live"},
		{0, 2 * time.Second, "e2", preempt, "", nil, "f2", "live"},
		{1, time.Millisecond, "e2 again", preempt, "", nil, "f2", "live"}, // which this one has not seen
		// The nominated node is offered alone, and then all are, in one cycle.
		{0, time.Minute, "f3", filter, "", alone, "f3", "live"},
		{0, time.Millisecond, "f3 again", filter, "", nil, "f3", "live"},
		{0, time.Millisecond, "p3", prioritize, "", nil, "f3", "live"},
		{0, time.Minute, "f4", filter, "", alone, "f4", "live"},
		{0, time.Minute, "f5", filter, "", nil, "f5", "live"},
		// What comes an hour later is of no attempt of before.
		{0, 2 * time.Hour, "p6", prioritize, "", nil, "p6", "live"},
		{0, time.Minute, "f7", filter, "", nil, "f7", "live"},
		{1, 10 * time.Minute, "b7", decision.VerbBind, "", nil, "f7", "live"},
	} {
		d := a.call(c.server, c.after, c.name, c.verb, c.mode, c.change)
		if d.Attempt != a.ids[c.of] || d.Purpose != c.says {
			t.Errorf("%s is %s, of attempt %s: want %s, of %s, which is %s", c.name, d.Purpose, d.Attempt, c.says, a.ids[c.of], c.of)
		}
	}
	results, err := a.servers[0].Store.ListDecisions(t.Context(), store.DecisionFilter{Cluster: "default", Verb: decision.VerbBindResult})
	if err != nil || len(results) != 1 || results[0].Attempt != a.ids["f7"] || results[0].Purpose != decision.PurposeLive {
		t.Errorf("the bind's result: %+v, %v", results, err)
	}
}

// TestAttemptsAfterKill: a server that was killed has no memory, and the records have all.
func TestAttemptsAfterKill(t *testing.T) {
	a := newAsking(t)
	a.call(0, 0, "f", decision.VerbFilter, "", nil)
	a.servers[0].Rebuild()
	for _, verb := range []string{decision.VerbPrioritize, decision.VerbBind} {
		if d := a.call(0, time.Millisecond, verb, verb, "", nil); d.Attempt != a.ids["f"] {
			t.Errorf("%s after the restart is of %s, want %s", verb, d.Attempt, a.ids["f"])
		}
	}
}

// TestAttemptsWithoutRecords: what cannot be read in time begins an attempt.
func TestAttemptsWithoutRecords(t *testing.T) {
	a := newAsking(t)
	a.servers[1] = a.servers[0].Another(unreadable{a.servers[0].Store})
	a.call(0, 0, "f", decision.VerbFilter, "", nil)
	if d := a.call(1, time.Millisecond, "p", decision.VerbPrioritize, "", nil); d.Attempt != d.ID {
		t.Errorf("prioritize is of %s", d.Attempt)
	}
}
