package handlers

import (
	"strings"
	"testing"
)

// What admission applies, and decisions do not, is said of the snapshot, and of a pod that is
// decided on or counted. An admission applies it.
func TestUnappliedIsSaid(t *testing.T) {
	h := start(t, nil)
	class := func(name, rest string) string {
		return `{"kind":"RuntimeClass","apiVersion":"node.k8s.io/v1","metadata":{"name":"` + name + `"},"handler":"h"` + rest + `}`
	}
	var s struct{ Unapplied []string }
	h.want(201, &s, "POST", "/v1/snapshots?cluster=a", listOf(node("n1", "4"),
		class("kata", `,"overhead":{"podFixed":{"cpu":"3"}},"scheduling":{"nodeSelector":{"kata":"yes"}}`), class("plain", ""), class("nodes", `,"scheduling":{"nodeSelector":{"kata":"yes"}}`),
		`{"kind":"ResourceQuota","apiVersion":"v1","metadata":{"namespace":"d","name":"q"},"spec":{"hard":{"pods":"0"}}}`))
	if strings.Join(s.Unapplied, " ") != "ResourceQuota RuntimeClass" {
		t.Errorf("%+v", s)
	}
	s.Unapplied = nil
	if h.want(200, &s, "GET", "/v1/snapshots/a@1", ""); len(s.Unapplied) != 2 {
		t.Errorf("%+v", s)
	}
	for spec, want := range map[string]string{
		`"runtimeClassName":"kata"`:                        "RuntimeClass kata has overhead and nodes of its own",
		`"runtimeClassName":"nodes"`:                       "RuntimeClass nodes has nodes of its own",
		`"runtimeClassName":"gone"`:                        "there is no RuntimeClass gone",
		`"runtimeClassName":"plain"`:                       "",
		`"runtimeClassName":"kata","overhead":{"cpu":"3"}`: "",
		`"schedulerName":"default-scheduler"`:              "",
	} {
		p := pod("p", "1", ","+spec)
		var a struct{ Notes, Warnings []string }
		said := func(where string) {
			t.Helper()
			text := strings.Join(append(a.Notes, a.Warnings...), "\n")
			if want == "" && strings.Contains(text, "RuntimeClass ") || !strings.Contains(text, want) {
				t.Errorf("%s, %s: %+v", where, spec, a)
			}
			a.Notes, a.Warnings = nil, nil
		}
		h.want(200, &a, "POST", "/v1/decisions", `{"snapshot":"a@latest","dryRun":true,"pod":`+p+`}`)
		said("decision")
		h.want(200, &a, "POST", "/v1/clusters/a/fit", `{"pod":`+p+`}`)
		said("fit")
		h.want(200, &a, "POST", "/v1/pods/admission", `{"cluster":"a","operation":"CREATE","pod":`+p+`}`)
		if a.Warnings != nil {
			t.Errorf("admission: %+v", a)
		}
	}
}
