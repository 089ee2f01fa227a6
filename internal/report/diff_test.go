package report_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"berth/internal/report"
)

// TestDiff: elements of lists are told apart by their names, and what only the
// rules of a pod's life read is counted.
func TestDiff(t *testing.T) {
	pod := func(spec, status string) string {
		return `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"p","namespace":"d"},"spec":{` + spec + `},"status":{` + status + `}}`
	}
	a := view(t, node("gone", "1"), node("same", "1"), pod(
		`"tolerations":[{"key":"a"},{"key":"b"}],"nodeSelector":{"x.y/z":"1"},"containers":[{"name":"one","resources":{"requests":{"cpu":"1"}}},{"name":"two"}]`,
		`"phase":"Pending","conditions":[{"type":"PodScheduled","status":"False"}]`,
	), `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"q","namespace":"d"},"spec":{"nodeName":"same","containers":[{"name":"c"}]}}`)
	b := view(t, node("new", "1"), node("same", "1"), pod(
		`"tolerations":[{"key":"b"}],"nodeSelector":{"x.y/z":"2"},"containers":[{"name":"zero"},{"name":"one","resources":{"requests":{"cpu":"2"}}},{"name":"two"}]`,
		`"phase":"Pending","conditions":[{"type":"PodScheduled","status":"True"}]`,
	), `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"q","namespace":"d"},"spec":{"nodeName":"same","containers":[{"name":"c"}]},"status":{"conditions":[{"type":"Ready","status":"True"}]}}`)
	d, err := report.DiffOf(t.Context(), a, b, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]report.KindDiff{{Kind: "Node", Added: 1, Removed: 1}, {Kind: "Pod", Changed: 1, Other: 1}}, d.Kinds); diff != "" {
		t.Error(diff)
	}
	var got []string
	for _, o := range d.Objects {
		got = append(got, o.Change+" "+o.Kind+" "+o.Name)
		for _, f := range o.Fields {
			got = append(got, fmt.Sprintf("%s: %v > %v", f.Path, f.From, f.To))
		}
	}
	want := []string{
		"removed Node gone", "added Node new", "changed Pod p", `spec.containers[one].resources.requests.cpu: 1 > 2`,
		`spec.containers[zero]: `, `spec.nodeSelector[x.y/z]: 1 > 2`, `spec.tolerations[a]: `,
	}
	if len(got) != len(want) {
		t.Fatalf("%q", got)
	}
	for i := range want {
		if len(got[i]) < len(want[i]) || got[i][:len(want[i])] != want[i] {
			t.Errorf("%q, want %q", got[i], want[i])
		}
	}
	if d.Objects[2].OtherFields != 1 {
		t.Errorf("%+v", d.Objects[2])
	}
	short, err := report.DiffOf(t.Context(), a, b, 1, nil)
	if err != nil || len(short.Objects) != 1 || short.Omitted != 2 || len(short.Kinds) != 2 {
		t.Errorf("%v %+v", err, short)
	}
}

// TestClasses: what is odd is found with the pods concerned.
func TestClasses(t *testing.T) {
	class := func(name string, value int, more string) string {
		return fmt.Sprintf(`{"kind":"PriorityClass","apiVersion":"scheduling.k8s.io/v1","metadata":{"name":%q},"value":%d%s}`, name, value, more)
	}
	items := []string{class("a", 5, `,"globalDefault":true`), class("b", 3, `,"globalDefault":true`), class("c", 1, "")}
	for i := range 7 {
		items = append(items, pod(fmt.Sprintf("p%d", 6-i), "1", "", `,"priorityClassName":"none"`))
	}
	items = append(items, pod("old", "1", "", `,"priorityClassName":"c","priority":9`), pod("now", "1", "", `,"priorityClassName":"c","priority":1`))
	got, err := report.ClassesIn(t.Context(), view(t, items...), nil)
	if err != nil {
		t.Fatal(err)
	}
	var codes []string
	for _, f := range got.Findings {
		codes = append(codes, fmt.Sprintf("%s %s %d", f.Code, f.Class, f.Pods))
	}
	if diff := cmp.Diff([]string{"twoDefaults b 0", "unknownClass none 7", "otherPriority c 1"}, codes); diff != "" {
		t.Error(diff)
	}
	if s := got.Findings[1].Sample; len(s) != 5 || s[0].Name != "p0" || s[4].Name != "p4" {
		t.Errorf("%+v", s)
	}
	if c := got.Items[4]; c.Name != "c" || c.Pods != 2 || c.Waiting != 2 || got.Items[0].Name != "system-node-critical" {
		t.Errorf("%+v", got.Items)
	}
}
