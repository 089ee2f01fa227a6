package rules_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"berth/internal/engine"
	"berth/internal/engine/rules"
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
	blind := decide(t, ruleCase{objects: list(et.Node("n"), et.Pod("gated", et.NominatedTo("n"), et.Gate("x"), et.Requests("cpu", "4"))), pod: et.Pod("p", et.Requests("cpu", "4"))})
	if blind.Outcome != engine.Scheduled {
		t.Errorf("a gated pod that is nominated keeps room: %s", blind.Message)
	}
}
