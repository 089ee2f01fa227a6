package rules_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"berth/internal/engine"
	"berth/internal/engine/rules"
	et "berth/test/enginetest"
)

func TestVolumeZone(t *testing.T) {
	out := rules.ReasonVolumeZone + "!"
	claim, pod := et.Claim("c", "x", "1Gi", et.BoundTo("v")), et.Pod("p", et.Mounts("c"))
	old := et.Node("old", et.NodeLabels(corev1.LabelFailureDomainBetaZone, "A"))
	bare := et.Node("bare")
	region := et.Node("region", et.NodeLabels(corev1.LabelTopologyRegion, "r"))
	objects := func(labels ...string) []any {
		return threeNodes(old, bare, region, claim, et.Volume("v", "x", "1Gi", et.VolumeLabels(labels...)))
	}
	all := func(a, b, old, region string) map[string]string {
		return map[string]string{"a1": a, "a2": a, "b1": b, "old": old, "bare": "ok", "region": region}
	}
	check(t, "VolumeZone", []ruleCase{
		{name: "no label, no opinion", objects: objects("disk", "ssd"), pod: pod, want: all("ok", "ok", "ok", "ok")},
		{name: "one zone; the old label of a node is not read for the new one of a volume", objects: objects(zoneKey, "A"), pod: pod, want: all("ok", out, out, out)},
		{name: "the old label of a volume is read on both", objects: objects(corev1.LabelFailureDomainBetaZone, "A"), pod: pod, want: all("ok", out, "ok", out)},
		{name: "several zones", objects: objects(zoneKey, "A__B"), pod: pod, want: all("ok", "ok", out, out)},
		{name: "a list that does not parse says nothing", objects: objects(zoneKey, "A____B"), pod: pod, want: all("ok", "ok", "ok", "ok")},
		{name: "region and zone", objects: objects(corev1.LabelTopologyRegion, "r"), pod: pod, want: all(out, out, out, "ok")},
		{name: "a volume that is not there", objects: threeNodes(claim), pod: pod, want: everywhere(`persistentvolume "v" not found!`)},
	})
	d := decide(t, ruleCase{objects: objects(zoneKey, "A"), pod: pod})
	want := []engine.Detail{{Kind: "volumeZone", Claim: "c", Volume: "v", Key: zoneKey, Value: "B", Term: "A"}}
	if diff := cmp.Diff(want, details(t, d, "b1")); diff != "" {
		t.Errorf("details (-want +got):\n%s", diff)
	}
}

// TestVolumeZoneBeforeTheNodes: what VolumeBinding says first otherwise.
func TestVolumeZoneBeforeTheNodes(t *testing.T) {
	spec := rules.DefaultSpec()
	spec.PreFilter, spec.Filter = []string{"VolumeZone"}, []string{"VolumeZone"}
	late, soon := et.Class("late", "x"), et.Class("soon", "x")
	*soon.VolumeBindingMode = "Immediate"
	pod := et.Pod("p", et.Mounts("c"))
	unset := et.Class("unset", "x")
	unset.VolumeBindingMode = nil
	var cases []ruleCase
	for _, tc := range []struct {
		name    string
		objects []any
		want    string
	}{
		{"no claim", nil, `persistentvolumeclaim "c" not found!`},
		{"no class", list(et.Claim("c", "", "1Gi")), rules.ReasonClaimClassless + "!"},
		{"a class that is not there", list(et.Claim("c", "gone", "1Gi")), `storageclass.storage.k8s.io "gone" not found!`},
		{"a class without a mode", list(unset, et.Claim("c", "unset", "1Gi")), `VolumeBindingMode not set for StorageClass "unset"!`},
		{"should be bound", list(soon, et.Claim("c", "soon", "1Gi")), rules.ReasonVolumeNameless + "!"},
		{"may wait", list(late, et.Claim("c", "late", "1Gi")), "ok"},
	} {
		cases = append(cases, ruleCase{name: tc.name, objects: threeNodes(tc.objects...), pod: pod, spec: &spec, want: everywhere(tc.want)})
	}
	nameless := et.Pod("p", et.Mounts(""))
	cases = append(cases, ruleCase{name: "no name", objects: threeNodes(), pod: nameless, spec: &spec, want: everywhere(rules.ReasonClaimNameless + "!")})
	check(t, "VolumeZone", cases)
}
