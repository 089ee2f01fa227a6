package rules_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"berth/internal/engine"
	"berth/internal/engine/rules"
	"berth/internal/semantics"
	et "berth/test/enginetest"
)

func TestSchedulingGates(t *testing.T) {
	gated := et.Pod("p", et.Gate("example.com/quota"), et.Gate("example.com/warm"))
	d := decide(t, ruleCase{objects: list(et.Node("n")), pod: gated})
	if d.Outcome != engine.Gated || d.Message != "Scheduling is blocked due to non-empty scheduling gates" || len(d.Nodes) > 0 {
		t.Errorf("got %+v, want Gated without a look at the nodes", d)
	}
	if diff := cmp.Diff([]string{"example.com/quota", "example.com/warm"}, d.Gates); diff != "" {
		t.Errorf("gates (-want +got):\n%s", diff)
	}
	off := rules.DefaultSpec()
	off.PreEnqueue = nil
	if d := decide(t, ruleCase{objects: list(et.Node("n")), pod: gated, spec: &off}); d.Outcome != engine.Scheduled {
		t.Errorf("without the plugin the outcome is %s, want Scheduled", d.Outcome)
	}
	for counts, want := range map[bool]engine.Outcome{false: engine.Scheduled, true: engine.UnschedulableOK} {
		d := decide(t, ruleCase{
			objects: list(et.Node("n"), et.Pod("gated", et.NominatedTo("n"), et.Gate("x"), et.Requests("cpu", "4"))), pod: et.Pod("p", et.Requests("cpu", "4")),
			under: func(r *semantics.Release) { r.GatedNominationsCount = counts },
		})
		if d.Outcome != want {
			t.Errorf("a gated pod that is nominated counts %v: %s %s", counts, d.Outcome, d.Message)
		}
	}
}
