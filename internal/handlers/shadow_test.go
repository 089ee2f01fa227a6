package handlers

import (
	"net/http"
	"strings"
	"testing"
)

// TestShadow: whatever berth thinks of it, everything passes, and what it thinks
// is on record.
func TestShadow(t *testing.T) {
	h := start(t, nil)
	h.upload("default", small())
	const impossible = `{"metadata":{"name":"p","namespace":"d","uid":"u"},"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"4000"}}}]}}`
	tests := []struct{ path, body, want, verb string }{
		{"/shadow/filter", filterBody(impossible, "n2", "n1", "unheard-of"), `{"Nodes":null,"NodeNames":["n2","n1","unheard-of"],"FailedNodes":{},"FailedAndUnresolvableNodes":{},"Error":""}`, "filter"},
		{"/clusters/default/shadow/filter", filterBody(impossible, "n1"), `"NodeNames":["n1"]`, "filter"},
		{"/score-only/filter", filterBody(impossible, "n1"), `"NodeNames":["n1"]`, "filter"},
		{"/shadow/filter", `{"Pod":` + impossible + `,"Nodes":{"items":[{"metadata":{"name":"n1"}}]}}`, `"items":[{"metadata":{"name":"n1"}}]`, "filter"},
		{"/shadow/prioritize", filterBody(impossible, "n1"), `[]`, "prioritize"},
		{"/shadow/preempt", `{"Pod":` + impossible + `,"NodeNameToMetaVictims":{"n1":{"Pods":[{"UID":"x"}],"NumPDBViolations":2}}}`, `{"NodeNameToMetaVictims":{"n1":{"Pods":[{"UID":"x"}],"NumPDBViolations":2}}}`, "preempt"},
		{"/score-only/preempt", `{"Pod":` + impossible + `,"NodeNameToVictims":{"n1":{"Pods":[{"metadata":{"name":"v","namespace":"d","uid":"y"}}],"NumPDBViolations":0}}}`, `{"NodeNameToMetaVictims":{"n1":{"Pods":[{"UID":"y"}],"NumPDBViolations":0}}}`, "preempt"},
	}
	for i, test := range tests {
		res := h.do(http.MethodPost, test.path, test.body)
		if res.StatusCode != http.StatusOK || !strings.Contains(string(res.body), test.want) {
			t.Errorf("%s: %d %s, want %s", test.path, res.StatusCode, res.body, test.want)
		}
		if rec := h.do(http.MethodGet, "/v1/decisions/"+res.Header.Get(decisionIDHeader), ""); rec.StatusCode != http.StatusOK || !strings.Contains(string(rec.body), `"verb":"`+test.verb+`"`) {
			t.Errorf("%s names no record of its own: %d %s", test.path, rec.StatusCode, rec.body)
		}
		list := h.do(http.MethodGet, "/v1/decisions", "").body
		if n := strings.Count(string(list), `"mode":"shadow"`); n != i+1 {
			t.Errorf("%s: %d shadow records, want %d", test.path, n, i+1)
		}
		list = h.do(http.MethodGet, "/v1/decisions?limit=1", "").body
		if !strings.Contains(string(list), `"verb":"`+test.verb+`"`) || test.verb == "filter" && !strings.Contains(string(list), `"outcome":"Unschedulable"`) {
			t.Errorf("%s is on record as %s", test.path, list)
		}
	}
}

// TestShadowNeverFails: what cannot be judged passes, and is counted.
func TestShadowNeverFails(t *testing.T) {
	h := start(t, nil)
	const pod = `{"metadata":{"name":"p","namespace":"d","uid":"u"},"spec":{"containers":[{"name":"c"}]}}`
	for path, body := range map[string]string{
		"/shadow/filter":                 filterBody(pod, "n1"), // there is no snapshot
		"/clusters/NoName/shadow/filter": filterBody(pod, "n1"),
		"/score-only/filter":             filterBody(`{"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"-1"}}}]}}`, "n1"),
	} {
		if res := h.do(http.MethodPost, path, body); res.StatusCode != http.StatusOK || !strings.Contains(string(res.body), `"NodeNames":["n1"]`) {
			t.Errorf("%s: %d %s", path, res.StatusCode, res.body)
		}
	}
	if metrics := h.do(http.MethodGet, "/metrics", "").body; !strings.Contains(string(metrics), "berth_shadow_missed_total") {
		t.Error("nothing was counted")
	}
	if res := h.do(http.MethodPost, "/shadow/filter", `[1]`); res.StatusCode != http.StatusBadRequest {
		t.Errorf("what is not the protocol: %d", res.StatusCode)
	}
}
