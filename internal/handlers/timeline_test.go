package handlers

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"berth/internal/handlers/admit"
	"berth/internal/handlers/rest"
	"berth/internal/jobs/simulations"
	"berth/internal/scenario"
)

// clockJob runs a question about what comes next as a job, and returns its id.
func clockJob(t *testing.T, h *harness, jobs *simulations.Jobs, path, body string) string {
	t.Helper()
	var job simulations.Job
	h.want(http.StatusAccepted, &job, "POST", path, strings.TrimSuffix(body, "}")+`,"wait":"0s"}`)
	if worked, err := jobs.Step(t.Context(), h.api.RunSimulation); !worked || err != nil {
		t.Fatal(worked, err)
	}
	h.want(http.StatusOK, &job, "GET", "/v1/simulations/"+job.ID, "")
	if job.State != "done" {
		t.Fatalf("%s %s", job.State, job.Reason)
	}
	return job.ID
}

// replica is a running pod of a ReplicaSet whose name a Deployment's controller made.
func replica(name, set, on string) string {
	return fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":%q,"namespace":"shop","uid":"u-%[1]s","labels":{"app":"web"},"ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":%q,"uid":"u-%[2]s","controller":true}]},
"spec":{"nodeName":%q,"terminationGracePeriodSeconds":30,"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"1"}}}]},"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}}`, name, set, on)
}

// TestTimeline lists what happens in the scenario of a job by pages and by what it concerns.
func TestTimeline(t *testing.T) {
	var jobs *simulations.Jobs
	h := start(t, func(o *admit.Options) { jobs = o.Simulations.(*simulations.Jobs) })
	set := `{"apiVersion":"apps/v1","kind":"ReplicaSet","metadata":{"name":"odd","namespace":"shop","uid":"u-odd","ownerReferences":[{"apiVersion":"apps/v1","kind":"Deployment","name":"api","uid":"u-api","controller":true}]},"spec":{"replicas":1,"selector":{"matchLabels":{"app":"web"}}}}`
	h.upload("prod", listOf(node("n1", "4"), node("n2", "4"), replica("web-a", "web-7d4b9", "n1"), replica("api-a", "odd", "n1"), replica("web-x", "web", "n2"), set))
	id := clockJob(t, h, jobs, "/v1/simulations", `{"base":"prod@latest","clock":true,"events":[{"at":"10s","drain":{"nodes":["n1"]}},{"at":"5m","delete":{"namespace":"shop","name":"web-x"}}]}`)
	base := "/v1/simulations/" + id + "/timeline"
	list := func(query string) (told string, page rest.SimulationTimeline) {
		t.Helper()
		h.want(http.StatusOK, &page, "GET", base+query, "")
		for _, m := range page.Items {
			told += fmt.Sprintf("%d %s %s\n", m.AfterSeconds, m.What, m.Pod+m.Node)
		}
		return told, page
	}
	all, _ := list("")
	if strings.Count(all, "\n") < 15 {
		t.Fatalf("only\n%s", all)
	}
	// Pages put together are the list.
	var paged string
	for query := "?limit=4"; query != ""; {
		part, page := list(query)
		if paged += part; strings.Count(part, "\n") > 4 {
			t.Fatalf("a page of\n%s", part)
		}
		if query = ""; page.Cursor != "" {
			query = "?limit=4&cursor=" + url.QueryEscape(page.Cursor)
		}
	}
	if paged != all {
		t.Errorf("in pages\n%s\nat once\n%s", paged, all)
	}
	for query, want := range map[string]string{
		"?pod=shop/web-a":                          "10 leaves shop/web-an1\n40 gone shop/web-an1\n",
		"?kind=drainBegins,drainEnds":              "10 drainBegins n1\n40 drainEnds n1\n",
		"?node=n1&until=10s":                       "",
		"?node=n1&since=40&kind=gone&until=41":     "40 gone shop/api-an1\n40 gone shop/web-an1\n",
		"?workload=Deployment/web&kind=leaves":     "10 leaves shop/web-an1\n",
		"?workload=Deployment/api&kind=leaves":     "10 leaves shop/api-an1\n",
		"?workload=ReplicaSet/web&kind=leaves":     "300 leaves shop/web-xn2\n",
		"?namespace=other&kind=leaves":             "",
		"?workload=Deployment/none&namespace=shop": "",
	} {
		if got, _ := list(query); got != want {
			t.Errorf("%s\n%s\nwant\n%s", query, got, want)
		}
	}
	drain := clockJob(t, h, jobs, "/v1/clusters/prod/drains", `{"nodes":["n1"],"timeline":true}`)
	if a := h.want(http.StatusOK, nil, "GET", "/v1/simulations/"+drain+"/timeline?kind=cordoned", ""); !strings.Contains(string(a.body), `"node":"n1"`) {
		t.Errorf("%s", a.body)
	}
	plain := clockJob(t, h, jobs, "/v1/simulations", `{"base":"prod@latest","arrivals":{"pending":true}}`)
	var queued simulations.Job
	h.want(http.StatusAccepted, &queued, "POST", "/v1/simulations", `{"base":"prod@latest","clock":true,"wait":"0s"}`)
	for path, want := range map[string]struct {
		status int
		text   string
	}{
		base + "?kind=bund":                          {400, `kind: \"bund\" happens in no timeline: want of created, `},
		base + "?pod=web":                            {400, "pod: want a pod as namespace/name"},
		base + "?workload=web":                       {400, "workload: want a workload as Kind/name"},
		base + "?since=soon":                         {400, "since: want a time since the start in whole seconds"},
		base + "?since=5m&until=1m":                  {400, "until: want a time after since"},
		base + "?limit=0":                            {400, "limit: "},
		base + "?cursor=x":                           {400, "cursor: "},
		"/v1/simulations/x/timeline":                 {400, "id: "},
		"/v1/simulations/" + plain + "/timeline":     {422, "had no clock (clock: true)"},
		"/v1/simulations/" + queued.ID + "/timeline": {409, "is not done: it is queued"},
		"/v1/simulations/00000000-0000-7000-8000-000000000000/timeline": {404, "not found"},
	} {
		if a := h.want(want.status, nil, "GET", path, ""); !strings.Contains(string(a.body), want.text) {
			t.Errorf("%s: %s\nwant %s", path, a.body, want.text)
		}
	}
	if _, err := scenario.Seconds("at", "1.5s"); err == nil {
		t.Error("a time that is no whole second")
	}
}
