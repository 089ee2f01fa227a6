package handlers

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"berth/internal/handlers/admit"
	"berth/internal/scenario"
)

// TestHistoryArrives has the pods of recorded decisions arrive again: each once, in the order in
// which they were decided, at the revision of the first one. A pod of the snapshot is read from its
// revision, whatever has become of it since.
func TestHistoryArrives(t *testing.T) {
	h := start(t, func(o *admit.Options) { o.Limits.ScenarioMaxPods = 4 })
	h.upload("prod", listOf(node("n1", "4"), node("n2", "4"), pod("waits", "1", "")))
	for _, body := range []string{
		`{"snapshot":"prod@latest","pod":` + pod("z", "3", "") + `}`, `{"snapshot":"prod@latest","pod":` + pod("a", "3", "") + `}`,
		`{"snapshot":"prod@latest","pod":` + pod("z", "1", "") + `}`, `{"snapshot":"prod@latest","podRef":{"namespace":"shop","name":"waits"}}`,
	} {
		h.want(http.StatusCreated, nil, "POST", "/v1/decisions", body)
	}
	h.upload("prod", listOf(node("n1", "4"), pod("a", "3", `,"nodeName":"n1"`)))
	h.want(http.StatusCreated, nil, "POST", "/v1/decisions", `{"snapshot":"prod@latest","pod":`+pod("later", "1", "")+`}`)
	const window = `"since":"2000-01-01T00:00:00Z","until":"2100-01-01T00:00:00Z"`
	moves := func(body string) (*scenario.Simulation, string) {
		t.Helper()
		var out scenario.Simulation
		h.want(http.StatusOK, &out, "POST", "/v1/simulations", body)
		var list []string
		for _, m := range out.Profiles[0].Moves {
			list = append(list, m.Pod+" "+string(m.Outcome))
		}
		return &out, strings.Join(list, ", ")
	}
	got, list := moves(`{"arrivals":{"history":{"cluster":"prod",` + window + `}},"keep":"moves"}`)
	if want := "shop/z Scheduled, shop/a Scheduled, shop/waits Scheduled, shop/later Scheduled"; got.Base != "prod@1" || list != want {
		t.Errorf("at %s: %s", got.Base, list)
	}
	got, list = moves(`{"base":"prod@2","arrivals":{"history":{` + window + `}},"keep":"moves"}`)
	if want := "shop/z Unschedulable, shop/waits Scheduled, shop/z Unschedulable, shop/later Unschedulable"; list != want || !strings.Contains(fmt.Sprint(got.Notes), "the base has on a node: 1") {
		t.Errorf("at %s: %s %v", got.Base, list, got.Notes)
	}
	got, list = moves(`{"base":"prod@2","arrivals":{"history":{"cluster":"prdo",` + window + `}}}`)
	if len(got.Warnings) != 1 || !strings.Contains(got.Warnings[0], "no pod was asked about in cluster prdo") || list != "" {
		t.Errorf("%q %s", got.Warnings, list)
	}
	for want, c := range map[string]struct {
		status int
		body   string
	}{
		"arrivals.history: want since and until, a later time": {400, `{"arrivals":{"history":{"cluster":"prod","since":"2026-01-01T00:00:00Z"}}}`},
		"decisions of none": {404, `{"arrivals":{"history":{"cluster":"none",` + window + `}}}`},
		"arrivals.history: more than 3 pods were asked about": {422, `{"arrivals":{"history":{"cluster":"prod",` + window + `},"pending":true}}`},
		"arrivals.history: more than 4 pods were asked":       {422, `{"base":"prod@2","arrivals":{"history":{` + window + `}}}`},
	} {
		if c.status == 422 && strings.Contains(want, "4 pods") {
			h.want(http.StatusCreated, nil, "POST", "/v1/decisions", `{"snapshot":"prod@latest","pod":`+pod("one-more", "1", "")+`}`)
		}
		if a := h.want(c.status, nil, "POST", "/v1/simulations", c.body); !strings.Contains(string(a.body), want) {
			t.Errorf("%s\nwant %s", a.body, want)
		}
	}
}
