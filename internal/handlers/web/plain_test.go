package web

import (
	"strings"
	"testing"
)

// TestPagesTurnNoText: what a cluster's messages hold does not act on a terminal or turn the
// direction of a page.
func TestPagesTurnNoText(t *testing.T) {
	base := serve(t)
	const odd = "\\u202e\\u2066gnp\\u001b[31m\\u0085\\u200b"
	post(t, base+"/v1/snapshots?cluster=prod", `{"kind":"List","apiVersion":"v1","items":[
		{"kind":"Node","apiVersion":"v1","metadata":{"name":"n1"},"status":{"allocatable":{"cpu":"4","memory":"8Gi","pods":"110"}}},
		{"kind":"Pod","apiVersion":"v1","metadata":{"namespace":"d","name":"p"},"spec":{"containers":[{"name":"c"}]},
		 "status":{"phase":"Pending","conditions":[{"type":"PodScheduled","status":"False","reason":"Unschedulable","message":"é 😀 `+odd+`"}]}}]}`)
	body, _ := get(t, base+"/pods/d/p?cluster=prod")
	if strings.IndexFunc(body, turns) >= 0 || !strings.Contains(body, "??gnp?[31m") {
		t.Errorf("%q", body)
	}
	for text, want := range map[string]string{
		"a\u202eb": "a?b", "<textarea>\u202e</textarea>\u202e": "<textarea>\u202e</textarea>?", "é 😀\t\n": "é 😀\t\n", "<textarea \u202e": "<textarea \u202e", "": "",
	} {
		if got := string(plain([]byte(text))); got != want {
			t.Errorf("%q: %q", text, got)
		}
	}
}
