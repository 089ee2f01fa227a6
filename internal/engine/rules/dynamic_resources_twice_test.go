package rules_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"berth/internal/engine"
	"berth/internal/engine/rules"
	"berth/internal/semantics"
	et "berth/test/enginetest"
)

// TestAClaimByTwoNames: kube-scheduler allocates devices once per name, so that one device is not
// enough, and the claim gets the first allocation, or until v1.35 the last. A random case found
// that berth named both.
func TestAClaimByTwoNames(t *testing.T) {
	pod := et.Pod("p", et.Claims("c", "d", "c"))
	objects := devicesOf(et.DeviceClaim("c", et.Wants("r", "gpu", 1)), et.DeviceClaim("d", et.Wants("r", "gpu", 1)), et.Slice("s", "a", et.Device("d0"), et.Device("d1"), et.Device("d2")), et.Slice("t", "b", et.Device("d0"), et.Device("d1")))
	check(t, "DynamicResources", []ruleCase{{name: "once per name", objects: objects, pod: pod, want: map[string]string{"a": "ok", "b": rules.ReasonNoDevices + "!"}}})
	want := []engine.AllottedDevice{
		{Claim: "c", Request: "r", Driver: et.Driver, Pool: "s", Device: "d0"},
		{Claim: "d", Request: "r", Driver: et.Driver, Pool: "s", Device: "d1"},
	}
	for _, last := range []bool{false, true} {
		if last {
			want[0].Device = "d2"
		}
		under := func(r *semantics.Release) { r.LastAllocationStands = last }
		if diff := cmp.Diff(want, decide(t, ruleCase{objects: objects, pod: pod, under: under}).Devices); diff != "" {
			t.Errorf("last %v: devices (-want +got):\n%s", last, diff)
		}
	}
}
