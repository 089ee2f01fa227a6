package handlers

import (
	"strings"
	"testing"

	"berth/internal/handlers/admit"
	"berth/internal/handlers/exchange"
	"berth/internal/handlers/rest"
	"berth/internal/jobs/replays"
)

// mostAllocated is a configuration that scores otherwise than the default.
const mostAllocated = `{"apiVersion":"kubescheduler.config.k8s.io/v1","kind":"KubeSchedulerConfiguration","profiles":[
	{"pluginConfig":[{"name":"NodeResourcesFit","args":{"scoringStrategy":{"type":"MostAllocated","resources":[{"name":"cpu","weight":1}]}}}]}]}`

func TestBatchReplays(t *testing.T) {
	var jobs *replays.Jobs
	h := start(t, func(o *admit.Options) { jobs = o.Replays.(*replays.Jobs) })
	work := func() {
		t.Helper()
		for w := jobs.Worker(); ; {
			if worked, err := w.Step(t.Context()); err != nil {
				t.Fatal(err)
			} else if !worked {
				return
			}
		}
	}
	h.upload("prod", listOf(node("n1", "8"), node("n2", "4"), node("n3", "2")))
	for _, name := range []string{"a", "b", "c"} {
		h.want(201, nil, "POST", "/v1/decisions", `{"snapshot":"prod@latest","bind":true,"pod":`+pod(name, "1", "")+`}`)
	}
	var job, again replays.Job
	a := h.want(201, &job, "POST", "/v1/replays", `{"cluster":"prod","since":"2020-01-01T00:00:00Z"}`)
	if job.State != "queued" || job.Total != 3 || job.Done != 0 || job.Cluster != "prod" || a.Header.Get("Location") != "/v1/replays/"+job.ID {
		t.Fatalf("%s %v", a.body, a.Header)
	}
	work()
	h.want(200, &job, "GET", "/v1/replays/"+job.ID, "")
	if job.State != "done" || job.Done != 3 || job.Identical != 3 || job.Different != 0 || job.Errors != 0 || job.EndedAt == nil {
		t.Fatalf("%+v", job)
	}
	var list rest.BatchDifferenceList
	h.want(200, &list, "GET", "/v1/replays/"+job.ID+"/differences", "")
	if len(list.Items) != 0 || list.Cursor != "" {
		t.Fatalf("%+v", list)
	}

	h.want(201, &job, "POST", "/v1/replays", `{"cluster":"prod","config":`+mostAllocated+`}`)
	work()
	h.want(200, &job, "GET", "/v1/replays/"+job.ID, "")
	if job.State != "done" || job.Different != 3 {
		t.Fatalf("%+v", job)
	}
	var pods []string
	for at := "/v1/replays/" + job.ID + "/differences?limit=2"; ; {
		h.want(200, &list, "GET", at, "")
		for _, d := range list.Items {
			pods = append(pods, d.Pod.Name)
			if d.Verb != "decide" || len(d.Differences) == 0 || d.Snapshot == "" || d.Error != "" {
				t.Errorf("%+v", d)
			}
		}
		if list.Cursor == "" {
			break
		}
		at = "/v1/replays/" + job.ID + "/differences?limit=2&cursor=" + list.Cursor
		list = rest.BatchDifferenceList{}
	}
	if got := strings.Join(pods, " "); got != "a b c" {
		t.Errorf("differences of %s", got)
	}

	// YAML in a string is another way to say it; and cancelling twice is once.
	h.want(201, &job, "POST", "/v1/replays", `{"cluster":"prod","config":"apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"}`)
	for range 2 {
		h.want(200, &again, "POST", "/v1/replays/"+job.ID+"/cancel", "")
		if again.State != "cancelled" || again.ID != job.ID {
			t.Errorf("%+v", again)
		}
	}
	work()
	var page rest.BatchList
	h.want(200, &page, "GET", "/v1/replays?cluster=prod&limit=2", "")
	if len(page.Items) != 2 || page.Items[0].ID != job.ID || page.Items[0].State != "cancelled" || page.Cursor == "" {
		t.Fatalf("%+v", page)
	}
	next := page.Cursor
	page = rest.BatchList{}
	h.want(400, nil, "GET", "/v1/replays?limit=2&cursor="+next, "") // of the list of another filter
	h.want(200, &page, "GET", "/v1/replays?cluster=prod&limit=2&cursor="+next, "")
	if len(page.Items) != 1 || page.Items[0].State != "done" || page.Cursor != "" {
		t.Fatalf("%+v", page)
	}
	h.want(204, nil, "DELETE", "/v1/replays/"+job.ID, "")
	h.want(404, nil, "GET", "/v1/replays/"+job.ID, "")
	h.want(404, nil, "DELETE", "/v1/replays/"+job.ID, "")
}

func TestBatchReplaysRefused(t *testing.T) {
	h := start(t, nil)
	h.upload("prod", listOf(node("n1", "8")))
	h.want(201, nil, "POST", "/v1/decisions", `{"snapshot":"prod@latest","pod":`+pod("a", "1", "")+`}`)
	none := "01a1fcf1-7109-714c-aabc-23785be91e09"
	for _, tt := range []struct {
		name, method, path, body string
		status                   int
		field                    string
	}{
		{"no body", "POST", "/v1/replays", "", 400, ""},
		{"no cluster", "POST", "/v1/replays", `{}`, 400, "cluster"},
		{"a cluster's name", "POST", "/v1/replays", `{"cluster":"Prod"}`, 400, "cluster"},
		{"an unknown cluster", "POST", "/v1/replays", `{"cluster":"nowhere"}`, 404, "cluster"},
		{"an unknown field", "POST", "/v1/replays", `{"cluster":"prod","form":1}`, 400, "form"},
		{"no time", "POST", "/v1/replays", `{"cluster":"prod","since":"yesterday"}`, 400, "since"},
		{"no time either", "POST", "/v1/replays", `{"cluster":"prod","until":"7d"}`, 400, "until"},
		{"a time before all", "POST", "/v1/replays", `{"cluster":"prod","since":"0001-01-01T00:00:00Z"}`, 422, "since"},
		{"backwards", "POST", "/v1/replays", `{"cluster":"prod","since":"2026-02-01T00:00:00Z","until":"2026-01-01T00:00:00Z"}`, 422, "since"},
		{"an unknown profile", "POST", "/v1/replays", `{"cluster":"prod","profile":"none"}`, 422, "profile"},
		{"a configuration", "POST", "/v1/replays", `{"cluster":"prod","config":{"kind":"Pod"}}`, 422, "config"},
		{"no configuration", "POST", "/v1/replays", `{"cluster":"prod","config":7}`, 400, "config"},
		{"an unknown batch", "GET", "/v1/replays/" + none, "", 404, ""},
		{"an unknown batch's differences", "GET", "/v1/replays/" + none + "/differences", "", 404, ""},
		{"cancelling an unknown batch", "POST", "/v1/replays/" + none + "/cancel", "", 404, ""},
		{"no id", "GET", "/v1/replays/7", "", 400, "id"},
		{"a cursor", "GET", "/v1/replays?cursor=7", "", 400, "cursor"},
		{"another cursor", "GET", "/v1/replays/" + none + "/differences?cursor=7", "", 400, "cursor"},
		{"a cluster's name in a list", "GET", "/v1/replays?cluster=A", "", 400, "cluster"},
		{"a parameter", "GET", "/v1/replays?state=done", "", 400, "state"},
	} {
		var p exchange.Problem
		a := h.want(tt.status, &p, tt.method, tt.path, tt.body)
		if tt.field != "" && (len(p.Errors) != 1 || p.Errors[0].Field != tt.field) {
			t.Errorf("%s: %s", tt.name, a.body)
		}
	}
	for range 3 {
		h.want(201, nil, "POST", "/v1/replays", `{"cluster":"prod"}`)
	}
	var p exchange.Problem
	if a := h.want(429, &p, "POST", "/v1/replays", `{"cluster":"prod"}`); p.Limit != "replay-jobs" || a.Header.Get("Retry-After") == "" {
		t.Errorf("%s", a.body)
	}
}
