package handlers

import (
	"strings"
	"testing"

	"berth/internal/handlers/exchange"
	"berth/internal/handlers/rest"
)

// A ledger is all the books there are: what wraps is refused by name. Elsewhere it is named.
func TestAmountsThatWrap(t *testing.T) {
	h := start(t, nil)
	h.upload("plat", small())
	evil := `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"evil","namespace":"shop"},"spec":{"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"18446744073709501616m"}}}]}}`
	var p exchange.Problem
	h.want(422, &p, "POST", "/v1/decisions", `{"snapshot":"plat@latest","bind":true,"nodeNames":["n1"],"pod":`+evil+`}`)
	if len(p.Errors) != 1 || p.Errors[0].Field != "pod.spec.containers[0].resources.requests[cpu]" {
		t.Errorf("%+v", p)
	}
	for range 30 { // also where the text of the pod may be known
		var ans struct{ Warnings []string }
		a := h.want(200, &ans, "POST", "/v1/decisions", `{"snapshot":"plat@latest","dryRun":true,"pod":`+evil+`}`)
		if len(ans.Warnings) != 1 || !strings.HasPrefix(ans.Warnings[0], "pod.spec.containers[0].resources.requests[cpu]: must fit 64 bits") || a.Header.Get("Warning") == "" {
			t.Fatalf("%q", ans.Warnings)
		}
	}
	for _, operation := range []string{"apply", "replace"} {
		h.want(422, &p, "POST", "/v1/snapshots/plat@latest/changes", `{"`+operation+`":[`+evil+`]}`)
		if len(p.Errors) != 1 || p.Errors[0].Field != operation+"[0].spec.containers[0].resources.requests[cpu]" {
			t.Errorf("%s: %+v", operation, p)
		}
	}
	h.want(422, &p, "POST", "/v1/snapshots/plat@latest/changes", `{"apply":[{"apiVersion":"v1","kind":"Node","metadata":{"name":"huge"},"status":{"allocatable":{"cpu":"1e30","pods":"10"}}}]}`)
	var s rest.Snapshot
	h.want(201, &s, "POST", "/v1/snapshots?cluster=dump", listOf(node("n1", "4"), evil))
	if got := s.Hygiene.PodsOfWrappingAmounts; got.Count != 1 || got.Sample[0].Name != "evil" || !strings.Contains(strings.Join(s.Hygiene.Notes, " "), "64 bits") {
		t.Errorf("%+v", s.Hygiene)
	}
}
