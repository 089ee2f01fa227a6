package handlers

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"berth/internal/handlers/admit"
	"berth/internal/handlers/rest"
	"berth/internal/jobs/simulations"
)

// TestStateAt reads the cluster at times of a scenario, compares it with what the timeline tells,
// and puts dry calls to it.
func TestStateAt(t *testing.T) {
	var jobs *simulations.Jobs
	h := start(t, func(o *admit.Options) { jobs = o.Simulations.(*simulations.Jobs) })
	budget := `{"apiVersion":"policy/v1","kind":"PodDisruptionBudget","metadata":{"name":"web","namespace":"shop"},"spec":{"minAvailable":1,"selector":{"matchLabels":{"app":"web"}}},"status":{"disruptionsAllowed":1,"currentHealthy":2,"desiredHealthy":1,"expectedPods":2}}`
	h.upload("prod", listOf(node("n1", "4"), node("n2", "4"), replica("web-a", "web-7d4b9", "n1"), replica("web-b", "web-7d4b9", "n1"), pod("big", "7", ""), budget))
	h.upload("other", listOf(node("n1", "4")))
	id := clockJob(t, h, jobs, "/v1/simulations", `{"base":"prod@latest","clock":true,"now":"2026-01-02T12:00:00Z","events":[{"at":"10s","drain":{"nodes":["n1"]}},{"at":"3m","addNodes":{"like":"n2","count":1}},{"at":"4m","uncordon":{"nodes":["n1"]}}],"arrivals":{"pods":[{"at":"20s","pod":`+pod("late", "1", "")+`},{"at":"50s","pod":`+pod("never", "9", "")+`}]}}`)
	at := func(time string) (page rest.SimulationState) {
		t.Helper()
		h.want(http.StatusOK, &page, "GET", "/v1/simulations/"+id+"/at?time="+url.QueryEscape(time), "")
		return page
	}
	var told rest.SimulationTimeline
	h.want(http.StatusOK, &told, "GET", "/v1/simulations/"+id+"/timeline?limit=500", "")
	for _, second := range []int64{0, 9, 10, 15, 39, 40, 41, 75, 180, 240, 1000} {
		want := map[string]string{"shop/web-a": "n1 true false", "shop/web-b": "n1 true false", "shop/big": " false false"}
		for _, m := range told.Items {
			if m.AfterSeconds > second {
				break
			}
			switch m.What {
			case "created":
				want[m.Pod] = " false false"
			case "bound":
				want[m.Pod] = m.Node + " false false"
			case "ready":
				want[m.Pod] = m.Node + " true false"
			case "leaves":
				want[m.Pod] = strings.TrimSuffix(want[m.Pod], "false") + "true"
			case "gone":
				delete(want, m.Pod)
			}
		}
		page, got := at(fmt.Sprint(second)), map[string]string{}
		for _, p := range page.Pods {
			got[p.Namespace+"/"+p.Name] = fmt.Sprintf("%s %t %t", p.Node, p.Ready, p.Terminating)
		}
		if !maps.Equal(got, want) {
			t.Errorf("at %d s: %v, and the timeline has %v", second, got, want)
		}
	}
	page := at("12:00:30")
	state := "simulation:" + id + "@30s"
	if page.Snapshot != state || page.AfterSeconds != 30 || page.Time.Format("15:04:05") != "12:00:30" || len(page.Nodes) != 2 || !page.Nodes[0].Cordoned || len(page.Nodes[0].Taints) != 1 {
		t.Errorf("%+v", page)
	}
	if again := at("2026-01-02T12:00:30Z"); again.Snapshot != state {
		t.Errorf("%+v", again)
	}
	if late := at("5m"); len(late.Nodes) != 3 || late.Nodes[0].Cordoned {
		t.Errorf("%+v", late.Nodes)
	}
	// Pages put together are the list, and nodes come with the first one.
	var names []string
	for query := "&limit=2"; query != ""; {
		var page rest.SimulationState
		h.want(http.StatusOK, &page, "GET", "/v1/simulations/"+id+"/at?time=30s"+query, "")
		for _, p := range page.Pods {
			names = append(names, p.Name)
		}
		if first := query == "&limit=2"; first != (len(page.Nodes) == 2) {
			t.Errorf("nodes on page %q: %v", query, page.Nodes)
		}
		if query = ""; page.Cursor != "" {
			query = "&limit=2&cursor=" + url.QueryEscape(page.Cursor)
		}
	}
	if len(names) != len(page.Pods) || !slices.IsSorted(names) {
		t.Errorf("%v of %d", names, len(page.Pods))
	}

	// Dry calls: four cpu are free on n1 before the drain has cordoned it, and after the uncordon.
	decide := func(snapshot string) string {
		t.Helper()
		var ans struct {
			Outcome, Snapshot string
		}
		h.want(http.StatusOK, &ans, "POST", "/v1/decisions", `{"snapshot":"`+snapshot+`","dryRun":true,"nodeNames":["n1"],"pod":`+pod("q", "2", "")+`}`)
		if ans.Snapshot != snapshot {
			t.Errorf("an answer about %s, asked about %s", ans.Snapshot, snapshot)
		}
		return ans.Outcome
	}
	for time, want := range map[string]string{"5s": "Scheduled", "30s": "Unschedulable", "3m50s": "Unschedulable", "4m0s": "Scheduled"} {
		if got := decide("simulation:" + id + "@" + time); got != want {
			t.Errorf("at %s: %s, want %s", time, got, want)
		}
	}
	var fit struct{ Snapshot string }
	h.want(http.StatusOK, &fit, "POST", "/v1/clusters/prod/fit?snapshot="+state, `{"pod":`+pod("f", "1", "")+`}`)
	if fit.Snapshot != state {
		t.Errorf("%+v", fit)
	}
	// Budgets count as they do then: while a replica of two is on its way back, one may not go.
	for time, want := range map[string]string{"25s": "blocked", "10m": "drained"} {
		if a := h.want(http.StatusOK, nil, "POST", "/v1/clusters/prod/drains?snapshot=simulation:"+id+"@"+time, `{"nodes":["n2"],"force":true}`); !strings.Contains(string(a.body), `"outcome":"`+want+`"`) {
			t.Errorf("at %s not %s: %s", time, want, a.body)
		}
	}
	h.want(http.StatusOK, nil, "GET", "/v1/snapshots/"+state+"/objects?kind=Pod&namespace=shop&name=late", "")
	h.want(http.StatusOK, nil, "GET", "/v1/clusters/prod/capacity?snapshot="+state, "")
	h.want(http.StatusOK, nil, "GET", "/v1/clusters/prod/pending?snapshot="+state, "")
	h.want(http.StatusOK, nil, "POST", "/v1/pods/termination", `{"snapshot":"`+state+`","cause":"delete","podRef":{"namespace":"shop","name":"web-a"}}`)
	h.want(http.StatusOK, nil, "POST", "/v1/simulations", `{"base":"`+state+`","clock":true}`)

	var made struct{ ID string }
	h.want(http.StatusCreated, &made, "POST", "/v1/decisions", `{"snapshot":"prod@latest","pod":`+pod("q", "1", "")+`}`)
	const dry = "it answers dry calls, and nothing is recorded, bound or changed in it"
	for call, want := range map[[3]string]struct {
		status int
		text   string
	}{
		{"POST", "/v1/decisions", `{"snapshot":"` + state + `","pod":` + pod("q", "1", "") + `}`}:                 {422, "snapshot: " + "a state that a scenario comes to is no revision: " + dry},
		{"POST", "/v1/decisions", `{"snapshot":"` + state + `","bind":true,"pod":` + pod("q", "1", "") + `}`}:     {422, dry},
		{"POST", "/v1/decisions/" + made.ID + "/replay", `{"snapshot":"` + state + `"}`}:                          {422, dry},
		{"POST", "/v1/snapshots/" + state + "/changes", `{"apply":[` + node("n9", "1") + `]}`}:                    {422, dry},
		{"DELETE", "/v1/snapshots/" + state, ""}:                                                                  {422, dry},
		{"GET", "/v1/clusters/prod/queue?snapshot=" + state, ""}:                                                  {422, dry},
		{"GET", "/v1/clusters/prod/pods/shop/web-a?snapshot=" + state, ""}:                                        {422, dry},
		{"POST", "/v1/clusters/prod/fit?snapshot=" + state, `{"wait":"0s","pod":` + pod("f", "1", "") + `}`}:      {422, "wait: a question about a state that a scenario comes to is answered in its call"},
		{"POST", "/v1/clusters/other/fit?snapshot=" + state, `{"pod":` + pod("f", "1", "") + `}`}:                 {400, "snapshot: want a revision of cluster other"},
		{"POST", "/v1/decisions", `{"snapshot":"simulation:x@5s","dryRun":true,"pod":` + pod("q", "1", "") + `}`}: {400, "snapshot: it is not a job's id"},
		{"POST", "/v1/decisions", `{"snapshot":"simulation:x","dryRun":true,"pod":` + pod("q", "1", "") + `}`}:    {400, "snapshot: \\\"simulation:x\\\" is not of the form simulation:JOB@TIME"},
		{"GET", "/v1/simulations/" + id + "/at", ""}:                                                              {400, "time: want a time since the start in whole seconds"},
		{"GET", "/v1/simulations/" + id + "/at?time=2026-01-02T11:00:00Z", ""}:                                    {422, "time: the scenario begins at 2026-01-02T12:00:00Z"},
		{"GET", "/v1/simulations/00000000-0000-7000-8000-000000000000/at?time=5s", ""}:                            {404, "not found"},
	} {
		if a := h.want(want.status, nil, call[0], call[1], call[2]); !strings.Contains(string(a.body), want.text) {
			t.Errorf("%s: %s\nwant %s", call, a.body, want.text)
		}
	}
	short := clockJob(t, h, jobs, "/v1/simulations", `{"base":"prod@latest","clock":true,"until":{"duration":"1m"}}`)
	if a := h.want(422, nil, "GET", "/v1/simulations/"+short+"/at?time=61s", ""); !strings.Contains(string(a.body), "time: the scenario ends after 60 s") {
		t.Errorf("%s", a.body)
	}
	drain := clockJob(t, h, jobs, "/v1/clusters/prod/drains", `{"nodes":["n1"]}`)
	if a := h.want(422, nil, "GET", "/v1/simulations/"+drain+"/at?time=1s", ""); !strings.Contains(string(a.body), "is of a question about drains") {
		t.Errorf("%s", a.body)
	}
	h.want(http.StatusNoContent, nil, "DELETE", "/v1/simulations/"+id, "")
	h.want(http.StatusNotFound, nil, "POST", "/v1/decisions", `{"snapshot":"`+state+`","dryRun":true,"pod":`+pod("q", "1", "")+`}`)
}

// TestStateAtNeedsItsCluster: who may not see a job's whole cluster may not see what its scenario
// comes to, by whatever call.
func TestStateAtNeedsItsCluster(t *testing.T) {
	g := startGuarded(t)
	g.upload("prod", listOf(node("n1", "4"), pod("first", "1", "")))
	g.upload("other", listOf(node("n1", "4")))
	var job simulations.Job
	g.want(http.StatusAccepted, &job, "POST", "/v1/simulations", `{"base":"prod@latest","clock":true,"wait":"0s"}`)
	state := "simulation:" + job.ID + "@5s"
	for _, who := range []identity{
		bearing(g.token("elsewhere", "admin", "other", "*")), bearing(g.token("inside", "admin", "prod", "shop")),
	} {
		for _, c := range [][3]string{
			{"GET", "/v1/simulations/" + job.ID + "/timeline", ""},
			{"GET", "/v1/simulations/" + job.ID + "/at?time=5s", ""},
			{"GET", "/v1/snapshots/" + state + "/objects", ""},
			{"POST", "/v1/decisions", `{"snapshot":"` + state + `","dryRun":true,"pod":` + pod("q", "1", "") + `}`},
			{"POST", "/v1/simulations", `{"base":"` + state + `","clock":true}`},
			{"POST", "/v1/pods/termination", `{"snapshot":"` + state + `","cause":"delete","podRef":{"namespace":"shop","name":"first"}}`},
		} {
			if w := g.as(who, c[0], c[1], c[2]); w.Code != http.StatusNotFound && w.Code != http.StatusForbidden || strings.Contains(w.Body.String(), "prod") {
				t.Errorf("%s: %d %s", c, w.Code, w.Body)
			}
		}
	}
	root := bearing(g.token("root", "admin", "*", "*"))
	if w := g.as(root, "GET", "/v1/simulations/"+job.ID+"/at?time=5s", ""); w.Code != http.StatusConflict {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}
