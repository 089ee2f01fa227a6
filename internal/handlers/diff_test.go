package handlers

import (
	"testing"

	"berth/internal/report"
)

// Two revisions are compared by object and field, and classes are surveyed with
// those that are stored.
func TestDiffAndClasses(t *testing.T) {
	h := start(t, nil)
	state := func(cpu string) string {
		return `{"kind":"List","apiVersion":"v1","items":[{"kind":"Node","apiVersion":"v1","metadata":{"name":"n1"},"status":{"allocatable":{"cpu":"` + cpu + `"}}},
{"kind":"PriorityClass","apiVersion":"scheduling.k8s.io/v1","metadata":{"name":"a"},"value":1,"globalDefault":true}]}`
	}
	h.want(201, nil, "POST", "/v1/snapshots?cluster=c", state("1"))
	h.want(201, nil, "POST", "/v1/snapshots?cluster=c", state("2"))
	var d report.Diff
	h.want(200, &d, "GET", "/v1/snapshots/c@1/diff?to=c@latest", "")
	if d.From != "c@1" || d.To != "c@2" || len(d.Objects) != 1 || len(d.Objects[0].Fields) != 1 || d.Objects[0].Fields[0].Path != "status.allocatable.cpu" || d.Objects[0].Fields[0].To != "2" {
		t.Errorf("%+v", d)
	}
	for path, status := range map[string]int{"c@1/diff": 400, "c@1/diff?to=c": 400, "c@1/diff?to=c@9": 404, "d@1/diff?to=c@1": 404, "c@1/diff?to=c@2&limit=0": 400} {
		h.want(status, nil, "GET", "/v1/snapshots/"+path, "")
	}
	h.want(201, nil, "POST", "/v1/priorityclasses?cluster=c", priorityClass("b", `,"value":7,"globalDefault":true`))
	var list report.Classes
	h.want(200, &list, "GET", "/v1/clusters/c/classes", "")
	if len(list.Items) != 4 || list.Items[2].Source != "stored" || list.Items[3].Source != "snapshot" || len(list.Findings) != 1 || list.Findings[0].Code != "twoDefaults" {
		t.Errorf("%+v", list)
	}
	h.want(404, nil, "GET", "/v1/clusters/none/classes", "")
}
