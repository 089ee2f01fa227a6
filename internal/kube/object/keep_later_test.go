package object

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestKindsOfLaterReleases: they are kept in the version that they came in, if releases from v1.36
// on serve it, and passed over in others.
func TestKindsOfLaterReleases(t *testing.T) {
	const group = `{"kind":"PodGroup","apiVersion":"scheduling.k8s.io/v1alpha2","metadata":{"name":"g","namespace":"d","uid":"u","annotations":{"a":"secret"}},` +
		`"spec":{"podGroupTemplateRef":{"workload":{"workloadName":"w","podGroupTemplateName":"t"}},"schedulingPolicy":{"gang":{"minCount":3}},"disruptionMode":"PodGroup","priority":7},` +
		`"status":{"conditions":[{"type":"PodGroupScheduled","status":"False","reason":"Unschedulable","message":"secret","lastTransitionTime":"2026-03-01T00:00:00Z"}]}}`
	const rest = `{"kind":"Workload","apiVersion":"scheduling.k8s.io/v1alpha2","metadata":{"name":"w","uid":"u"},"spec":{"controllerRef":{"kind":"Job","name":"j","apiGroup":"batch"},"podGroupTemplates":[{"name":"t","schedulingPolicy":{"basic":{}}}]}}
		{"kind":"DeviceTaintRule","apiVersion":"resource.k8s.io/v1beta2","metadata":{"name":"r","uid":"u"},"spec":{"deviceSelector":{"driver":"d"},"taint":{"key":"k","effect":"NoExecute","timeAdded":"2026-03-01T00:00:00Z"}}}
		{"kind":"PodGroup","apiVersion":"scheduling.k8s.io/v1beta1","metadata":{"name":"g2","uid":"u"},"spec":{"workloadRef":{"workloadName":"w","templateName":"t"},"schedulingPolicy":{"gang":{"minCount":3}},"disruptionMode":{"all":{}},"preemptionPolicy":"Never"}}
		{"kind":"CompositePodGroup","apiVersion":"scheduling.k8s.io/v1alpha3","metadata":{"name":"c"},"spec":{}}
		{"kind":"PodGroup","apiVersion":"scheduling.x-k8s.io/v1alpha1","metadata":{"name":"g3"},"spec":{"minMember":2}}
		{"kind":"PodGroup","apiVersion":"scheduling.k8s.io/v1","metadata":{"name":"g4"},"spec":{}}
		{"kind":"DeviceTaintRule","apiVersion":"resource.k8s.io/v1","metadata":{"name":"r2","uid":"u"},"spec":{"taint":{"key":"k","effect":"NoExecute","timeAdded":"2026-03-01T00:00:00Z"}}}
		{"kind":"DeviceTaintRule","apiVersion":"resource.k8s.io/v1alpha3","metadata":{"name":"r3","uid":"u"},"spec":{"taint":{"key":"k","effect":"NoExecute","timeAdded":"2026-03-01T00:00:00Z"}}}
		{"kind":"Workload","apiVersion":"scheduling.k8s.io/v1beta1","metadata":{"name":"w2","uid":"u"},"spec":{"podGroupTemplates":[{"name":"t","schedulingPolicy":{"basic":{}}}]}}`
	objs, ignored, err := readAll(group+rest, JSON, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(map[string]int{"PodGroup.scheduling.k8s.io": 1, "PodGroup.scheduling.x-k8s.io": 1, "CompositePodGroup": 1}, ignored); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	// The objects of v1.36 are what releases with its types stored, byte for byte.
	want := []string{
		`{"kind":"PodGroup","apiVersion":"scheduling.k8s.io/v1alpha2","metadata":{"name":"g","namespace":"d","uid":"u"},` +
			`"spec":{"podGroupTemplateRef":{"workload":{"workloadName":"w","podGroupTemplateName":"t"}},"schedulingPolicy":{"gang":{"minCount":3}},"disruptionMode":"PodGroup","priority":7},` +
			`"status":{"conditions":[{"type":"PodGroupScheduled","status":"False","lastTransitionTime":"2026-03-01T00:00:00Z","reason":"Unschedulable","message":""}]}}`,
		`{"kind":"Workload","apiVersion":"scheduling.k8s.io/v1alpha2","metadata":{"name":"w","namespace":"default","uid":"u"},"spec":{"controllerRef":{"apiGroup":"batch","kind":"Job","name":"j"},"podGroupTemplates":[{"name":"t","schedulingPolicy":{"basic":{}},"schedulingConstraints":null}]}}`,
		`{"kind":"DeviceTaintRule","apiVersion":"resource.k8s.io/v1beta2","metadata":{"name":"r","uid":"u"},"spec":{"deviceSelector":{"driver":"d"},"taint":{"key":"k","effect":"NoExecute","timeAdded":"2026-03-01T00:00:00Z"}}}`,
		`{"kind":"PodGroup","apiVersion":"scheduling.k8s.io/v1beta1","metadata":{"name":"g2","namespace":"default","uid":"u"},"spec":{"workloadRef":{"workloadName":"w","templateName":"t"},"schedulingPolicy":{"gang":{"minCount":3}},"disruptionMode":{"all":{}},"preemptionPolicy":"Never"}}`,
		`{"kind":"DeviceTaintRule","apiVersion":"resource.k8s.io/v1","metadata":{"name":"r2","uid":"u"},"spec":{"taint":{"key":"k","effect":"NoExecute","timeAdded":"2026-03-01T00:00:00Z"}}}`,
		`{"kind":"DeviceTaintRule","apiVersion":"resource.k8s.io/v1alpha3","metadata":{"name":"r3","uid":"u"},"spec":{"taint":{"key":"k","effect":"NoExecute","timeAdded":"2026-03-01T00:00:00Z"}}}`,
		`{"kind":"Workload","apiVersion":"scheduling.k8s.io/v1beta1","metadata":{"name":"w2","namespace":"default","uid":"u"},"spec":{"podGroupTemplates":[{"name":"t","schedulingPolicy":{"basic":{}},"schedulingConstraints":null}]}}`,
	}
	var got []string
	for _, o := range objs {
		got = append(got, string(o.JSON))
		again, err := FromCanonical(o.Key.Kind, o.JSON)
		if err != nil {
			t.Fatal(err)
		}
		if back, err := Of(again.Value); err != nil || string(back.JSON) != string(o.JSON) {
			t.Errorf("%s is written as %s, %v", o.JSON, back.JSON, err)
		}
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	checkFixedPoint(t, objs)
}
