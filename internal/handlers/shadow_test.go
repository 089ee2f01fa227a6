package handlers

import (
	"encoding/json"
	"net/http"
	"strconv"
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
		if rec := h.do(http.MethodGet, "/v1/decisions/"+res.Header.Get("Berth-Decision-Id"), ""); rec.StatusCode != http.StatusOK || !strings.Contains(string(rec.body), `"verb":"`+test.verb+`"`) {
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

// TestShadowReadsAhead: a shadow reads names by the table of the call before, whatever became of
// the nodes since. Its answers are those that it gives without a table, and its records are about
// the nodes that are there now.
func TestShadowReadsAhead(t *testing.T) {
	const pod = `{"metadata":{"name":"p","namespace":"d","uid":"u"},"spec":{"containers":[{"name":"c"}]}}`
	bodies := []string{
		filterBody(pod, "n1", "n2"),
		filterBody(pod, "n2", "new", "n1", "n1"),
		filterBody(pod),
		`{"Pod":` + pod + `,"NodeNames":["n\u0031",null,"a\"b","\u00fc","n3", "n2"]}`,
		`{"Pod":` + pod + `,"nodenames":["n2"],"NodeNames":["n1"]}`,
		`{"Pod":` + pod + `,"Nodes":{"items":[{"metadata":{"name":"n1"}},{"metadata":{"name":"new"}}]}}`,
	}
	h := start(t, nil)
	var want []string // there is no cluster yet, and so no table
	for _, body := range bodies {
		want = append(want, string(h.do(http.MethodPost, "/shadow/filter", body).body))
	}
	judged := func(id string) string {
		var rec struct{ Counts struct{ Nodes int } }
		if err := json.Unmarshal(h.do(http.MethodGet, "/v1/decisions/"+id, "").body, &rec); err != nil {
			t.Fatal(err)
		}
		return strconv.Itoa(rec.Counts.Nodes)
	}
	for _, state := range []struct{ snapshot, judged string }{
		{small(), "2 2 0 3 1 2"},
		{small(), "2 2 0 3 1 2"}, // by the table now
		{listOf(node("n1", "4"), node("new", "4"), node("n2", "4")), "2 3 0 2 1 2"}, // whose rows are others'
	} {
		h.upload("default", state.snapshot)
		var got []string
		for i, body := range bodies {
			res := h.do(http.MethodPost, "/shadow/filter", body)
			if string(res.body) != want[i] {
				t.Errorf("%s: %s, without a table %s", body, res.body, want[i])
			}
			got = append(got, judged(res.Header.Get("Berth-Decision-Id")))
			if res := h.do(http.MethodPost, "/shadow/prioritize", body); string(res.body) != "[]" {
				t.Errorf("%s: %s", body, res.body)
			}
		}
		if strings.Join(got, " ") != state.judged {
			t.Errorf("judged were %v nodes, want %s", got, state.judged)
		}
	}
}
