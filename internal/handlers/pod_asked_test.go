package handlers

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"berth/internal/handlers/exchange"
)

// life is what the tests below read of a lifecycle or a termination.
type life struct {
	Snapshot, Phase  string
	StaysTerminating bool
	NodeDeletion     *struct{ DeletedAt string }
	Timeline         any
	Eviction         *struct {
		Code  int
		Cause string
	}
	GoneAfterSeconds *int64
	Notes            []string
}

// A stored pod may be asked about with any cause: its node and budgets are the snapshot's.
func TestPodRefOfALife(t *testing.T) {
	h := start(t, nil)
	lost := strings.Replace(node("n2", "4"), `"status":{`, `"status":{"conditions":[{"type":"Ready","status":"Unknown","lastTransitionTime":"2026-03-01T11:59:00Z"}],`, 1)
	if !strings.Contains(lost, "Unknown") {
		t.Fatal(lost)
	}
	budget := `{"apiVersion":"policy/v1","kind":"PodDisruptionBudget","metadata":{"name":"b","namespace":"shop"},"spec":{"selector":{}},"status":{"disruptionsAllowed":0,"currentHealthy":2,"desiredHealthy":2}}`
	elsewhere := strings.Replace(strings.Replace(budget, `"shop"`, `"vault"`, 1), `"b"`, `"other"`, 1)
	ready := func(name, on string) string {
		p := pod(name, "1", `,"nodeName":"`+on+`"`)
		return p[:len(p)-1] + `,"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}}`
	}
	h.want(201, nil, "POST", "/v1/snapshots?cluster=prod", listOf(node("n1", "4"), lost, ready("a", "n1"), ready("b", "n2"), ready("c", "n9"), budget, elsewhere))
	const now = `"now":"2026-03-01T12:00:00Z","snapshot":"prod@latest",`
	ref := func(name string) string { return now + `"podRef":{"namespace":"shop","name":"` + name + `"}` }
	for _, c := range []struct{ call, body, want string }{
		{"lifecycle", ref("a"), "prod@1 Pending false <nil> 0"},
		{"lifecycle", ref("b"), "prod@1 Running false 2026-03-01T11:59:00Z 0"},
		{"lifecycle", ref("c"), "prod@1 Failed false 2026-03-01T12:00:40Z 0"},
		{"lifecycle", ref("a") + `,"node":null`, "prod@1 Failed false 2026-03-01T12:00:40Z 0"},
		{"termination", ref("a") + `,"cause":"delete"`, "prod@1 Failed false <nil> 0"},
		{"termination", ref("b") + `,"cause":"delete"`, "prod@1 Running true <nil> 0"},
		{"termination", ref("a") + `,"cause":"evict-hard"`, "prod@1 Failed false <nil> 0"},
		{"termination", ref("a") + `,"cause":"api-eviction"`, "prod@1 Running false <nil> 429"},
		{"termination", ref("a") + `,"cause":"api-eviction","budgets":[]`, "prod@1 Failed false <nil> 201"},
		{"termination", ref("a") + `,"cause":"evict-hard","then":[{"cause":"api-eviction","afterSeconds":1}]`, "prod@1 Failed false <nil> 429"},
		{"termination", now + `"pod":` + ready("a", "n1") + `,"cause":"api-eviction"`, " Running false <nil> 429"},
	} {
		var l life
		h.want(200, &l, "POST", "/v1/pods/"+c.call, "{"+c.body+"}")
		deleted, code := "<nil>", 0
		if l.NodeDeletion != nil && l.NodeDeletion.DeletedAt != "" {
			deleted = l.NodeDeletion.DeletedAt
		}
		if l.Eviction != nil {
			code = l.Eviction.Code
		}
		if got := fmt.Sprintf("%s %s %v %s %d", l.Snapshot, l.Phase, l.StaysTerminating, deleted, code); got != c.want {
			t.Errorf("%s %s: %s, want %s", c.call, c.body, got, c.want)
		}
		for _, n := range l.Notes {
			if strings.Contains(n, "budgets") && !strings.Contains(c.body, "[]") {
				t.Errorf("%s %s: %s", c.call, c.body, n)
			}
		}
	}
	for body, want := range map[string]string{
		`"podRef":{"namespace":"shop","name":"a"},"pod":` + ready("a", "n1"): "400 pod",
		`"snapshot":"prod@latest"`:                                          "400 pod",
		`"snapshot":"prod@latest","podRef":{"namespace":"shop"}`:            "400 podRef.name",
		`"snapshot":"prod","podRef":{"namespace":"shop","name":"a"}`:        "400 snapshot",
		`"snapshot":"prod@latest","podRef":{"name":"a"}`:                    "404 podRef",
		`"snapshot":"none@latest","podRef":{"name":"a"}`:                    "404",
		`"podRef":{"name":"a"}`:                                             "404",
		`"snapshot":"prod@latest","podRef":{"namespace":"shop","nam":"a"}`:  "400 podRef.nam",
		`"snapshot":"prod@latest","podRef":{"namespace":"shop","name":"z"}`: "404 podRef",
	} {
		for _, call := range []string{"lifecycle", "termination"} {
			cause := ""
			if call == "termination" {
				cause = `"cause":"delete",`
			}
			var p exchange.Problem
			h.want(map[string]int{"400": 400, "404": 404}[want[:3]], &p, "POST", "/v1/pods/"+call, "{"+cause+body+"}")
			if _, field, _ := strings.Cut(want, " "); field != "" && (len(p.Errors) == 0 || p.Errors[0].Field != field) {
				t.Errorf("%s %s: %+v", call, body, p)
			}
		}
	}
	var p exchange.Problem
	h.want(400, &p, "POST", "/v1/pods/lifecycle", "{"+now+`"pod":`+ready("a", "n1")+"}")
	if len(p.Errors) == 0 || p.Errors[0].Field != "snapshot" {
		t.Errorf("a snapshot without podRef: %+v", p)
	}
}

// A caller of some namespaces asks about pods of those alone, and meets their budgets alone.
func TestPodRefRights(t *testing.T) {
	g := startGuarded(t)
	hidden := strings.ReplaceAll(pod("hidden", "1", `,"nodeName":"n1"`), `"shop"`, `"vault"`)
	g.upload("prod", listOf(node("n1", "4"), hidden, pod("own", "1", `,"nodeName":"n1"`)))
	team := bearing(g.token("team", "binder", "prod", "shop"))
	viewer := bearing(g.token("viewer", "viewer", "prod", "shop"))
	for _, c := range []struct {
		who  identity
		body string
		want int
	}{
		{team, `"snapshot":"prod@latest","podRef":{"namespace":"shop","name":"own"}`, http.StatusOK},
		{team, `"snapshot":"prod@latest","podRef":{"namespace":"vault","name":"hidden"}`, http.StatusForbidden},
		{team, `"snapshot":"prod@latest","podRef":{"namespace":"vault","name":"nosuch"}`, http.StatusForbidden},
		{team, `"snapshot":"other@latest","podRef":{"namespace":"shop","name":"own"}`, http.StatusNotFound},
		{viewer, `"snapshot":"prod@latest","podRef":{"namespace":"shop","name":"own"}`, http.StatusForbidden},
	} {
		for call, more := range map[string]string{"lifecycle": "", "termination": `,"cause":"api-eviction"`} {
			if w := g.as(c.who, "POST", "/v1/pods/"+call, "{"+c.body+more+"}"); w.Code != c.want {
				t.Errorf("%s %s: %d %s", call, c.body, w.Code, w.Body)
			}
		}
	}
	for where, want := range map[string]int{pod("p", "1", ""): http.StatusOK, hidden: http.StatusForbidden} { // whose budgets are read
		if w := g.as(team, "POST", "/v1/pods/termination", `{"snapshot":"prod@latest","cause":"api-eviction","pod":`+where+`}`); w.Code != want {
			t.Errorf("%s: %d %s", where, w.Code, w.Body)
		}
	}
}
