package handlers

import (
	"net/http"
	"strings"
	"testing"

	"berth/internal/scenario"
	"berth/internal/world"
)

// owned is a pod of a ReplicaSet that runs on a node.
func owned(name, node string) string {
	return `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"` + name + `","namespace":"default","labels":{"app":"web"},"ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"web","uid":"u","controller":true}]},
		"spec":{"nodeName":"` + node + `","terminationGracePeriodSeconds":30,"containers":[{"name":"c","resources":{"requests":{"cpu":"1"}}}]},
		"status":{"phase":"Running","startTime":"2026-01-01T00:00:00Z","conditions":[{"type":"Ready","status":"True","lastTransitionTime":"2026-01-01T00:00:20Z"}]}}`
}

const oneBudget = `{"apiVersion":"policy/v1","kind":"PodDisruptionBudget","metadata":{"name":"web","namespace":"default"},"spec":{"minAvailable":1,"selector":{"matchLabels":{"app":"web"}}},
	"status":{"disruptionsAllowed":1,"currentHealthy":2,"desiredHealthy":1,"expectedPods":2}}`

func TestDrains(t *testing.T) {
	h := start(t, nil)
	h.upload("prod", listOf(node("n1", "4"), node("n2", "4"), owned("web-1", "n1"), owned("web-2", "n1"), oneBudget))
	ask := func(body string) *scenario.Drain {
		t.Helper()
		var out scenario.Drain
		h.want(http.StatusOK, &out, "POST", "/v1/clusters/prod/drains", body)
		return &out
	}
	got := ask(`{"nodes":["n1"]}`)
	if got.Snapshot != "prod@1" || len(got.Nodes) != 1 || got.Nodes[0].Outcome != "drained" || got.Nodes[0].Waves != 2 || got.Seconds != 50 || got.Totals.Placed != 2 || got.Pods[1].Replacement.Node != "n2" {
		t.Errorf("%+v", got)
	}
	if again := ask(`{"nodes":["n1"],"find":0}`); again.Digest != got.Digest || !strings.HasPrefix(got.Digest, "sha256:") {
		t.Errorf("digests %s and %s", got.Digest, again.Digest)
	}
	if got := ask(`{"nodes":["n1"],"respectBudgets":false,"gracePeriodSeconds":5}`); got.Nodes[0].Waves != 1 || got.Seconds != 5 {
		t.Errorf("%+v", got)
	}
	if got := ask(`{"find":1}`); len(got.Nodes) != 1 || got.Nodes[0].Name != "n2" || !got.Nodes[0].Removed {
		t.Errorf("%+v", got)
	}
	if got := ask(`{"each":"node","selector":"!x"}`); len(got.Each) != 2 || got.Each[0].Name != "n1" || got.Each[0].Placed != 2 || !got.Each[0].OK || got.Seconds != 50 || got.Totals.NodesDrained != 2 {
		t.Errorf("%+v", got)
	}
	if a := h.want(http.StatusOK, nil, "GET", "/v1/snapshots/prod@latest", ""); !strings.Contains(string(a.body), `"prod@1"`) {
		t.Errorf("the cluster has changed: %s", a.body)
	}
	h.wantProblems("/v1/clusters/prod/drains", map[string]problemCase{
		"nodes: want nodes, a selector, a zone":     {400, `{}`},
		"nodes: want nodes, a selector or a zone, ": {400, `{"nodes":["n1"],"zone":"a"}`},
		`nodes[1]: prod@1 has no node "n9"`:         {422, `{"nodes":["n1","n9"]}`},
		`zone: prod@1 has no node in zone "x"`:      {422, `{"zone":"x"}`},
		`selector: "a=b" matches no node of prod@1`: {422, `{"selector":"a=b"}`},
		"gracePeriodSeconds: want 0 or more":        {422, `{"nodes":["n1"],"gracePeriodSeconds":-1}`},
		"find: want a number above 0":               {422, `{"find":-1}`},
		"each: want node":                           {422, `{"each":"zone"}`},
		"each: want each or find":                   {400, `{"each":"node","find":1}`},
		`unknown field "force_"`:                    {400, `{"nodes":["n1"],"force_":true}`},
	})
}

func TestLosses(t *testing.T) {
	h := start(t, nil)
	h.upload("prod", listOf(node("n1", "4"), node("n2", "4"), owned("web-1", "n1"), owned("web-2", "n1"), oneBudget))
	ask := func(body string) *scenario.Loss {
		t.Helper()
		var out scenario.Loss
		h.want(http.StatusOK, &out, "POST", "/v1/clusters/prod/losses", body)
		return &out
	}
	got := ask(`{"nodes":["n1"],"removeAfterSeconds":600}`)
	if got.Snapshot != "prod@1" || len(got.Nodes) != 1 || *got.Nodes[0].TaintedAfterSeconds != 50 || got.Totals.Placed != 2 || got.Pods[1].LeavesAfterSeconds != 50 || got.Pods[1].Replacement.Node != "n2" || got.Digest == "" {
		t.Errorf("%+v", got)
	}
	if got := ask(`{"nodes":["n1"],"rates":{"graceSeconds":10,"nodeSeconds":1}}`); *got.Nodes[0].TaintedAfterSeconds != 10 {
		t.Errorf("%+v", got)
	}
	swept := ask(`{"each":"node"}`)
	if len(swept.Each) != 2 || swept.Each[0].Pods != 2 || swept.Each[0].Placed != 2 || !swept.Each[0].OK || swept.Each[1].Pods != 0 || swept.Totals.Placed != 2 {
		t.Errorf("%+v", swept)
	}
	if other := ask(`{"each":"node","nodes":["n1"]}`); other.Digest == swept.Digest || len(other.Each) != 1 {
		t.Errorf("%+v", other)
	}
	h.wantProblems("/v1/clusters/prod/losses", map[string]problemCase{
		"nodes: want nodes, a selector or a zone": {400, `{}`},
		`nodes[0]: prod@1 has no node "n9"`:       {422, `{"nodes":["n9"]}`},
		"each: want zone or node":                 {422, `{"each":"rack"}`},
		"each: want node: none of the nodes has":  {422, `{"each":"zone"}`},
		"removeAfterSeconds: want 0 to ":          {422, `{"nodes":["n1"],"removeAfterSeconds":-1}`},
		"startSeconds: want 0 to ":                {422, `{"nodes":["n1"],"startSeconds":-1}`},
		"rates.graceSeconds: want 0 to 604800":    {422, `{"nodes":["n1"],"rates":{"graceSeconds":-1}}`},
		"rates.nodeSeconds: want 0 to 604800":     {422, `{"nodes":["n1"],"rates":{"nodeSeconds":9223372036854775807}}`},
		"rates.unhealthyPercent: want 0 to 100":   {422, `{"nodes":["n1"],"rates":{"unhealthyPercent":101}}`},
	})
}

// TestLossThatPreempts warns that the time of victims is not known.
func TestLossThatPreempts(t *testing.T) {
	h := start(t, nil)
	h.upload("prod", listOf(node("n1", "1"), node("n2", "1"), owned("low", "n2"), strings.Replace(owned("high", "n1"), `"spec":{`, `"spec":{"priority":10,`, 1)))
	var loss scenario.Loss
	h.want(http.StatusOK, &loss, "POST", "/v1/clusters/prod/losses", `{"nodes":["n1"]}`)
	var drain scenario.Drain
	h.want(http.StatusOK, &drain, "POST", "/v1/clusters/prod/drains", `{"nodes":["n1"]}`)
	for _, list := range [][]*world.Left{loss.Pods, drain.Pods} {
		if len(list) != 2 || list[1].By == "" || *list[1].GoneAfterSeconds != list[1].LeavesAfterSeconds+30 {
			t.Errorf("%+v %+v", list[0], list[len(list)-1])
		}
	}
	if loss.Totals.Preempted != 1 || drain.Totals.Preempted != 1 {
		t.Errorf("%+v %+v", loss.Totals, drain.Totals)
	}
}

// problemCase is a body and the status of its refusal.
type problemCase struct {
	status int
	body   string
}

// wantProblems posts bodies that are refused, each with a text.
func (h *harness) wantProblems(path string, cases map[string]problemCase) {
	h.T.Helper()
	for want, c := range cases {
		a := h.want(c.status, nil, "POST", path, c.body)
		if text := strings.ReplaceAll(string(a.body), `\"`, `"`); !strings.Contains(text, want) {
			h.T.Errorf("%s\nwant %s", text, want)
		}
	}
}
