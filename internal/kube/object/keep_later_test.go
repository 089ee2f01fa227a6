package object

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestKindsOfLaterReleases: they are kept in the version that this release knows,
// and passed over in others.
func TestKindsOfLaterReleases(t *testing.T) {
	const group = `{"kind":"PodGroup","apiVersion":"scheduling.k8s.io/v1alpha2","metadata":{"name":"g","namespace":"d","uid":"u","annotations":{"a":"secret"}},` +
		`"spec":{"podGroupTemplateRef":{"workload":{"workloadName":"w","podGroupTemplateName":"t"}},"schedulingPolicy":{"gang":{"minCount":3}},"disruptionMode":"PodGroup","priority":7},` +
		`"status":{"conditions":[{"type":"PodGroupScheduled","status":"False","reason":"Unschedulable","message":"secret","lastTransitionTime":"2026-03-01T00:00:00Z"}]}}`
	const rest = `{"kind":"Workload","apiVersion":"scheduling.k8s.io/v1alpha2","metadata":{"name":"w","uid":"u"},"spec":{"controllerRef":{"kind":"Job","name":"j","apiGroup":"batch"},"podGroupTemplates":[{"name":"t","schedulingPolicy":{"basic":{}}}]}}
		{"kind":"DeviceTaintRule","apiVersion":"resource.k8s.io/v1beta2","metadata":{"name":"r","uid":"u"},"spec":{"deviceSelector":{"driver":"d"},"taint":{"key":"k","effect":"NoExecute","timeAdded":"2026-03-01T00:00:00Z"}}}
		{"kind":"PodGroup","apiVersion":"scheduling.k8s.io/v1beta1","metadata":{"name":"g2"},"spec":{}}
		{"kind":"CompositePodGroup","apiVersion":"scheduling.k8s.io/v1alpha3","metadata":{"name":"c"},"spec":{}}
		{"kind":"PodGroup","apiVersion":"scheduling.x-k8s.io/v1alpha1","metadata":{"name":"g3"},"spec":{"minMember":2}}
		{"kind":"DeviceTaintRule","apiVersion":"resource.k8s.io/v1","metadata":{"name":"r2"},"spec":{}}`
	objs, ignored, err := readAll(group+rest, JSON, Limits{})
	if err != nil || len(objs) != 3 {
		t.Fatalf("%v, %v", objs, err)
	}
	if d := cmp.Diff(map[string]int{"PodGroup.scheduling.k8s.io": 1, "PodGroup.scheduling.x-k8s.io": 1, "CompositePodGroup": 1, "DeviceTaintRule.resource.k8s.io": 1}, ignored); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	const want = `{"kind":"PodGroup","apiVersion":"scheduling.k8s.io/v1alpha2","metadata":{"name":"g","namespace":"d","uid":"u"},` +
		`"spec":{"podGroupTemplateRef":{"workload":{"workloadName":"w","podGroupTemplateName":"t"}},"schedulingPolicy":{"gang":{"minCount":3}},"disruptionMode":"PodGroup","priority":7},` +
		`"status":{"conditions":[{"type":"PodGroupScheduled","status":"False","lastTransitionTime":"2026-03-01T00:00:00Z","reason":"Unschedulable","message":""}]}}`
	if d := cmp.Diff(want, string(objs[0].JSON)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if !bytes.Contains(objs[1].JSON, []byte(`"controllerRef":{"apiGroup":"batch","kind":"Job","name":"j"},"podGroupTemplates":[{"name":"t","schedulingPolicy":{"basic":{}}`)) {
		t.Errorf("%s", objs[1].JSON)
	}
	checkFixedPoint(t, objs)
}
