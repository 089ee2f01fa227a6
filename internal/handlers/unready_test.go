package handlers

import (
	"strings"
	"testing"
)

// A node that is not Ready and has no taint takes pods, as rules read no conditions: what names it
// says so, and the digest is that of the same answer about a node that is Ready.
func TestUnreadyNodeIsNoted(t *testing.T) {
	h := start(t, nil)
	of := func(ready, taints string) string {
		n := strings.Replace(node("n1", "4"), `"status":{`, `"status":{"conditions":[{"type":"Ready","status":"`+ready+`"}],`, 1)
		return strings.Replace(n, `"status":`, `"spec":{"taints":[`+taints+`]},"status":`, 1)
	}
	type answer struct {
		Outcome, Node, Digest string
		Notes, Warnings       []string
	}
	digests := map[string]string{}
	for name, c := range map[string]struct {
		ready, taints string
		want          int
	}{
		"ready":   {"True", "", 0},
		"unknown": {"Unknown", "", 1},
		"false":   {"False", `{"key":"dedicated","effect":"PreferNoSchedule"}`, 1},
		"tainted": {"Unknown", `{"key":"node.kubernetes.io/unreachable","effect":"NoSchedule"}`, 0},
	} {
		h.want(201, nil, "POST", "/v1/snapshots?cluster="+name, listOf(of(c.ready, c.taints)))
		tolerant := pod("p", "1", `,"tolerations":[{"operator":"Exists"}]`)
		var a answer
		h.want(200, &a, "POST", "/v1/decisions", `{"snapshot":"`+name+`@latest","dryRun":true,"pod":`+tolerant+`}`)
		noted := 0
		for _, n := range a.Notes {
			if strings.HasPrefix(n, "node n1 is not Ready by its condition and has no taint for it") {
				noted++
			}
		}
		if digests[name] = a.Digest; a.Outcome != "Scheduled" || a.Node != "n1" || noted != c.want {
			t.Errorf("%s: %+v", name, a)
		}
		for path, body := range map[string]string{
			"fit":    `{"pod":` + tolerant + `}`,
			"drains": `{"nodes":["n1"]}`,
		} {
			var a answer
			h.want(200, &a, "POST", "/v1/clusters/"+name+"/"+path, body)
			if strings.Contains(strings.Join(a.Warnings, "\n"), "node n1 is not Ready by its condition") != (c.want > 0) {
				t.Errorf("%s of %s: %+v", path, name, a)
			}
		}
		var s answer
		h.want(200, &s, "POST", "/v1/simulations", `{"base":"`+name+`@latest","arrivals":{"pending":true}}`)
		if strings.Contains(strings.Join(s.Warnings, "\n"), "node n1 is not Ready by its condition") != (c.want > 0) {
			t.Errorf("a simulation of %s: %+v", name, s)
		}
	}
	if digests["ready"] == "" || digests["unknown"] != digests["ready"] {
		t.Errorf("digests: %v", digests)
	}
}
