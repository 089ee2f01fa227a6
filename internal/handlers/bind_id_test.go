package handlers

import (
	"testing"

	"berth/internal/decision"
)

// TestBindNamesItsRecord: a client that repeats a bind learns the id of what it did.
func TestBindNamesItsRecord(t *testing.T) {
	h := start(t, nil)
	h.upload("default", small())
	var d decision.Answer
	h.want(201, &d, "POST", "/v1/decisions", `{"snapshot":"default@latest","bind":true,"pod":`+pod("web", "2", "")+`}`)
	for range 2 {
		a := h.want(200, nil, "POST", "/bind", `{"PodNamespace":"shop","PodName":"web","PodUID":"uid-web","Node":"`+d.Node+`"}`)
		if id := a.Header.Get("Berth-Decision-Id"); id != d.ID {
			t.Errorf("%q, want %q: %s", id, d.ID, a.body)
		}
	}
	h.change(201, `{"apply":[`+pod("api", "1", "")+`]}`)
	bind := func() string {
		return h.want(200, nil, "POST", "/bind", `{"PodNamespace":"shop","PodName":"api","PodUID":"uid-api","Node":"`+d.Node+`"}`).Header.Get("Berth-Decision-Id")
	}
	if first := bind(); first == "" || bind() != first {
		t.Errorf("the first bind is %q, and its repetition another", first)
	}
}
