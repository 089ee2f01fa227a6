package handlers

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"berth/internal/scenario"
)

func TestFit(t *testing.T) {
	h := start(t, nil)
	h.upload("prod", listOf(node("n1", "4"), node("n2", "2")))
	ask := func(body string) *scenario.Fit {
		t.Helper()
		var out scenario.Fit
		h.want(http.StatusOK, &out, "POST", "/v1/clusters/prod/fit", body)
		return &out
	}
	got := ask(`{"pod":` + pod("web", "1", "") + `,"by":"node"}`)
	if got.Count != 6 || got.Snapshot != "prod@1" || got.Profile != "default-scheduler" || len(got.Domains) != 2 || got.Domains[0].Domain != "n1" || got.Domains[0].Count != 4 ||
		got.LimitedBy == nil || got.LimitedBy.Groups[0].Reason != "InsufficientCPU" || len(got.Sensitivity) == 0 || got.Sensitivity[0].Count != 10 {
		t.Errorf("%+v", got)
	}
	if again := ask(`{"pod":` + pod("web", "1", "") + `}`); again.Digest != got.Digest {
		t.Errorf("digests %s and %s", got.Digest, again.Digest)
	}
	if got := ask(`{"max":3,"placements":true,"pod":` + pod("web", "1", "") + `}`); got.Count != 3 || !got.More || len(got.Placements) != 3 {
		t.Errorf("%+v", got)
	}
	if got := ask(`{"by":"zoen","sensitivity":false,"pod":` + pod("web", "1", "") + `}`); !slices.Contains(got.Warnings, "by: no node has the label zoen") {
		t.Errorf("%q", got.Warnings)
	}
	deployment := `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web"},"spec":{"replicas":2,"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"2"}}}]}}}}`
	got = ask(`{"sensitivity":false,"pod":` + deployment + `,"edits":{"addNodes":[{"like":"n1","count":2}],"removeNodes":{"names":["n2"]}}}`)
	if got.Count != 6 || got.Sensitivity != nil || len(got.Warnings) != 0 {
		t.Errorf("%+v", got)
	}
	if got := ask(`{"pod":` + pod("web", "1", "") + `,"config":` + mostAllocated + `,"max":2}`); got.Nodes != 1 {
		t.Errorf("packed on %d nodes", got.Nodes)
	}
	if a := h.want(http.StatusOK, nil, "GET", "/v1/snapshots/prod@latest", ""); !strings.Contains(string(a.body), `"prod@1"`) {
		t.Errorf("the cluster has changed: %s", a.body)
	}
	for want, c := range map[string]struct {
		status int
		body   string
	}{
		"pod: want a pod":                       {400, `{}`},
		"max: want a number from 1 to":          {422, `{"max":0,"pod":` + pod("web", "1", "") + `}`},
		`edits.addNodes[0].like: prod@1 has no`: {422, `{"pod":` + pod("web", "1", "") + `,"edits":{"addNodes":[{"like":"n9"}]}}`},
		`edits.removeNodes.selector: "a=b"`:     {422, `{"pod":` + pod("web", "1", "") + `,"edits":{"removeNodes":{"selector":"a=b"}}}`},
		`unknown field "edits.ad"`:              {400, `{"pod":` + pod("web", "1", "") + `,"edits":{"ad":[]}}`},
		`pod.spec.template.spec.containers[0]`:  {422, `{"pod":` + strings.Replace(deployment, `"2"`, `"-2"`, 1) + `}`},
		`edits.apply[0].spec.containers[0]`:     {422, `{"pod":` + pod("web", "1", "") + `,"edits":{"apply":[` + pod("x", "-1", "") + `]}}`},
		`edits.addNodes[0].template.status.all`: {422, `{"pod":` + pod("web", "1", "") + `,"edits":{"addNodes":[{"template":` + node("x", "-4") + `}]}}`},
		`no PriorityClass with name nobody`:     {422, `{"pod":` + pod("web", "1", `,"priorityClassName":"nobody"`) + `}`},
		"there is no profile":                   {422, `{"profile":"odd","pod":` + pod("web", "1", "") + `}`},
	} {
		if a := h.want(c.status, nil, "POST", "/v1/clusters/prod/fit", c.body); !strings.Contains(string(a.body), want) && !strings.Contains(strings.ReplaceAll(string(a.body), `\"`, `"`), want) {
			t.Errorf("%s\nwant %s", a.body, want)
		}
	}
	h.want(http.StatusNotFound, nil, "POST", "/v1/clusters/none/fit", `{"pod":`+pod("web", "1", "")+`}`)
	h.want(http.StatusBadRequest, nil, "POST", "/v1/clusters/prod/fit?snapshot=other@1", `{"pod":`+pod("web", "1", "")+`}`)
}
