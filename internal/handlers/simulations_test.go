package handlers

import (
	"net/http"
	"strings"
	"testing"

	"berth/internal/handlers/admit"
	"berth/internal/scenario"
)

func TestSimulations(t *testing.T) {
	h := start(t, func(o *admit.Options) { o.Limits.ScenarioMaxPods = 50 })
	h.upload("prod", listOf(node("n1", "4"), node("n2", "4"), pod("first", "1", ""), pod("second", "1", ""), pod("huge", "9", "")))
	const both = `"profiles":[{"name":"today"},{"name":"packed","config":` + mostAllocated + `}]`
	ask := func(body string) *scenario.Simulation {
		t.Helper()
		var out scenario.Simulation
		h.want(http.StatusOK, &out, "POST", "/v1/simulations", body)
		return &out
	}
	got := ask(`{"base":"prod@latest","arrivals":{"pending":true},"keep":"decisions",` + both + `}`)
	if got.Base != "prod@1" || got.Arrivals != 3 || len(got.Profiles) != 2 || got.Profiles[0].Placed != 2 || got.Profiles[0].Pending != 1 || got.Profiles[1].End.Nodes.InUse != 1 {
		t.Fatalf("%+v", got)
	}
	if d := got.Differences[0]; d.Elsewhere != 1 || d.First == nil || d.First.Attempt != 3 {
		t.Errorf("%+v", d)
	}
	// The digest of a step is that of the same decision about the state before it.
	var alone struct{ Digest string }
	h.want(http.StatusOK, &alone, "POST", "/v1/decisions", `{"snapshot":"prod@1","dryRun":true,"podRef":{"namespace":"shop","name":"first"}}`)
	if m := got.Profiles[0].Moves[0]; m.Pod != "shop/first" || m.Digest != alone.Digest {
		t.Errorf("%+v, alone %s", m, alone.Digest)
	}
	again := ask(`{"base":"prod@1","arrivals":{"pending":true},"keep":"decisions",` + both + `}`)
	if again.Digest != got.Digest {
		t.Errorf("digests %s and %s", got.Digest, again.Digest)
	}
	got = ask(`{"base":"prod@1","arrivals":{"pods":[{"pod":` + pod("x", "3", "") + `,"duration":"1h"},{"pod":` + pod("y", "4", "") + `,"at":"30m"}]},"edits":{"removeNodes":{"names":["n2"]}},"keep":"moves"}`)
	if r := got.Profiles[0]; r.Placed != 2 || len(r.Moves) != 3 || got.Removed[0] != "n2" {
		t.Errorf("%+v", got)
	}
	var list struct{ Items []struct{ ID string } }
	if h.want(http.StatusOK, &list, "GET", "/v1/snapshots?cluster=prod", ""); len(list.Items) != 1 {
		t.Errorf("the chain has %d revisions", len(list.Items))
	}
	for want, c := range map[string]struct {
		status int
		body   string
	}{
		"until.duration: time in a scenario is ordinal":        {422, `{"base":"prod@1","arrivals":{"pending":true},"until":{"duration":"2h"}}`},
		"arrivals: want pending, placed":                       {400, `{"base":"prod@1","arrivals":{}}`},
		`unknown field \"arrivals.pendng\"`:                    {400, `{"base":"prod@1","arrivals":{"pendng":true}}`},
		"profiles[0].config: ":                                 {422, `{"base":"prod@1","arrivals":{"pending":true},"profiles":[{"name":"a","config":{"kind":"x"}}]}`},
		"arrivals.workloads[0].count: more than 50 pods":       {422, `{"base":"prod@1","arrivals":{"workloads":[{"pod":` + pod("x", "1", "") + `,"count":51}]}}`},
		"arrivals.workloads[0].pod.spec.containers[0].resourc": {422, `{"base":"prod@1","arrivals":{"workloads":[{"pod":` + pod("x", "-1", "") + `}]}}`},
		"arrivals.pods[0].at: ":                                {400, `{"base":"prod@1","arrivals":{"pods":[{"pod":` + pod("x", "1", "") + `,"at":"soon"}]}}`},
		"there is no snapshot prod@9":                          {404, `{"base":"prod@9","arrivals":{"pending":true}}`},
		"base: ":                                               {400, `{"base":"prod@x","arrivals":{"pending":true}}`},
		"edits.delete[0]: Pod default/none is not in prod@1":   {404, `{"base":"prod@1","arrivals":{"pending":true},"edits":{"delete":[{"kind":"Pod","name":"none"}]}}`},
	} {
		if a := h.want(c.status, nil, "POST", "/v1/simulations", c.body); !strings.Contains(string(a.body), want) {
			t.Errorf("%s\nwant %s", a.body, want)
		}
	}
}
