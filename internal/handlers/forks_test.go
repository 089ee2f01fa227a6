package handlers

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"berth/internal/access"
	"berth/internal/audit"
	"berth/internal/decision"
	"berth/internal/handlers/admit"
	"berth/internal/handlers/rest"
	"berth/internal/report"
)

// TestFork: a copy has what its source had, is decided and replayed like any cluster, and outlives
// the source.
func TestFork(t *testing.T) {
	h := start(t, nil)
	h.upload("prod", listOf(node("n1", "8"), node("n2", "4")))
	h.want(201, nil, "POST", "/v1/decisions", `{"snapshot":"prod@latest","bind":true,"pod":`+pod("before", "6", "")+`}`)
	var first rest.Snapshot
	h.want(200, &first, "GET", "/v1/snapshots/prod@1", "")
	var made rest.Snapshot
	a := h.want(201, &made, "POST", "/v1/clusters/copy/fork", `{"from":"prod@1"}`)
	if made.ID != "copy@1" || made.Digest != first.Digest || made.Cause != "fork" || made.Objects["Node"] != 2 || a.Header.Get("Location") != "/v1/snapshots/copy@1" {
		t.Errorf("%s", a.body)
	}
	h.want(201, nil, "POST", "/v1/clusters/second/fork", `{"from":"prod@latest"}`)
	var d decision.Answer
	h.want(201, &d, "POST", "/v1/decisions", `{"snapshot":"copy@latest","bind":true,"pod":`+pod("own", "7", "")+`}`)
	if d.Node != "n1" || d.Cluster != "copy" { // where prod has the pod of before
		t.Errorf("%+v", d)
	}
	h.want(201, nil, "POST", "/v1/snapshots/second@1/changes", `{"delete":[{"kind":"Node","name":"n1"}]}`)
	var diff report.Diff
	h.want(200, &diff, "GET", "/v1/snapshots/prod@1/diff?to=copy@1", "")
	if len(diff.Kinds) > 0 {
		t.Errorf("the copy differs: %+v", diff)
	}
	h.want(204, nil, "DELETE", "/v1/clusters/prod", "")
	var replay struct{ Identical bool }
	h.want(200, &replay, "POST", "/v1/decisions/"+d.ID+"/replay", `{}`)
	if !replay.Identical {
		t.Error("a decision on the copy is another one once the source is gone")
	}
	for _, name := range []string{"copy", "second"} {
		var r audit.Report
		h.want(200, &r, "GET", "/v1/clusters/"+name+"/audit", "")
		if len(r.Findings) > 0 {
			t.Errorf("%s: %+v", name, r.Findings)
		}
		h.want(204, nil, "DELETE", "/v1/clusters/"+name, "")
	}
	if got := h.written(); got != "" {
		t.Errorf("there is %s", got)
	}
}

func TestForkIsRefused(t *testing.T) {
	h := start(t, func(o *admit.Options) {
		o.Followed = func(cluster string) bool { return cluster == "live" }
		o.Limits.MaxClusters = 3
	})
	h.upload("prod", small())
	h.upload("other", small())
	for what, c := range map[string]struct {
		status            int
		name, body, field string
		says              []string
	}{
		"a cluster that is there": {409, "other", `{"from":"prod@1"}`, "cluster", []string{"cluster other@1 exists", "DELETE /v1/clusters/other"}},
		"the source":              {409, "prod", `{"from":"prod@1"}`, "cluster", []string{"cluster prod@1 exists"}},
		"followed":                {409, "live", `{"from":"prod@1"}`, "cluster", []string{"followed", "another name"}},
		"no name":                 {400, "A%20B", `{"from":"prod@1"}`, "cluster", nil},
		"nothing":                 {400, "new", `{}`, "from", []string{"prod@latest"}},
		"no id":                   {400, "new", `{"from":"prod"}`, "from", nil},
		"misspelt":                {400, "new", `{"form":"prod@1"}`, "", []string{"form"}},
		"no such revision":        {404, "new", `{"from":"prod@7"}`, "", []string{"prod@7"}},
		"no such cluster":         {404, "new", `{"from":"gone@latest"}`, "", []string{`"gone"`}},
	} {
		p := h.problem(c.status, "POST", "/v1/clusters/"+c.name+"/fork", c.body)
		if c.field != "" && (len(p.Errors) != 1 || p.Errors[0].Field != c.field) {
			t.Errorf("%s: %+v", what, p)
		}
		for _, text := range c.says {
			if !strings.Contains(p.Detail, text) {
				t.Errorf("%s: %s lacks %s", what, p.Detail, text)
			}
		}
	}
	h.want(201, nil, "POST", "/v1/clusters/new/fork", `{"from":"prod@1"}`)
	if p := h.problem(413, "POST", "/v1/clusters/more/fork", `{"from":"prod@1"}`); p.Limit != "max-clusters" {
		t.Errorf("%+v", p)
	}
}

// TestForkNeedsBothClusters: the source is read as a whole, and the copy written.
func TestForkNeedsBothClusters(t *testing.T) {
	g := startGuarded(t)
	g.upload("prod", small())
	for name, c := range map[string]struct {
		grants access.Grants
		want   int
	}{
		"the-copy":         {access.Grants{granted("admin", "copy*", "*")}, http.StatusNotFound},
		"of-one-namespace": {access.Grants{granted("admin", "copy*", "*"), granted("viewer", "prod", "shop")}, http.StatusForbidden},
		"the-source":       {access.Grants{granted("admin", "prod", "*")}, http.StatusNotFound},
		"a-viewer":         {access.Grants{granted("viewer", "*", "*")}, http.StatusForbidden},
		"both":             {access.Grants{granted("admin", "copy*", "*"), granted("viewer", "prod", "*")}, http.StatusCreated},
	} {
		_, secret, err := g.callers.Tokens.Create(t.Context(), name, c.grants, time.Time{}, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		if w := g.as(bearing(secret), "POST", "/v1/clusters/copy-"+name+"/fork", `{"from":"prod@1"}`); w.Code != c.want {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
	}
}

func granted(role, cluster, namespace string) access.Grant {
	return access.Grant{Role: role, Clusters: []string{cluster}, Namespaces: []string{namespace}}
}
