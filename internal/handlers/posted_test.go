package handlers

import (
	"net/http"
	"strings"
	"testing"

	"berth/internal/decision"
	"berth/internal/handlers/exchange"
	"berth/internal/handlers/rest"
)

const misspelt = `{"metadata":{"name":"web"},"spec":{"nodeSelectr":{"disk":"ssd"},"containers":[{"name":"c","requests":{"cpu":"1"}}]}}`

// A misspelt field is refused by name wherever objects are posted one by one; before, the pod was
// placed as if it needed nothing.
func TestMisspeltFieldsAreRefused(t *testing.T) {
	h := start(t, nil)
	h.upload("default", listOf(node("n1", "4")))
	const where = "spec.nodeSelectr: unknown field: did you mean nodeSelector?; "
	const alsoWhere = "spec.containers[0].requests: unknown field: did you mean resources.requests?"
	for _, c := range []struct{ name, method, path, body, want string }{
		{"decision", "POST", "/v1/decisions", `{"pod":` + misspelt + `}`, "pod." + where + "pod." + alsoWhere},
		{"change", "POST", "/v1/snapshots/default@latest/changes", `{"apply":[{"apiVersion":"v1","kind":"Pod",` + misspelt[1:] + `]}`, "apply[0]." + where + "apply[0]." + alsoWhere},
		{"admission", "POST", "/v1/pods/admission", `{"operation":"CREATE","pod":` + misspelt + `}`, "pod." + where + "pod." + alsoWhere},
		{"lifecycle", "POST", "/v1/pods/lifecycle", `{"pod":` + misspelt + `}`, "pod." + where + "pod." + alsoWhere},
		{"node of a lifecycle", "POST", "/v1/pods/lifecycle", `{"pod":{"spec":{"containers":[{"name":"c"}]}},"node":{"spec":{"unschedulabel":true}}}`, "node.spec.unschedulabel: unknown field: did you mean unschedulable?"},
		{"termination", "POST", "/v1/pods/termination", `{"cause":"delete","pod":` + misspelt + `}`, "pod." + where + "pod." + alsoWhere},
		{"eviction ranking", "POST", "/v1/nodes/eviction-ranking", `{"signal":"memory","pods":[{"pod":` + misspelt + `}]}`, "pods[0].pod." + where + "pods[0].pod." + alsoWhere},
		{"priority class", "POST", "/v1/priorityclasses", `{"metadata":{"name":"high"},"valeu":1}`, "valeu: unknown field: did you mean value?"},
		{"strict upload", "POST", "/v1/snapshots?fieldValidation=Strict", listOf(`{"apiVersion":"v1","kind":"Pod",` + misspelt[1:]), "items[0]." + where + "items[0]." + alsoWhere},
		{"a template", "POST", "/v1/decisions", `{"pod":{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web"},"spec":{"template":` + misspelt + `}}}`, "pod.spec.template." + where + "pod.spec.template." + alsoWhere},
	} {
		t.Run(c.name, func(t *testing.T) {
			var p exchange.Problem
			h.want(http.StatusBadRequest, &p, c.method, c.path, c.body)
			if !strings.HasPrefix(p.Detail, c.want) || p.Type != "urn:berth:problem:unknown-field" || !strings.Contains(p.Detail, "fieldValidation=Warn") {
				t.Errorf("got  %s: %s\nwant %s", p.Type, p.Detail, c.want)
			}
		})
	}
}

func TestFieldValidation(t *testing.T) {
	h := start(t, nil)
	h.upload("default", listOf(node("n1", "4")))
	var ans decision.Answer
	got := h.want(http.StatusOK, &ans, "POST", "/v1/decisions?fieldValidation=Warn", `{"dryRun":true,"pod":`+misspelt+`}`)
	if len(ans.Warnings) != 2 || ans.Warnings[0] != "pod.spec.nodeSelectr: unknown field: did you mean nodeSelector?" || len(got.Header.Values("Warning")) != 2 {
		t.Errorf("warnings %q, headers %q", ans.Warnings, got.Header.Values("Warning"))
	}
	warned := ans.Digest
	ans = decision.Answer{}
	h.want(http.StatusOK, &ans, "POST", "/v1/decisions?fieldValidation=Ignore", `{"dryRun":true,"pod":`+misspelt+`}`)
	if ans.Warnings != nil || ans.Digest != warned {
		t.Errorf("warnings %q, digest %s and %s", ans.Warnings, ans.Digest, warned)
	}
	var p exchange.Problem
	h.want(http.StatusBadRequest, &p, "POST", "/v1/decisions?fieldValidation=strict", `{}`)
	if p.Detail != "fieldValidation: want Strict, Warn or Ignore" {
		t.Error(p.Detail)
	}
	// An upload, which may come from another version, is taken and counts what was left out.
	var s rest.Snapshot
	h.want(http.StatusCreated, &s, "POST", "/v1/snapshots?cluster=other", listOf(node("n1", "4"), `{"apiVersion":"v1","kind":"Pod",`+misspelt[1:]))
	if len(s.UnknownFields) != 2 || s.UnknownFields["Pod.spec.nodeSelectr"] != 1 || s.UnknownFields["Pod.spec.containers[].requests"] != 1 || s.Warnings != nil {
		t.Errorf("%v, %v", s.UnknownFields, s.Warnings)
	}
}

func TestNearestFieldsOfOurs(t *testing.T) {
	h := start(t, nil)
	var p exchange.Problem
	h.want(http.StatusBadRequest, &p, "POST", "/v1/decisions", `{"snapsot":"default@1"}`)
	if p.Detail != `unknown field "snapsot": did you mean snapshot?` || p.Errors[0].Field != "snapsot" {
		t.Errorf("%s, %v", p.Detail, p.Errors)
	}
	h.want(http.StatusBadRequest, &p, "POST", "/v1/snapshots?clutser=test", `{}`)
	if p.Detail != "clutser: unknown parameter: did you mean cluster?" {
		t.Error(p.Detail)
	}
	h.want(http.StatusBadRequest, &p, "POST", "/v1/decisions", `{"podRef":{"name":"a","name":"b"}}`)
	if p.Detail != `duplicate field "podRef.name"` {
		t.Error(p.Detail)
	}
}

func TestQuantityHints(t *testing.T) {
	h := start(t, nil)
	h.upload("default", listOf(node("n1", "4")))
	var p exchange.Problem
	const four = `{"metadata":{"name":"web"},"spec":{"containers":[{"name":"c","resources":{"requests":{"memory":"4GB"}}}]}}`
	h.want(http.StatusUnprocessableEntity, &p, "POST", "/v1/decisions", `{"pod":`+four+`}`)
	if !strings.Contains(p.Detail, "requests[memory]") || !strings.HasSuffix(p.Detail, "did you mean 4G or 4Gi?") {
		t.Error(p.Detail)
	}
	h.want(http.StatusBadRequest, &p, "POST", "/v1/pods/lifecycle", `{"pod":`+four+`}`)
	if !strings.HasSuffix(p.Detail, "did you mean 4G or 4Gi?") {
		t.Error(p.Detail)
	}
}

// One pod of a workload is placed under the name that its controller would give it.
func TestWorkloadInPlaceOfAPod(t *testing.T) {
	h := start(t, nil)
	h.upload("default", listOf(node("n1", "4")))
	const deployment = `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","namespace":"shop"},"spec":{"replicas":3,"selector":{"matchLabels":{"app":"web"}},
		"template":{"metadata":{"labels":{"app":"web"}},"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"CPU"}}}]}}}}`
	ask := func(cpu string) string { return `{"pod":` + strings.Replace(deployment, "CPU", cpu, 1) + `}` }
	var first, again decision.Answer
	h.want(http.StatusCreated, &first, "POST", "/v1/decisions", ask("1"))
	h.want(http.StatusCreated, &again, "POST", "/v1/decisions", ask("1"))
	if first.Node != "n1" || first.Pod.Namespace != "shop" || !strings.HasPrefix(first.Pod.Name, "web-") || strings.Count(first.Pod.Name, "-") != 2 || again.PodDigest != first.PodDigest {
		t.Errorf("%+v", first.Pod)
	}
	if len(first.Warnings) != 1 || first.Warnings[0] != "pod: the answer is for one of 3 replicas" {
		t.Errorf("%q", first.Warnings)
	}
	var p exchange.Problem
	h.want(http.StatusUnprocessableEntity, &p, "POST", "/v1/decisions", ask("one"))
	if !strings.Contains(p.Detail, "spec.template.spec.containers[0].resources.requests[cpu]") {
		t.Error(p.Detail)
	}
	for _, c := range []struct{ path, body string }{
		{"/v1/pods/lifecycle", ask("1")},
		{"/v1/pods/termination", `{"cause":"delete",` + ask("1")[1:]},
		{"/v1/pods/admission", `{"operation":"CREATE",` + ask("1")[1:]},
	} {
		var out struct{ Warnings []string }
		if h.want(http.StatusOK, &out, "POST", c.path, c.body); len(out.Warnings) != 1 {
			t.Errorf("%s: %q", c.path, out.Warnings)
		}
	}
}

// A plugin's name that is misspelt among the disabled is no error upstream, and changes nothing.
func TestConfigurationWarnings(t *testing.T) {
	const config = `"config":{"apiVersion":"kubescheduler.config.k8s.io/v1","kind":"KubeSchedulerConfiguration","profiles":[{"plugins":{"score":{"disabled":[{"name":"NodeResourcesFitt"}]}}}]}`
	const pod = `"pod":{"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i"}]}}`
	h := start(t, nil)
	h.upload("prod", listOf(node("n1", "4")))
	var first decision.Answer
	h.want(http.StatusCreated, &first, "POST", "/v1/decisions", `{"snapshot":"prod@latest",`+pod+`}`)
	for name, c := range map[string]struct {
		path, body, at string
		status         int
		silent         bool // the answer's body has no place for warnings
	}{
		"decision":   {"/v1/decisions", `{"snapshot":"prod@latest",` + pod + `,` + config + `}`, "config", http.StatusCreated, false},
		"preview":    {"/v1/previews", `{"objects":` + listOf(node("n1", "4")) + `,` + pod + `,` + config + `}`, "config", http.StatusOK, false},
		"replay":     {"/v1/decisions/" + first.ID + "/replay", `{` + config + `}`, "config", http.StatusOK, true},
		"job":        {"/v1/replays", `{"cluster":"prod",` + config + `}`, "config", http.StatusCreated, true},
		"simulation": {"/v1/simulations", `{"base":"prod@1","arrivals":{"pending":true},"profiles":[{"name":"a"},{"name":"b",` + config + `}]}`, "profiles[1].config", http.StatusOK, false},
		"fit":        {"/v1/clusters/prod/fit", `{` + pod + `,` + config + `}`, "config", http.StatusOK, false},
	} {
		var answer struct{ Warnings []string }
		got := h.want(c.status, &answer, "POST", c.path, c.body)
		want := c.at + ".profiles[0].plugins.score.disabled[0]: "
		header := got.Header.Values("Warning")
		if len(header) != 1 || !strings.HasPrefix(header[0], `299 - "`+want) {
			t.Errorf("%s: headers %q", name, header)
		}
		if !c.silent && (len(answer.Warnings) != 1 || !strings.HasPrefix(answer.Warnings[0], want)) {
			t.Errorf("%s: warnings %q", name, answer.Warnings)
		}
		if name == "job" {
			continue // it has no fieldValidation, since no object comes with it
		}
		answer.Warnings = nil
		got = h.want(c.status, &answer, "POST", c.path+"?fieldValidation=Ignore", c.body)
		if len(answer.Warnings)+len(got.Header.Values("Warning")) > 0 {
			t.Errorf("%s: warnings %q and headers %q of a request that wants none", name, answer.Warnings, got.Header.Values("Warning"))
		}
	}
}
