package handlers

import (
	"net/http"
	"strings"
	"testing"

	"berth/internal/handlers/admit"
	"berth/internal/scenario"
)

func TestPools(t *testing.T) {
	h := start(t, func(o *admit.Options) { o.Limits.ScenarioMaxPods, o.Limits.ScenarioMaxNodes = 20, 60 })
	h.upload("prod", listOf(node("n1", "4"), node("n2", "2"), pod("old", "8", "")))
	ask := func(body string) *scenario.Pools {
		t.Helper()
		var out scenario.Pools
		h.want(http.StatusOK, &out, "POST", "/v1/clusters/prod/pools", body)
		return &out
	}
	if got := ask(`{"for":"pending","pools":[{"like":"n1"}]}`); got.Snapshot != "prod@1" || got.Pods != 1 || got.Choice.Fits || len(got.Unplaced) != 1 || got.Unplaced[0].More[0].Helps {
		t.Errorf("%+v", got)
	}
	template := `{"name":"big","template":` + node("t", "9") + `,"cost":2}`
	if got := ask(`{"pools":[` + template + `]}`); !got.Choice.Fits || got.Choice.Cost != 2 || len(got.Notes) != 1 {
		t.Errorf("%+v", got)
	}
	web := `{"workloads":[{"pod":` + pod("web", "1", "") + `,"count":14}]}`
	got := ask(`{"for":` + web + `,"pools":[{"like":"n1","max":30},{"like":"n2","cost":0.4,"max":30}]}`)
	if got.Already != 6 || !got.Choice.Fits || got.Pools[0].Nodes != 2 || got.Pools[1].Nodes != 4 || got.Choice.Cost != 1.6 || got.Bound.Cost != 1.6 {
		t.Errorf("%+v", got)
	}
	if again := ask(`{"for":` + web + `,"pools":[{"like":"n1","max":30},{"like":"n2","cost":0.4,"max":30}]}`); again.Digest != got.Digest {
		t.Errorf("digests %s and %s", got.Digest, again.Digest)
	}
	if got := ask(`{"for":` + web + `,"edits":{"addNodes":[{"like":"n1","count":2}]},"pools":[{"like":"n2"}]}`); got.Already != 14 || got.Choice.Cost != 0 {
		t.Errorf("%+v", got)
	}
	deployment := `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"api"},"spec":{"replicas":9,"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"1"}}}]}}}}`
	if got := ask(`{"for":{"workloads":[{"pod":` + deployment + `}]},"pools":[{"like":"n1"}]}`); got.Pods != 9 || got.Choice.Pools[0].Nodes != 1 || len(got.Warnings) != 0 {
		t.Errorf("%+v", got)
	}
	if got := ask(`{"pools":[{"resources":{"cpu":9,"memory":"32Gi"},"zone":"z9","taints":[],"labels":{"disk":"ssd"}}]}`); !got.Choice.Fits || got.Pools[0].Name != "pool-1 in z9" {
		t.Errorf("%+v", got)
	}
	for want, c := range map[string]struct {
		status int
		body   string
	}{
		"pools: want 1 to": {422, `{}`},
		"pools[0]: want like, a template or resources":           {400, `{"pools":[{}]}`},
		`pools[0].like: prod@1 has no node`:                      {422, `{"pools":[{"like":"n9"}]}`},
		"pools[0].max: want a number from 1":                     {422, `{"pools":[{"like":"n1","max":61}]}`},
		"pools[1].max: the pools may get":                        {422, `{"pools":[{"like":"n1"},{"like":"n2","max":11}]}`},
		"pools[0].cost: want a number above 0":                   {422, `{"pools":[{"like":"n1","cost":-1}]}`},
		"pools[0].template.status.allocatable":                   {422, `{"pools":[{"template":` + node("x", "-4") + `}]}`},
		"pools[0].resources[cpu]":                                {400, `{"pools":[{"resources":{"cpu":"much"}}]}`},
		`"memroy" is no resource`:                                {422, `{"pools":[{"like":"n1","resources":{"memroy":"1Gi"}}]}`},
		"pools[0].taints[0].effect":                              {422, `{"pools":[{"like":"n1","taints":[{"key":"a","effect":"Never"}]}]}`},
		`"pools[0].taints[0].efect"`:                             {400, `{"pools":[{"like":"n1","taints":[{"key":"a","efect":"NoSchedule"}]}]}`},
		"pools[0].zone":                                          {422, `{"pools":[{"like":"n1","zone":"eu 1"}]}`},
		`unknown field "pools[0].maximum"`:                       {400, `{"pools":[{"like":"n1","maximum":1}]}`},
		"for: want":                                              {400, `{"for":"all","pools":[{"like":"n1"}]}`},
		"for.workloads[0].pod: want a pod":                       {400, `{"for":{"workloads":[{"count":1}]},"pools":[{"like":"n1"}]}`},
		"for.workloads[0].count: more than 20 pods would arrive": {422, `{"for":{"workloads":[{"pod":` + pod("web", "1", "") + `,"count":21}]},"pools":[{"like":"n1"}]}`},
		"for.workloads[0].pod.spec.containers[":                  {422, `{"for":{"workloads":[{"pod":` + pod("web", "-1", "") + `}]},"pools":[{"like":"n1"}]}`},
	} {
		if a := h.want(c.status, nil, "POST", "/v1/clusters/prod/pools", c.body); !strings.Contains(strings.ReplaceAll(string(a.body), `\"`, `"`), want) {
			t.Errorf("%s\nwant %s", a.body, want)
		}
	}
	h.want(http.StatusNotFound, nil, "POST", "/v1/clusters/none/pools", `{"pools":[{"like":"n1"}]}`)
}
