package handlers

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"berth/internal/handlers/admit"
	"berth/internal/jobs/simulations"
	"berth/internal/store"
)

// TestJobsAnswerAsCalls asks each kind of question in a call and as a job, and wants the same
// bytes.
func TestJobsAnswerAsCalls(t *testing.T) {
	var jobs *simulations.Jobs
	h := start(t, func(o *admit.Options) { jobs = o.Simulations.(*simulations.Jobs) })
	h.upload("prod", listOf(node("n1", "4"), node("n2", "4"), pod("first", "1", ""), owned("second", "n1"), pod("huge", "9", "")))
	const both = `"profiles":[{"name":"today"},{"name":"packed","config":` + mostAllocated + `}]`
	deployment := `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"api"},"spec":{"replicas":2,"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"1"}}}]}}}}`
	for path, body := range map[string]string{
		"/v1/simulations?fieldValidation=Warn":              `{"base":"prod@latest","arrivals":{"pending":true,"workloads":[{"pod":` + strings.Replace(pod("w", "1", ""), `"spec":{`, `"spec":{"unknown":1,`, 1) + `,"count":2}]},"keep":"decisions",` + both,
		"/v1/clusters/prod/fit":                             `{"pod":` + pod("x", "1", ""),
		"/v1/clusters/prod/pools":                           `{"pools":[{"like":"n1"}]`,
		"/v1/clusters/prod/drains":                          `{"nodes":["n1"],"force":true`,
		"/v1/clusters/prod/losses":                          `{"nodes":["n1"]`,
		"/v1/clusters/prod/losses?now=2026-01-02T00:00:00Z": `{"each":"node"`,
		"/v1/clusters/prod/rollouts":                        `{"deployment":` + deployment,
	} {
		at := h.want(http.StatusOK, nil, "POST", path, body+`,"wait":"1m"}`)
		if plain := h.want(http.StatusOK, nil, "POST", path, body+`}`); string(plain.body) != string(at.body) {
			t.Errorf("%s with wait\n%s\nwithout\n%s", path, at.body, plain.body)
		}
		var job simulations.Job
		a := h.want(http.StatusAccepted, &job, "POST", path, body+`,"wait":"0s"}`)
		if job.State != store.JobQueued || job.Snapshot != "prod@1" || a.Header.Get("Location") != "/v1/simulations/"+job.ID {
			t.Fatalf("%s %v", a.body, a.Header)
		}
		// The cluster goes on, and the job is about what it was.
		h.want(http.StatusCreated, nil, "POST", "/v1/snapshots/prod@latest/changes", `{"apply":[`+pod("later", "3", "")+`]}`)
		if worked, err := jobs.Step(t.Context(), h.api.RunSimulation); !worked || err != nil {
			t.Fatal(worked, err)
		}
		h.want(http.StatusOK, &job, "GET", "/v1/simulations/"+job.ID, "")
		if job.State != store.JobDone || string(job.Result)+"\n" != string(at.body) {
			t.Errorf("%s as a job: %s %s\n%s\nin a call\n%s", path, job.State, job.Reason, job.Result, at.body)
		}
		h.want(http.StatusConflict, nil, "DELETE", "/v1/snapshots/prod@1", "")
		h.want(http.StatusNoContent, nil, "DELETE", "/v1/simulations/"+job.ID, "")
		h.want(http.StatusNotFound, nil, "GET", "/v1/simulations/"+job.ID, "")
		h.want(http.StatusNoContent, nil, "DELETE", "/v1/clusters/prod", "")
		h.upload("prod", listOf(node("n1", "4"), node("n2", "4"), pod("first", "1", ""), owned("second", "n1"), pod("huge", "9", "")))
	}
}

func TestJobsAreBoundedAndEnd(t *testing.T) {
	var jobs *simulations.Jobs
	h := start(t, func(o *admit.Options) { jobs = o.Simulations.(*simulations.Jobs) })
	for _, c := range []string{"a", "b"} {
		h.upload(c, listOf(node("n1", "4")))
	}
	begin := func(cluster, pod string) (job simulations.Job) {
		t.Helper()
		h.want(http.StatusAccepted, &job, "POST", "/v1/simulations", `{"base":"`+cluster+`@1","wait":"0s","arrivals":{"pods":[{"pod":`+pod+`}]}}`)
		return job
	}
	good := pod("x", "1", "")
	list := []simulations.Job{begin("a", pod("x", "-1", "")), begin("a", good)}
	refused := func(limit, cluster string) {
		t.Helper()
		if a := h.want(http.StatusTooManyRequests, nil, "POST", "/v1/simulations", `{"base":"`+cluster+`@1","wait":"0s","arrivals":{"pods":[{"pod":`+good+`}]}}`); !strings.Contains(string(a.body), limit) {
			t.Errorf("%s", a.body)
		}
	}
	refused(`"scenario-jobs-per-cluster"`, "a")
	list = append(list, begin("b", good))
	refused(`"scenario-jobs"`, "b")
	another, err := jobs.Start(t.Context(), &simulations.Question{Cluster: "a", Revision: 1, Kind: "drains", AskedBy: "token:another"})
	if err != nil {
		t.Errorf("the first job of another caller: %v", err)
	}
	if err := jobs.Delete(t.Context(), another.ID); err != nil {
		t.Error(err)
	}

	get := func(i int) (job simulations.Job) {
		t.Helper()
		h.want(http.StatusOK, &job, "GET", "/v1/simulations/"+list[i].ID, "")
		return job
	}
	if _, err := jobs.Step(t.Context(), h.api.RunSimulation); err != nil {
		t.Fatal(err)
	}
	if got := get(0); got.State != store.JobFailed || !strings.Contains(got.Reason, "arrivals.pods[0].pod.spec.containers[0].resources") || got.EndedAt == nil {
		t.Errorf("%+v", got)
	}
	// A replica under another configuration does not answer for this one.
	other := start(t, func(o *admit.Options) { o.TolerationSeconds = true })
	other.upload("a", listOf(node("n1", "4")))
	_, err = jobs.Step(t.Context(), other.api.RunSimulation)
	if got := get(1); err != nil || got.State != store.JobFailed || !strings.Contains(got.Reason, "another version or configuration") {
		t.Errorf("%+v, %v", got, err)
	}
	for range 2 {
		h.want(http.StatusOK, nil, "POST", "/v1/simulations/"+list[2].ID+"/cancel", "")
	}
	if got := get(2); got.State != store.JobCancelled {
		t.Errorf("%+v", got)
	}
	if worked, err := jobs.Step(t.Context(), h.api.RunSimulation); worked || err != nil {
		t.Errorf("a job that has ended was worked on: %v", err)
	}
	var page struct {
		Items  []simulations.Job
		Cursor string
	}
	h.want(http.StatusOK, &page, "GET", "/v1/simulations?cluster=a&limit=1", "")
	if len(page.Items) != 1 || page.Items[0].ID != list[1].ID || page.Cursor == "" {
		t.Errorf("%+v", page)
	}
	h.want(http.StatusBadRequest, nil, "GET", "/v1/simulations/x", "")
	for want, wait := range map[string]string{"wait: want a duration from 0s to": `"1h"`, "wait: ": `"soon"`, "from 0s": `"-1s"`} {
		a := h.do("POST", "/v1/clusters/a/losses", `{"nodes":["n1"],"wait":`+wait+`}`)
		if a.StatusCode/100 != 4 || !strings.Contains(string(a.body), want) {
			t.Errorf("%s", a.body)
		}
	}
	begin("b", good)
	h.want(http.StatusNoContent, nil, "DELETE", "/v1/clusters/b", "")
	h.want(http.StatusNotFound, nil, "GET", "/v1/simulations?cluster=b", "")
}

// TestWaitThatEndsGoesOnAsAJob ends a call's wait after its first configuration, and wants the job
// to begin with the second.
func TestWaitThatEndsGoesOnAsAJob(t *testing.T) {
	var jobs *simulations.Jobs
	h := start(t, func(o *admit.Options) { jobs = o.Simulations.(*simulations.Jobs) })
	h.upload("prod", listOf(node("n1", "400"), node("n2", "400")))
	body := `{"base":"prod@1","arrivals":{"workloads":[{"pod":` + pod("w", "10m", "") + `,"count":60000}]},"profiles":[{"name":"a"},{"name":"b"}]`
	var job simulations.Job
	h.want(http.StatusAccepted, &job, "POST", "/v1/simulations", body+`,"wait":"1ms"}`)
	if _, err := jobs.Step(t.Context(), h.api.RunSimulation); err != nil {
		t.Fatal(err)
	}
	h.want(http.StatusOK, &job, "GET", "/v1/simulations/"+job.ID, "")
	var out struct{ Profiles []struct{ Placed int } }
	if err := json.Unmarshal(job.Result, &out); err != nil || len(out.Profiles) != 2 || out.Profiles[1].Placed == 0 {
		t.Fatalf("%+v, %v", job, err)
	}
	if len(job.Progress) != 2 || job.Progress[1].Done != 60000 || job.Progress[1].Total != 60000 {
		t.Errorf("%+v", job.Progress)
	}
	if metrics := string(h.want(http.StatusOK, nil, "GET", "/metrics", "").body); !strings.Contains(metrics, `berth_simulations_total{result="done"} 1`) || !strings.Contains(metrics, `berth_simulations_total{result="interrupted"} 1`) || !strings.Contains(metrics, "berth_simulations_in_progress 0") {
		t.Errorf("metrics:\n%s", metrics)
	}
}

var _ simulations.Runner = (&API{}).RunSimulation

// TestJobKeepsItsPriorityClasses deletes the class that a pod of a job names before it is run.
func TestJobKeepsItsPriorityClasses(t *testing.T) {
	var jobs *simulations.Jobs
	h := start(t, func(o *admit.Options) { jobs = o.Simulations.(*simulations.Jobs) })
	h.upload("prod", listOf(node("n1", "4"), pod("low", "1", `,"nodeName":"n1"`)))
	const class = "/v1/priorityclasses"
	h.want(http.StatusCreated, nil, "POST", class+"?cluster=prod", `{"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","metadata":{"name":"high"},"value":1000}`)
	body := `{"base":"prod@1","arrivals":{"pods":[{"pod":` + pod("x", "4", `,"priorityClassName":"high"`) + `}]},"keep":"moves","wait":`
	want := h.want(http.StatusOK, nil, "POST", "/v1/simulations", body+`"1m"}`)
	var job simulations.Job
	h.want(http.StatusAccepted, &job, "POST", "/v1/simulations", body+`"0s"}`)
	h.want(http.StatusOK, nil, "DELETE", class+"/high?cluster=prod", "")
	if _, err := jobs.Step(t.Context(), h.api.RunSimulation); err != nil {
		t.Fatal(err)
	}
	h.want(http.StatusOK, &job, "GET", "/v1/simulations/"+job.ID, "")
	if string(job.Result)+"\n" != string(want.body) || !strings.Contains(string(job.Result), `"victims":["shop/low"]`) {
		t.Errorf("%s %s\n%s\nwant\n%s", job.State, job.Reason, job.Result, want.body)
	}
}
